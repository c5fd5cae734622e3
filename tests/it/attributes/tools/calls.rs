//! The effects of a call.

use super::{Cx, attributes, call, decide, exit_loop, verdict};
use adk::tool::ToolErrorKind;
use adk::{Flow, ToolError, tool};
use serde_json::{Value, json};

#[tokio::test]
async fn a_flow_requests_the_end_of_the_loop() {
    let (result, cx) = call(&decide::default(), json!({ "value": 0 })).await;
    assert_eq!(result.expect("a result"), Value::Null);
    assert!(!cx.actions.escalate && !cx.actions.skip_summarization);
    let (result, cx) = call(&decide::default(), json!({ "value": 1 })).await;
    assert_eq!(result.expect("a result"), Value::Null);
    assert!(cx.actions.escalate && cx.actions.skip_summarization);
    let (_, cx) = call(&decide::default(), json!({ "value": 2 })).await;
    assert_eq!(cx.actions.exit_to.as_deref(), Some("outer"));
    assert!(!cx.actions.escalate && cx.actions.skip_summarization);
    let error = call(&decide::default(), json!({ "value": 4 }))
        .await
        .0
        .expect_err("an error");
    assert_eq!(error.to_string(), "no 4");
    for (result, cx) in [
        call(&exit_loop::default(), json!({ "reason": "done" })).await,
        call(&adk::tools::exit_loop::default(), json!({})).await,
        call(&verdict::default(), json!({})).await,
    ] {
        assert_eq!(result.expect("a result"), Value::Null);
        assert!(cx.actions.escalate && cx.actions.skip_summarization);
    }
}

#[tokio::test]
async fn a_panic_is_an_error() {
    let error = call(&decide::default(), json!({ "value": 3 }))
        .await
        .0
        .expect_err("an error");
    assert_eq!(error.kind(), ToolErrorKind::Panic);
    assert_eq!(panic_text(&error), "the tool panicked: three");
    let error = call(&attributes::default(), json!({ "panic": true }))
        .await
        .0
        .expect_err("an error");
    assert_eq!(error.kind(), ToolErrorKind::Panic);
    assert_eq!(panic_text(&error), "the tool panicked: as asked");
}

/// Returns the message of an error with its source: the text of the panic.
fn panic_text(error: &ToolError) -> String {
    let source = std::error::Error::source(error).expect("a source");
    format!("{error}: {source}")
}

/// Divides.
#[tool]
fn ratio(#[default(f64::NAN)] by: f64) -> f64 {
    1.0 / by
}

#[tokio::test]
async fn a_result_that_json_cannot_hold_is_an_error() {
    let error = call(&ratio::default(), json!({ "by": 0 }))
        .await
        .0
        .expect_err("an error");
    assert_eq!(error.kind(), ToolErrorKind::Failed);
    let text = "the result holds inf, which JSON has no form for; help: keep it as text, or use an \
        `Option<f64>`";
    assert_eq!(error.to_string(), text);
    let tool = ratio::default();
    let schema = &adk::DynTool::declaration_dyn(&tool).parameters;
    assert_eq!(
        schema["properties"]["by"].get("default"),
        None,
        "a default that cannot be shown is not shown as null"
    );
}

#[tokio::test]
async fn a_blocking_tool_has_its_context() {
    let (result, mut cx) = call(&attributes::default(), json!({ "panic": false })).await;
    assert_eq!(result.expect("a result"), json!(1));
    assert_eq!(
        cx.state().get::<Vec<String>>("found").expect("a list"),
        Some(vec!["a".to_owned()])
    );
}

#[test]
fn the_functions_stay_callable() {
    let mut cx = Cx::for_tests();
    exit_loop(&mut cx);
    assert!(cx.actions.escalate);
    assert_eq!(decide(1), Ok(Flow::Exit));
}
