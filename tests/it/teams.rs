//! Agents of a workflow that hand over to each other, agents as tools, and instructions that are
//! functions.
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use adk::prelude::*;
use adk::testing::ScriptedModel;
use adk::{Event, ReadonlyContext};
use std::sync::Arc;

fn runner(model: &ScriptedModel) -> Runner {
    Runner::builder().model(model.clone()).build().unwrap()
}

async fn paths<T: Send + 'static>(mut stream: adk::RunStream<'_, T>) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        let event: Arc<Event> = event.unwrap();
        all.push(event.path.to_string());
    }
    all.dedup();
    all
}

fn transfer_to(name: &str) -> adk::Value {
    adk::json!({"agent_name": name})
}

/// Returns an instruction that depends on the hour.
fn by_hour(cx: ReadonlyContext) -> Result<String> {
    let hour: u32 = cx.get("hour")?.unwrap_or_default();
    Ok(format!("It is {hour} o'clock; {{braces}} stay."))
}

/// Returns the same instruction asynchronously.
async fn later(cx: ReadonlyContext) -> String {
    format!("You are {}.", cx.agent_name())
}

const PROMPT: &str = "Sort {ticket}.";

workflow! {
    /// Answers a customer.
    pub Support(ticket: String, hour: u32 = 12) -> answer: String {
        /// Sorts.
        agent triage -> answer: String {
            global_instruction: "We care about {ticket}.",
            instruction: PROMPT,
            transfer: [billing, refunds],
            max_turns: 3,
        }
        /// Knows money.
        agent billing -> answer: String { instruction: by_hour, transfer: [tax], max_turns: 2 }
        /// Pays back.
        agent refunds -> answer: String { name: "paybacks", instruction: later }
        /// Knows taxes.
        agent tax -> answer: String { instruction: |cx| cx.path().to_string() }

        triage
    }
}

#[tokio::test]
async fn agents_hand_over_and_back() {
    let model = ScriptedModel::new()
        .on("triage")
        .call("transfer_to_agent", transfer_to("billing"))
        .call("transfer_to_agent", transfer_to("billing"))
        .on("billing")
        .call("transfer_to_agent", transfer_to("triage"))
        .call("transfer_to_agent", transfer_to("tax"))
        .on("tax")
        .text("19 %");
    let support = Support::default();
    let input = || SupportInput {
        ticket: "a bill".into(),
        hour: 9,
    };
    let outcome = runner(&model).run(&support, input()).await.unwrap();
    assert_eq!(outcome.output, "19 %");
    let told = |agent: &str| model.requests_of(agent)[0].system_instruction.clone();
    assert!(
        told("triage").starts_with("We care about a bill.\n\nSort a bill.\n\n"),
        "{}",
        told("triage")
    );
    assert!(
        told("billing").starts_with("We care about a bill.\n\nIt is 9 o'clock; {braces} stay."),
        "{}",
        told("billing")
    );
    assert!(
        told("tax").contains("support/triage/billing/tax"),
        "{}",
        told("tax")
    );
}

#[tokio::test]
async fn the_paths_of_agents_show_their_turns() {
    let model = ScriptedModel::new()
        .on("triage")
        .call("transfer_to_agent", transfer_to("billing"))
        .text("by myself")
        .on("billing")
        .call("transfer_to_agent", transfer_to("triage"));
    let support = Support::default();
    let all = paths(
        runner(&model)
            .run(
                &support,
                SupportInput {
                    ticket: "t".into(),
                    hour: 1,
                },
            )
            .stream(),
    )
    .await;
    assert_eq!(
        all,
        [
            "support",
            "support/triage",
            "support/triage/billing",
            "support/triage@2"
        ]
    );
}

workflow! {
    /// Answers two customers.
    pub Twice(ticket: String) -> (answer: String, reply: String) {
        /// Sorts.
        agent desk -> answer: String {
            instruction: "Sort {ticket}.",
            transfer: [cashier],
            max_turns: 3,
        }
        /// Knows money.
        agent cashier -> answer: String { instruction: "Pay {ticket}." }
        /// Answers by itself.
        agent writer -> reply: String { instruction: "Thank for {answer}." }

        desk;
        desk as second;
        writer
    }
}

workflow! {
    /// Runs an instance inside an instance.
    pub TwiceInside(ticket: String) -> (answer: String, reply: String) { Twice as inner }
}

#[tokio::test]
async fn an_agent_with_targets_is_placed_twice() {
    let model = ScriptedModel::new()
        .on("inner::desk")
        .call("transfer_to_agent", transfer_to("inner::cashier"))
        .on("inner::cashier")
        .text("paid")
        .on("inner::second")
        .call("transfer_to_agent", transfer_to("inner::second::cashier"))
        .on("inner::second::cashier")
        .text("paid twice")
        .on("inner::writer")
        .text("thanks");
    let twice = TwiceInside::default();
    let runner = runner(&model);
    let mut stream = runner.run(&twice, "a bill").stream();
    let mut authors = Vec::new();
    while let Some(event) = stream.next().await {
        authors.push(event.unwrap().author.to_string());
    }
    authors.dedup();
    assert_eq!(
        authors,
        [
            "user",
            "inner",
            "inner::desk",
            "inner::cashier",
            "inner::second",
            "inner::second::cashier",
            "inner::writer"
        ]
    );
    // The description has the same names.
    for author in &authors[1..] {
        assert!(TwiceInside::SPEC.find(author).is_some(), "{author}");
    }
    assert_eq!(TwiceInside::SPEC.bounds().model_calls, Some(9));
}

/// A verdict.
#[adk::data]
pub struct Verdict {
    /// Whether the text is good.
    pub good: bool,
}

workflow! {
    /// Reviews a text, line by line.
    pub Review(text: String) -> verdict: Verdict {
        /// Reviews.
        agent reviewer -> verdict: Verdict { instruction: "Review {text}." }
        reviewer
    }
}

workflow! {
    /// Writes with help.
    pub Writing(topic: String) -> text: String {
        /// Writes.
        agent writer -> text: String {
            instruction: "Write about {topic}. Notes: {notes?}",
            tools: [agent(thinker), agent(Review)],
            max_turns: 5,
        }
        /// Thinks about a topic.
        agent thinker -> notes: String { instruction: "Think about {topic}." }

        writer
    }
}

#[tokio::test]
async fn agents_and_workflows_can_be_tools() {
    let model = ScriptedModel::new()
        .on("writer")
        .calls([
            ("thinker", adk::json!({"request": "think"})),
            ("review", adk::json!({"request": "A cat sat."})),
        ])
        .text("done")
        .on("thinker")
        .text("cats sit")
        .on("reviewer")
        .json(adk::json!({"good": true}));
    let outcome = runner(&model)
        .run(&Writing::default(), "cats")
        .await
        .unwrap();
    assert_eq!(outcome.output, "done");
    assert_eq!(
        outcome.get::<String>("notes").unwrap().as_deref(),
        Some("cats sit")
    );
    let second = &model.requests_of("writer")[1];
    assert!(
        second
            .system_instruction
            .starts_with("Write about cats. Notes: cats sit")
    );
    let responses: Vec<_> = second
        .contents
        .iter()
        .flat_map(adk::Content::function_responses)
        .map(|r| adk::json!(r.response))
        .collect();
    assert_eq!(
        responses,
        [
            adk::json!({"result": "cats sit"}),
            adk::json!({"good": true})
        ]
    );
    assert!(
        model.requests_of("reviewer")[0]
            .system_instruction
            .starts_with("Review A cat sat..")
    );
}

#[test]
fn the_keys_of_tool_agents_are_checked_and_their_calls_are_unbounded() {
    assert_eq!(Writing::SPEC.unplaced, [""; 0]);
    assert_eq!(Writing::SPEC.bounds().model_calls, None);
    assert!(
        Writing::SPEC.lints().is_empty(),
        "{:?}",
        Writing::SPEC.lints()
    );
}

workflow! {
    /// Answers with an agent that may be called again.
    #[bounds(model_calls = 5)]
    pub Desk(text: String) {
        /// Knows bills. It has no tools, and is handed over to more than once.
        agent clerk { instruction: "Answer {text}.", max_turns: 3 }
        agent porter { instruction: "Whose is {text}?", transfer: [clerk], max_turns: 2 }

        porter
    }
}

#[tokio::test]
async fn the_repeated_calls_of_a_target_count() {
    use adk::llm::LlmAgent;
    let model = ScriptedModel::new()
        .on("porter")
        .call("transfer_to_agent", transfer_to("clerk"))
        .call("transfer_to_agent", transfer_to("clerk"))
        .on("clerk")
        .call("transfer_to_agent", transfer_to("porter"))
        .text("Done.");
    runner(&model).run(&Desk::default(), "x").await.unwrap();
    assert_eq!(model.requests().len(), 4);
    assert_eq!(Desk::SPEC.bounds().model_calls, Some(2 + 3));
    let clerk = LlmAgent::builder("clerk")
        .instruction("Answer.")
        .max_turns(3)
        .build()
        .unwrap();
    let porter = LlmAgent::builder("porter")
        .instruction("Whose?")
        .max_turns(2)
        .sub_agent(clerk)
        .build()
        .unwrap();
    let desk = adk::SequentialAgent::builder("desk")
        .sub_agent(porter)
        .build()
        .unwrap();
    assert_eq!(desk.spec().bounds(), Desk::SPEC.bounds());
}
