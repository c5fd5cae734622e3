//! Callbacks around tool calls (semantics, sections 8.6 and 10).

use super::*;
use crate::support::*;
use adk_build::{Error, ErrorKind, FunctionCall, Result};

fn model(tool: &'static str) -> ScriptedModel {
    ScriptedModel::new()
        .call(tool, json!({"a": 1, "b": 2}))
        .text("ok")
}

fn tree(agent: Declared<A>) -> Tree {
    Tree::new("w", vec![run(agent)])
}

/// Returns the result that the model received.
async fn answer(agent: Declared<A>, tool: &'static str) -> String {
    drive(modelled(&model(tool)), &tree(agent)).await[1].clone()
}

#[tokio::test]
async fn arguments_may_be_edited_and_the_event_of_the_call_stays() {
    let mut agent = llm();
    agent.add_tool(add(&Trace::default())).add_before_tool(
        |_: &mut CallbackContext, call: &mut FunctionCall| {
            call.args.insert("b".into(), json!(40));
        },
    );
    let all = drive(modelled(&model("add")), &tree(agent)).await;
    assert_eq!(
        all,
        [
            r#"a:  add({"a":1,"b":2})"#,
            r#"a:  add->{"result":41}"#,
            "a: ok o=\"ok\""
        ]
    );
}

#[tokio::test]
async fn a_result_before_the_tool_replaces_it_and_is_seen_after_it() {
    let trace = Trace::default();
    let mut agent = llm();
    let seen = trace.clone();
    agent
        .add_tool(add(&trace))
        .add_before_tool(
            |cx: &mut CallbackContext, call: &mut FunctionCall| -> Result<_> {
                assert_eq!(cx.call_id(), Some(&*call.id));
                cx.state().set("b", 1)?;
                Ok(Some(json!({"result": "cached"})))
            },
        )
        .add_after_tool(
            move |cx: &mut CallbackContext, call: &FunctionCall, result: &mut Value| {
                seen.add(format!(
                    "after {} {result} {:?}",
                    call.name,
                    cx.state().get::<u8>("b").unwrap()
                ));
            },
        );
    assert_eq!(
        answer(agent, "add").await,
        r#"a:  b=1 add->{"result":"cached"}"#
    );
    assert_eq!(trace.take(), [r#"after add {"result":"cached"} Some(1)"#]);
}

#[tokio::test]
async fn a_result_may_be_edited_or_replaced_by_an_empty_object_too() {
    let mut agent = llm();
    agent.add_tool(add(&Trace::default())).add_after_tool(
        async |_: &mut CallbackContext, _: &FunctionCall, result: &mut Value| {
            *result = json!({"hidden": true})
        },
    );
    assert_eq!(answer(agent, "add").await, r#"a:  add->{"hidden":true}"#);
    let mut agent = llm();
    agent
        .add_tool(add(&Trace::default()))
        .add_after_tool(|_: &mut CallbackContext, _: &FunctionCall, _: &mut Value| Some(json!({})))
        .add_after_tool(|_: &mut CallbackContext, _: &FunctionCall, _: &mut Value| {
            Some(json!("never"))
        });
    assert_eq!(answer(agent, "add").await, "a:  add->{}");
}

#[tokio::test]
async fn an_error_is_sent_to_the_model_and_may_be_replaced() {
    let mut agent = llm();
    agent.add_tool(fails());
    assert_eq!(
        answer(agent, "fails").await,
        r#"a:  fails->{"error":"no luck"}"#
    );

    let mut agent = llm();
    agent
        .add_tool(fails())
        .add_before_tool(|cx: &mut CallbackContext, _: &mut FunctionCall| cx.state().set("kept", 1))
        .add_on_tool_error(
            |cx: &mut CallbackContext, call: &FunctionCall, error: &Error| -> Result<_> {
                assert_eq!(error.message(), "tool `fails` failed: no luck");
                cx.state().set("saved", &call.name)?;
                Ok(Some(json!({"saved": true})))
            },
        );
    // The writes of the tool are discarded.
    let saved = r#"a:  kept=1 saved="fails" fails->{"saved":true}"#;
    assert_eq!(answer(agent, "fails").await, saved);
}

#[tokio::test]
async fn after_tool_also_sees_errors_that_are_sent_to_the_model() {
    let mut agent = llm();
    agent.add_tool(fails()).add_after_tool(
        |_: &mut CallbackContext, _: &FunctionCall, result: &mut Value| {
            *result = json!({"was": result["error"]});
        },
    );
    assert_eq!(
        answer(agent, "fails").await,
        r#"a:  fails->{"was":"no luck"}"#
    );
}

#[tokio::test]
async fn a_callback_may_answer_a_call_of_a_missing_tool() {
    let mut agent = llm();
    agent.add_on_tool_error(|_: &mut CallbackContext, call: &FunctionCall, _: &Error| {
        Some(json!({"no": call.name}))
    });
    assert_eq!(answer(agent, "gone").await, r#"a:  gone->{"no":"gone"}"#);
    let mut agent = llm();
    agent.add_on_tool_error(|_: &mut CallbackContext, _: &FunctionCall, _: &Error| {});
    assert!(
        answer(agent, "gone")
            .await
            .contains("no tool with that name")
    );
}

#[tokio::test]
async fn with_the_setting_an_unhandled_tool_error_ends_the_run() {
    let strict = any_key().tool_errors_end_run(true);
    let runner: Runner = modelled(&model("fails"))
        .config(strict.clone())
        .build()
        .unwrap();
    let mut agent = llm();
    agent.add_tool(fails());
    let error = runner.run(&tree(agent), "go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Agent);
    assert_eq!(
        error.to_string(),
        "agent `a` (at w/a): tool `fails` failed: no luck"
    );

    let mut agent = llm();
    agent.add_tool(fails()).add_on_tool_error(
        |_: &mut CallbackContext, _: &FunctionCall, _: &Error| Some(json!("saved")),
    );
    let all = drive(modelled(&model("fails")).config(strict), &tree(agent)).await;
    assert_eq!(
        all[1..],
        [r#"a:  fails->{"result":"saved"}"#, "a: ok o=\"ok\""]
    );
}

#[tokio::test]
async fn an_error_of_a_callback_of_a_tool_fails_the_run() {
    let mut agent = llm();
    agent.add_tool(add(&Trace::default())).add_after_tool(
        |_: &mut CallbackContext, _: &FunctionCall, _: &mut Value| Err::<(), _>("no"),
    );
    let all = drive(modelled(&model("add")), &tree(agent)).await;
    assert_eq!(all[1..], ["agent `a` (at w/a): no"]);
}
