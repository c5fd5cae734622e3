//! Answers to long-running calls in the user message of a later run, as in ADK without resumption.

use super::*;
use adk_build::llm::LlmAgent;
use adk_build::testing::Reply;
use adk_build::tool::FunctionTool;
use adk_build::{Content, ErrorKind, FunctionResponse, Part, Role};
use serde_json::Map;

fn answer(id: &str) -> Part {
    let response = Map::from_iter([("status".to_owned(), json!("approved"))]);
    Part::from(FunctionResponse {
        id: id.to_owned(),
        name: "ask".to_owned(),
        response,
    })
}

fn message(parts: Vec<Part>) -> Content {
    Content::new(Role::User, parts)
}

fn clerk() -> LlmAgent {
    let ask = FunctionTool::new("ask", "Asks a person.", |(), _| "asked").long_running(true);
    let look = FunctionTool::new("look", "Looks.", |(), _| "seen");
    LlmAgent::builder("clerk")
        .tool(ask)
        .tool(look)
        .build()
        .unwrap()
}

#[tokio::test]
async fn answers_to_no_call_or_to_an_answered_call_are_refused() {
    let model = ScriptedModel::new()
        .reply(
            Reply::new()
                .call_with_id("c1", "ask", json!({}))
                .call_with_id("c2", "look", json!({})),
        )
        .text("I have asked.")
        .text("It is approved.");
    let (runner, clerk) = (super::runner(&model), clerk());
    let session = runner.session("u", "s");
    assert_eq!(
        session.run(&clerk, "go").await.unwrap_err().kind(),
        ErrorKind::Paused
    );
    let run = async |parts: Vec<Part>| session.run(&clerk, message(parts)).await;
    let stored = async || {
        let session = session.open().await.unwrap();
        (session.len(), session.state())
    };
    let refused = async |parts: Vec<Part>, kind: ErrorKind| {
        let before = (stored().await, model.requests().len());
        let error = run(parts).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert_eq!((stored().await, model.requests().len()), before);
        error.to_string()
    };
    assert_eq!(
        refused(vec![answer("c3")], ErrorKind::UnknownWait).await,
        "agent `clerk` (at clerk): the message answers the call `c3` of `ask`, which the session \
         does not contain; help: use an id from `long_running_tool_ids` of the event with the call"
    );
    refused(vec![answer("c1"), answer("c3")], ErrorKind::UnknownWait).await;
    refused(vec![answer("c1"), answer("c1")], ErrorKind::Answered).await;
    // A result of the tool itself answers a call that is not long-running, but not a long-running
    // one.
    refused(vec![answer("c2")], ErrorKind::Answered).await;
    run(vec![answer("c1")]).await.unwrap();
    assert_eq!(
        refused(vec![answer("c1")], ErrorKind::Answered).await,
        "agent `clerk` (at clerk): the call `c1` of `ask` was answered before; help: the first \
         answer counts"
    );
}
