//! Workflows of all kinds, and a model that answers them deterministically.

use super::effects;
use adk::model::{
    Model, ModelChunk, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelStream,
};
use adk::prelude::*;
use adk::testing::Reply;
use adk::{AgentMeta, Content, Part, RunId};
use futures_util::stream;
use serde_json::json;
use std::sync::Arc;

/// Names of all workflows.
pub const SHAPES: [&str; 11] = [
    "straight",
    "looping",
    "nested",
    "fanning",
    "each_topic",
    "matching",
    "trying",
    "tooling",
    "confirming",
    "awaiting",
    "mixed",
];

/// Adds all workflows to a runner.
pub fn with_shapes(
    builder: adk::runner::RunnerBuilder<adk::DefaultProvider>,
) -> adk::runner::RunnerBuilder<adk::DefaultProvider> {
    let builder = builder
        .model(Actor)
        .workflow(Straight::new(Counter))
        .workflow(Looping::default());
    let builder = builder
        .workflow(Nested::default())
        .workflow(Fanning::default())
        .workflow(EachTopic::default());
    let builder = builder
        .workflow(Matching::default())
        .workflow(Trying::default())
        .workflow(Tooling::default());
    builder
        .workflow(Confirming::default())
        .workflow(Awaiting::default())
        .workflow(Mixed::default())
}

/// A model whose answer consists of the agent and a hash of the request. If a run is resumed
/// wrongly, its requests and thus its answers differ.
#[derive(Clone, Copy, Debug)]
pub struct Actor;

impl Model for Actor {
    fn name(&self) -> &str {
        "actor"
    }

    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        let answer = async move {
            let info = &request.info;
            effects::call(info.run_id, &format!("{}:model@{}", info.path, info.turn)).await;
            let response = reply(&request)?;
            Ok(ModelChunk::Done(response))
        };
        Box::pin(stream::once(answer))
    }
}

fn reply(request: &ModelRequest) -> Result<ModelResponse, ModelError> {
    let info = &request.info;
    let round = info.path.iteration().unwrap_or_default();
    let reply = Reply::new();
    let reply = match (&*info.agent, info.turn) {
        ("flaky", _) if round < 2 => {
            return Err(ModelError::new(ModelErrorKind::Unavailable, "overloaded"));
        }
        ("hopeless", _) => return Err(ModelError::new(ModelErrorKind::Unavailable, "away")),
        ("judge", _) => reply.json(round >= 1),
        ("rater", _) => reply.json(json!(["Low", "High", "Odd"][round as usize % 3])),
        ("clerk", 0) => reply
            .call("look", json!({"word": "a"}))
            .call("add", json!({"n": 1}))
            .call("look", json!({"word": "b"})),
        ("clerk", 1) => reply.call("add", json!({"n": 20})),
        ("payer", 0) => reply
            .call("pay", json!({"to": "x"}))
            .call("look", json!({"word": "c"}))
            .call("pay", json!({"to": "y"})),
        _ => reply.text(format!(
            "{} at {} {:08x}",
            info.agent,
            info.path,
            asked(request)
        )),
    };
    Ok(ModelResponse::new(reply.content().clone()))
}

/// Returns a hash of the request. The hash depends neither on the run nor on the order in which
/// branches have ended.
fn asked(request: &ModelRequest) -> u32 {
    // The request of `closer` shows the last event of the branches, which may come from any branch,
    // so it is left out.
    let is_after_branches = &*request.info.agent == "closer";
    let contents = request.contents.iter().filter(|_| !is_after_branches);
    let mut said: Vec<String> = contents
        .flat_map(|content| content.parts.iter().map(show))
        .collect();
    said.sort_unstable();
    said.push(request.system_instruction.clone());
    let text = said
        .join("\n")
        .replace(&request.info.run_id.to_string(), "RUN");
    let hash = text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    effects::asked(hash, &text);
    hash
}

pub fn show(part: &Part) -> String {
    match part {
        Part::FunctionCall(call) => format!("{} {}", call.name, json!(call.args)),
        Part::FunctionResponse(response) => {
            format!("{} {}", response.name, json!(response.response))
        }
        part => json!(Content::user("").with(part.clone())).to_string(),
    }
}

/// Looks a word up.
#[tool]
async fn look(cx: &mut ToolContext, word: String) -> String {
    called(cx).await;
    format!("{word} is a letter")
}

/// Adds to the sum.
#[tool]
async fn add(cx: &mut ToolContext, n: u64, #[key] sum: Out<u64>) -> String {
    called(cx).await;
    sum.set(n);
    format!("{n} is added")
}

/// Pays.
#[tool(confirm)]
async fn pay(cx: &mut ToolContext, to: String) -> String {
    called(cx).await;
    format!("{to} is paid")
}

async fn called(cx: &ToolContext) {
    effects::call(cx.run_id(), &format!("{}:{}", cx.path(), cx.call_id())).await;
}

/// Publishes. A function without a context, whose event is the record of its call.
#[agent(writes = published)]
async fn publish(topic: &str, second: &str) -> String {
    let run: RunId = topic
        .rsplit(' ')
        .next()
        .and_then(|run| run.parse().ok())
        .expect("the topic ends with the run");
    effects::call(run, "straight/publish:call").await;
    format!("published {}", second.len())
}

/// An agent that makes recorded calls, two of them concurrently.
pub struct Counter;

#[agent(writes(counted: u32))]
impl Agent for Counter {
    const META: AgentMeta<'static> = AgentMeta::custom("counter");

    async fn run(&self, cx: &mut Context) -> Result<Flow> {
        let (run, path) = (cx.run_id(), cx.path().to_string());
        let count = |name: &'static str| {
            let key = format!("{path}:{name}");
            async move {
                effects::call(run, &key).await;
                Ok(1_u32)
            }
        };
        let one = cx.step("one", count("one"));
        let two = cx.step("two", count("two"));
        let (one, two) = futures_util::join!(one, two);
        let three = cx.step("three", count("three")).await?;
        cx.state().set("counted", one? + two? + three)?;
        cx.emit(adk::Event::new().with_text("counted")).await?;
        Ok(Flow::Continue)
    }
}

/// Reports the error.
#[agent(writes = answer)]
fn apologise(error: &str) -> String {
    format!("Sorry: {error}")
}

/// The severity of a problem.
#[adk::data]
pub enum Severity {
    /// Not at all.
    Low,
    /// Very.
    High,
    /// Unknown.
    Odd,
}

workflow! {
    /// A sequence of all kinds of agents.
    pub Straight(topic: String) -> last: String {
        agent first -> first: String { instruction: "Begin with {topic}" }
        agent second -> second: String { instruction: "Go on from {first}" }
        agent counter: Counter;
        agent third -> last: String { instruction: "End {second}, {published}, {counted}" }

        first; second; publish; counter; third
    }
}

workflow! {
    /// Loops.
    pub Looping(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}" }
        agent critic -> criticism: String { instruction: "Criticise {draft}" }
        agent refiner -> draft: String { instruction: "Apply {criticism} to {draft}" }
        agent judge -> good: bool { include_contents: none, instruction: "Is this good? {draft}" }

        writer;
        refinement: loop(max = 5, until = good) < critic; refiner; judge >
    }
}

workflow! {
    /// Nested loops, left from the inner one and from both.
    pub Nested(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}" }
        agent judge -> good: bool { include_contents: none, instruction: "Is this good? {draft}" }
        agent editor -> draft: String { instruction: "Polish {draft}" }

        drafts: loop(max = 2) <
            writer;
            polishing: loop(max = 3) < judge; match good < true => break, false => editor > >
        >
    }
}

workflow! {
    /// Branches, one of them with a loop of its own.
    pub Fanning(topic: String) -> end: String {
        agent left -> left: String { instruction: "Left of {topic}" }
        agent middle -> middle: String { instruction: "Middle of {topic}" }
        agent deep -> deep: String { instruction: "Below {middle}" }
        agent again -> again: String { instruction: "Again {topic}" }
        agent end -> end: String { instruction: "End {left} {deep} {again}" }

        fan: parallel < left; < middle; deep >; rounds: loop(max = 3) < again > >
        end
    }
}

workflow! {
    /// Elements of a list, two at a time.
    pub EachTopic(topic: String) -> report: String {
        let topics: Vec<String> =
            ["cats", "dogs", "owls", "eels", "newts"].map(String::from).to_vec();
        agent researcher -> note: String { instruction: "Research {item} for {topic}" }
        agent checker -> check: String { instruction: "Check {note}" }
        agent closer -> report: String {
            include_contents: none,
            instruction: "Sum up {topics} {check}",
        }

        each(max = 8, max_concurrency = 2) item in topics < researcher; checker >
        closer
    }
}

workflow! {
    /// A `match` in each round.
    pub Matching(topic: String) -> topic: String {
        agent rater -> severity: Severity { instruction: "How bad is {topic}?" }
        agent calm -> topic: String { instruction: "Calm {topic}" }
        agent pager -> topic: String { instruction: "Page about {topic}" }

        rounds: loop(max = 3) <
            rater;
            match severity <
                Severity::Low => calm,
                Severity::High => < pager; calm as calmer >,
                Severity::Odd => ()
            >
        >
    }
}

workflow! {
    /// Attempts that fail and are repeated, and attempts that fail for good.
    pub Trying(topic: String) -> answer: String {
        agent steady -> steady: String { instruction: "Hold {topic}" }
        agent flaky -> answer: String { instruction: "Try {steady}", retry: 0 }
        agent hopeless -> answer: String { instruction: "Try {topic}", retry: 0 }
        agent end -> answer: String { instruction: "End {answer}" }

        first: try(attempts = 3, delay = "20ms") < steady; flaky >
        second: try(attempts = 2) < hopeless > else < apologise >
        end
    }
}

workflow! {
    /// Tools, several in one turn.
    pub Tooling(topic: String) -> told: String {
        let sum: u64 = 0;
        agent clerk -> told: String {
            instruction: "Use tools for {topic}, {sum}",
            tools: [look, add],
            max_turns: 4,
        }

        rounds: loop(max = 2) < clerk >
    }
}

workflow! {
    /// Tools that need the consent of a person.
    pub Confirming(topic: String) -> told: String {
        agent writer -> draft: String { instruction: "Write about {topic}" }
        agent payer -> told: String {
            instruction: "Pay for {draft}",
            tools: [look, pay],
            max_turns: 4,
        }

        writer; payer
    }
}

workflow! {
    /// Questions to people, in turn and concurrently.
    pub Awaiting(topic: String) -> end: String {
        agent writer -> draft: String { instruction: "Write about {topic}" }
        agent side -> side: String { instruction: "Beside {draft}" }
        agent more -> more: String { instruction: "More, as {right} says" }
        agent closer -> end: String {
            include_contents: none,
            instruction: "End {left} {more} {side}",
        }

        writer;
        /// Is this good? {draft}
        await good: bool;
        both: parallel <
            /// Which word is left?
            await left: String;
            side;
            <
                /// Which word is right?
                await right: String;
                more
            >
        >
        closer
    }
}

workflow! {
    /// A nesting of all blocks.
    pub Mixed(topic: String) -> report: String {
        let topics: Vec<String> = ["cats", "dogs"].map(String::from).to_vec();
        let sum: u64 = 0;
        agent clerk -> told: String {
            instruction: "Use tools for {topic}",
            tools: [look, add],
            max_turns: 4,
        }
        agent critic -> criticism: String { instruction: "Criticise {item}" }
        agent flaky -> answer: String { instruction: "Try {item}", retry: 0 }
        agent closer -> report: String {
            include_contents: none,
            instruction: "Sum up {topic} {answer} {good} {report?}",
        }

        rounds: loop(max = 2) <
            each(max = 4) item in topics <
                sides: parallel < critic; trial: try(attempts = 3) < flaky > >
            >
            clerk;
            /// Continue with {topic}?
            await good: bool;
            closer
        >
    }
}
