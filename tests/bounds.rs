//! What a run may cost: refused where it is declared otherwise, and held while it runs.

use adk::prelude::*;
use adk::testing::ScriptedModel;
use adk::{AgentTool, ErrorKind};

/// Searches.
#[tool]
fn search() -> &'static str {
    "nothing"
}

workflow! {
    /// Answers a question.
    #[bounds(model_calls = 1)]
    pub Desk(question: String) -> answer: String {
        agent clerk -> answer: String { instruction: "Answer {question}." }

        clerk
    }
}

fn searching() -> ScriptedModel {
    ScriptedModel::new().calls([("search", serde_json::json!({}))]).repeat_last()
}

#[tokio::test]
async fn a_tool_that_nothing_allows_is_refused_before_any_call() {
    let model = searching();
    let runner = Runner::builder().model(model.clone()).build().unwrap();
    let mut desk = Desk::default();
    desk.clerk.add_tool(search::default());
    let error = runner.run(&desk, "Why?").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unchecked);
    assert_eq!(
        error.to_string(),
        "agent `clerk` (at desk/clerk): `add_tool` gave tool `search` to agent `clerk`, but its declaration does not allow \
         more tools; help: list it in `tools`, or write `tools: [..]` there"
    );
    assert!(model.requests().is_empty());
}

workflow! {
    /// Answers a question with what the caller gives.
    #[bounds(model_calls = 3)]
    pub OpenDesk(question: String) -> answer: String {
        agent clerk -> answer: String { instruction: "Answer {question}.", tools: [..], max_turns: 3 }

        clerk
    }
}

#[tokio::test]
async fn tools_may_be_added_where_the_declaration_says_so() {
    assert_eq!(OpenDesk::SPEC.bounds().model_calls, Some(3));
    let model = ScriptedModel::new().call("search", serde_json::json!({})).text("So.");
    let runner = Runner::builder().model(model.clone()).build().unwrap();
    let mut desk = OpenDesk::default();
    desk.clerk.add_tool(search::default());
    assert_eq!(runner.run(&desk, "Why?").await.unwrap().output, "So.");
    assert_eq!(model.requests().len(), 2);
    // Its calls are not counted by `max_turns`.
    desk.clerk.add_tool(AgentTool::new(adk::llm::LlmAgent::builder("helper").build().unwrap()));
    assert_eq!(runner.run(&desk, "Why?").await.unwrap_err().kind(), ErrorKind::Unchecked);
}

workflow! {
    /// Polishes a text.
    pub Polishing(text: String) -> text: String {
        agent editor -> text: String { instruction: "Polish {text}." }

        polish: loop(max = 2) < editor >
    }
}

#[tokio::test]
async fn a_callback_that_may_skip_a_block_is_declared_there() {
    let model = ScriptedModel::new().text("Better.").repeat_last();
    let runner = Runner::builder().model(model.clone()).build().unwrap();
    let mut polishing = Polishing::default();
    polishing.polish.add_before_agent(|_: &mut adk::CallbackContext| {});
    assert_eq!(runner.run(&polishing, "A text.").await.unwrap().output, "Better.");
    polishing.polish.add_before_agent(|_: &mut adk::CallbackContext| Some("It is good."));
    let error = runner.run(&polishing, "A text.").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unchecked);
    assert!(
        error.to_string().contains("gave block `polish` a callback that may answer in its place"),
        "{error}"
    );
    assert_eq!(model.requests().len(), 2);
}
