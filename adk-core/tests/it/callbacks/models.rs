//! Callbacks around model calls (semantics, section 10).

use super::*;
use crate::support::*;
use adk_build::model::{ModelErrorKind, ModelRequest, ModelResponse};
use adk_build::{Content, Error, ErrorKind};

fn tree(agent: Declared<A>) -> Tree {
    Tree::new("w", vec![run(agent)])
}

#[tokio::test]
async fn the_request_may_be_edited() {
    let mut agent = llm();
    agent.add_before_model(|_: &mut CallbackContext, request: &mut ModelRequest| {
        request.system_instruction.push_str("\n\nExtra.");
        request
            .tools
            .push(ToolDeclaration::new("more", "", json!({})));
    });
    let model = ScriptedModel::new().text("ok");
    assert_eq!(
        drive(modelled(&model), &tree(agent)).await,
        ["a: ok o=\"ok\""]
    );
    let asked = &model.requests()[0];
    assert_eq!(
        asked.system_instruction,
        "Base.\n\nYou are an agent. Your internal name is \"a\".\n\nExtra."
    );
    assert_eq!(asked.tools[0].name, "more");
}

#[tokio::test]
async fn a_response_before_the_call_is_the_answer_and_is_not_counted() {
    let trace = Trace::default();
    let mut agent = llm();
    let seen = trace.clone();
    agent
        .add_before_model(|_: &mut CallbackContext, _: &mut ModelRequest| Some("blocked"))
        .add_before_model(
            |_: &mut CallbackContext, _: &mut ModelRequest| -> Option<ModelResponse> { panic!() },
        )
        .add_after_model(move |_: &mut CallbackContext, _: &mut ModelResponse| seen.add("after"));
    let model = ScriptedModel::new();
    let runner: Runner = modelled(&model)
        .config(RunConfig::new().max_llm_calls(1))
        .build()
        .unwrap();
    let tree = Tree::new("w", vec![repeat("lp", Some(3), vec![run(agent)])]);
    let outcome = runner.run(&tree, "go").await.unwrap();
    assert_eq!(outcome.usage.calls, 0);
    assert_eq!(
        outcome.get::<String>("o").unwrap().as_deref(),
        Some("blocked")
    );
    assert!(model.requests().is_empty() && trace.take().is_empty());
}

#[tokio::test]
async fn a_response_may_be_replaced_or_edited_and_the_key_gets_the_result() {
    let mut agent = llm();
    agent
        .add_after_model(|_: &mut CallbackContext, response: &mut ModelResponse| {
            response.content = Content::model(response.content.text().to_uppercase());
        })
        .add_after_model(
            async |_: &mut CallbackContext, response: &mut ModelResponse| {
                Some(format!("{}!", response.content.text()))
            },
        )
        .add_after_model(|_: &mut CallbackContext, _: &mut ModelResponse| Some("never"));
    let model = ScriptedModel::new().text("hello");
    assert_eq!(
        drive(modelled(&model), &tree(agent)).await,
        ["a: HELLO! o=\"HELLO!\""]
    );
}

#[tokio::test]
async fn writes_and_actions_of_model_callbacks_are_part_of_the_answer_event() {
    let mut agent = llm();
    agent
        .add_before_model(|cx: &mut CallbackContext, _: &mut ModelRequest| cx.state().set("bm", 1))
        .add_after_model(|cx: &mut CallbackContext, _: &mut ModelResponse| {
            cx.actions.escalate = true;
            cx.state().set("am", 2)
        });
    let model = ScriptedModel::new().text("x");
    let tree = Tree::new(
        "w",
        vec![repeat("lp", Some(2), vec![run(agent), run(say("b"))])],
    );
    assert_eq!(
        drive(modelled(&model), &tree).await,
        ["a: x bm=1 am=2 o=\"x\" escalate"]
    );
}

#[tokio::test]
async fn a_callback_may_replace_an_error_of_the_model() {
    let trace = Trace::default();
    let mut agent = llm();
    let (seen, after) = (trace.clone(), trace.clone());
    agent
        .add_on_model_error(
            move |_: &mut CallbackContext, request: &ModelRequest, error: &Error| {
                seen.add(format!("{:?} {}", error.kind(), request.contents.len()));
            },
        )
        .add_on_model_error(|_: &mut CallbackContext, _: &ModelRequest, _: &Error| Some("fallback"))
        .add_after_model(move |_: &mut CallbackContext, _: &mut ModelResponse| after.add("after"));
    let model = ScriptedModel::new().error(ModelErrorKind::InvalidRequest, "down");
    assert_eq!(
        drive(modelled(&model), &tree(agent)).await,
        ["a: fallback o=\"fallback\""]
    );
    assert_eq!(
        trace.take(),
        [
            format!("{:?} 1", ErrorKind::Model(ModelErrorKind::InvalidRequest)),
            "after".into()
        ]
    );
}

#[tokio::test]
async fn an_error_without_a_replacement_is_unchanged() {
    let mut agent = llm();
    agent.add_on_model_error(|_: &mut CallbackContext, _: &ModelRequest, _: &Error| {});
    let model = ScriptedModel::new().error(ModelErrorKind::InvalidRequest, "down");
    let runner: Runner = modelled(&model).build().unwrap();
    let error = runner.run(&tree(agent), "go").await.unwrap_err();
    assert_eq!(
        error.kind(),
        ErrorKind::Model(ModelErrorKind::InvalidRequest)
    );
}
