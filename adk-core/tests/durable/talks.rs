//! Workflows whose agents call models: with tools, in streams, with handovers, and with agents as
//! tools.

use super::trees::{Named, works};
use crate::support::*;
use adk_build::build::LlmAgentBuilder;
use adk_build::llm::LlmAgent;
use adk_build::model::{Model, ModelRequest, ModelStream};
use adk_build::testing::{Reply, ScriptedModel};
use adk_build::tool::FunctionTool;
use adk_build::{
    AgentTool, BoxFuture, Content, DynTool, ReadonlyContext, Result, ToolContext, Toolset,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// A stateless model, whose replies depend only on the request.
pub struct Talks(pub fn(&ModelRequest) -> Reply);

impl Model for Talks {
    fn name(&self) -> &str {
        "talks"
    }

    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        ScriptedModel::new()
            .reply((self.0)(&request).usage(10 + u64::from(request.info.turn), 1))
            .generate(request)
    }
}

/// Replies with a text that describes the request, in pieces if the request streams.
pub fn tells(request: &ModelRequest) -> Reply {
    let answers: Vec<_> = request
        .contents
        .iter()
        .flat_map(Content::function_responses)
        .collect();
    let answers: Vec<Value> = answers
        .into_iter()
        .map(|answer| json!(answer.response))
        .collect();
    let (agent, heard) = (&request.info.agent, request.contents.len());
    let pieces = [
        format!("{agent} "),
        format!("has heard {heard}, "),
        Value::from(answers).to_string(),
    ];
    Reply::new()
        .thought("So.")
        .text(pieces.concat())
        .thought_pieces(["So."])
        .pieces(pieces)
}

fn hands_over(to: &str) -> Reply {
    Reply::new().call("transfer_to_agent", json!({"agent_name": to}))
}

/// Builds an agent whose model replies with `says`.
pub fn llm(name: &'static str, says: fn(&ModelRequest) -> Reply) -> LlmAgentBuilder {
    LlmAgent::builder(name)
        .description("Talks.")
        .model(Talks(says))
}

#[derive(Deserialize, schemars::JsonSchema)]
#[schemars(crate = "adk_build::__private::schemars")]
struct Number {
    n: u32,
}

/// Makes a tool that counts additions under a key.
pub fn adds(key: &'static str) -> FunctionTool {
    FunctionTool::new(
        "add",
        "Adds.",
        move |Number { n }: Number, cx: &mut ToolContext| {
            let sum = cx
                .state()
                .get::<u32>(key)
                .ok()
                .flatten()
                .unwrap_or_default()
                + n;
            let _ = cx.state().set(key, sum);
            format!("{n} is added")
        },
    )
    .writes::<u32>(key)
}

/// Makes two calls at once, then one, then a text.
fn calculates(request: &ModelRequest) -> Reply {
    match request.info.turn {
        0 => tells(request)
            .call("add", json!({"n": 1}))
            .call("add", json!({"n": 20})),
        1 => Reply::new().call("add", json!({"n": 300})),
        _ => tells(request),
    }
}

fn clerk() -> LlmAgent {
    llm("clerk", calculates)
        .tool(adds("sum"))
        .output_key("report")
        .build()
        .unwrap()
}

/// Makes an agent that hands over, is handed back to, and hands over once more.
fn desk() -> LlmAgent {
    let billing = llm("billing", |_| hands_over("triage"));
    let tech = llm("tech", calculates).tool(adds("sum"));
    let triage = llm("triage", |request| {
        hands_over(if request.info.turn == 0 {
            "billing"
        } else {
            "tech"
        })
    });
    triage.sub_agents([billing, tech]).build().unwrap()
}

/// Makes a tool that counts additions under a key with immediate updates.
fn updates(key: &'static str) -> FunctionTool {
    let tool = FunctionTool::new_async(
        "add",
        "Adds.",
        move |Number { n }: Number, cx: &mut ToolContext| {
            Box::pin(async move {
                let add = move |sum: Option<u32>| sum.unwrap_or(0) + n;
                let sum: u32 = cx.state().update(key, add).await?;
                cx.state().update(format!("user:{key}"), add).await?;
                let twice: u32 = cx.state().update(format!("temp:{key}"), add).await?;
                cx.state().set(format!("{key} {n}"), sum)?;
                Ok::<_, adk_build::Error>(json!([sum, twice]))
            })
        },
    );
    let tool = tool.writes::<u32>(key).writes::<u32>(format!("user:{key}"));
    (1..=5).fold(tool, |tool, n| tool.writes::<u32>(format!("{key} {n}")))
}

/// Makes an agent whose tool updates state, and which calls an agent whose tool does as well.
fn updates_in_calls() -> LlmAgent {
    let says = |request: &ModelRequest| match request.info.turn {
        turn @ 0..=1 => Reply::new().call("add", json!({"n": 4 + turn})),
        _ => tells(request),
    };
    let reviewer = AgentTool::new(
        llm("reviewer", says)
            .tool(updates("reviews"))
            .build()
            .unwrap(),
    );
    let says = |request: &ModelRequest| match request.info.turn {
        0 => Reply::new().call("add", json!({"n": 1})),
        1 => Reply::new().call("reviewer", json!({"request": "number 1"})),
        _ => tells(request),
    };
    llm("updater", says)
        .tool(reviewer)
        .tool(updates("sum"))
        .build()
        .unwrap()
}

fn writer(name: &'static str) -> LlmAgent {
    llm(name, tells).output_key(name).build().unwrap()
}

/// Makes an agent that calls another agent twice, which counts each time.
fn asks_another() -> LlmAgent {
    let counts = |request: &ModelRequest| match request.info.turn {
        0 => Reply::new().call("add", json!({"n": 4})),
        _ => tells(request),
    };
    let reviewer = AgentTool::new(
        llm("reviewer", counts)
            .tool(adds("reviews"))
            .build()
            .unwrap(),
    );
    let asks = |request: &ModelRequest| match request.info.turn {
        turn @ 0..=1 => Reply::new().call("reviewer", json!({"request": format!("number {turn}")})),
        _ => tells(request),
    };
    llm("author", asks).tool(reviewer).build().unwrap()
}

/// A toolset that offers a second tool after a call of the first.
struct Locked;

impl Toolset for Locked {
    fn name(&self) -> &str {
        "locked"
    }

    fn tools<'a>(
        &'a self,
        cx: &'a ReadonlyContext,
    ) -> BoxFuture<'a, Result<Vec<Arc<dyn DynTool>>>> {
        Box::pin(async move {
            let mut tools: Vec<Arc<dyn DynTool>> = vec![Arc::new(adds("user:sum"))];
            if cx.get::<u32>("user:sum")?.is_some() {
                tools.push(Arc::new(FunctionTool::new(
                    "open",
                    "Opens.",
                    |(): (), _: &mut ToolContext| "open",
                )));
            }
            Ok(tools)
        })
    }
}

/// Makes an agent that calls a tool of its toolset, then the tool that this call added.
fn unlocks() -> LlmAgent {
    let says = |request: &ModelRequest| match (request.info.turn, request.tools.len()) {
        (0, 1) => Reply::new()
            .call("add", json!({"n": 1}))
            .call("open", json!({})),
        (1, 2) => Reply::new().call("open", json!({})),
        _ => tells(request),
    };
    llm("unlocks", says).toolset(Locked).build().unwrap()
}

/// Makes an agent that talks long enough for summaries; its answers show the size of its requests.
fn chat() -> LlmAgent {
    let says = |request: &ModelRequest| {
        if request.info.is_summary {
            return Reply::new().text(format!("{} bytes", request.contents[0].text().len()));
        }
        calculates(request)
    };
    let compact = adk_build::llm::Compaction::new().after(3).keep(1);
    llm("chat", says)
        .tool(adds("sum"))
        .compact(compact)
        .build()
        .unwrap()
}

/// Returns the workflows that ask no person.
pub fn all() -> Vec<Named> {
    vec![
        (
            "tools",
            || Tree::new("w", vec![run(works("a")), run(clerk()), run(works("b"))]),
            false,
        ),
        (
            "streamed replies",
            || {
                let round = vec![run(writer("draft")), run(writer("faults"))];
                Tree::new("w", vec![repeat("l", Some(2), round), run(works("a"))])
            },
            false,
        ),
        (
            "agents that hand over",
            || Tree::new("w", vec![run(works("a")), run(desk()), run(works("b"))]),
            false,
        ),
        (
            "an agent as a tool",
            || Tree::new("w", vec![run(asks_another()), run(works("a"))]),
            false,
        ),
        (
            "summaries",
            || Tree::new("w", vec![run(works("a")), run(chat()), run(works("b"))]),
            false,
        ),
        (
            "toolsets",
            || Tree::new("w", vec![run(works("a")), run(unlocks()), run(works("b"))]),
            false,
        ),
        (
            "tools that update",
            || {
                Tree::new(
                    "w",
                    vec![run(works("a")), run(updates_in_calls()), run(works("b"))],
                )
            },
            false,
        ),
        (
            "tools that update in branches",
            || {
                let both = parallel("p", vec![run(updates_in_calls()), run(works("a"))]);
                Tree::new("w", vec![both])
            },
            true,
        ),
        (
            "handovers and agent tools in branches",
            || {
                let both = parallel(
                    "p",
                    vec![run(desk()), run(writer("draft")), run(asks_another())],
                );
                Tree::new("w", vec![repeat("l", Some(2), vec![both]), run(works("a"))])
            },
            true,
        ),
    ]
}
