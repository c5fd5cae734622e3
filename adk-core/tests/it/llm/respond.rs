//! Typed answers beside tools: `set_model_response`, for models that cannot combine a schema with
//! tools.

use super::*;
use crate::support::{Tree, run};
use adk_build::llm::OutputKey;
use adk_build::model::{Model, ModelRequest, ModelStream};
use adk_build::testing::Reply;
use adk_build::{ErrorKind, KeySpec};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, schemars::JsonSchema)]
struct Report {
    title: String,
    score: u8,
    note: Option<String>,
}

agent!(
    Reports = LlmDecl::new(meta("a").writes(&[KeySpec::new("o", "Report")]))
        .output(OutputKey::json::<Report>("o"))
        .tools(|| vec![Arc::new(super::gives("f", json!({"v": 1})))])
);
agent!(
    Lists = LlmDecl::new(meta("a").writes(&[KeySpec::new("o", "Vec<u8>")]))
        .output(OutputKey::json::<Vec<u8>>("o"))
        .tools(|| vec![Arc::new(super::gives("f", json!({"v": 1})))])
);

fn tree<W: Declares<0> + 'static>() -> Tree {
    Tree::new("w", vec![run(llm::<W>())])
}

fn respond(args: Value) -> ScriptedModel {
    ScriptedModel::new()
        .call("f", json!({}))
        .call("set_model_response", args)
}

#[tokio::test]
async fn the_answer_of_the_tool_becomes_the_text_of_the_agent() {
    let model = respond(json!({"title": "t", "score": 3}));
    let events = events(&model, &tree::<Reports>()).await;
    assert_eq!(events.len(), 5);
    let response = events[3].function_responses().next().unwrap();
    let own = json!({"title": "t", "score": 3, "note": null});
    assert_eq!(json!(response.response), own, "as its type serializes it");
    assert_eq!(
        events[4].text(),
        r#"{"title": "t", "score": 3, "note": null}"#
    );
    assert_eq!(delta(&events[4]), json!({"o": own}));
    assert!(events[4].is_final_response());
    for request in model.requests() {
        let names: Vec<_> = request
            .tools
            .iter()
            .map(|tool| tool.name.to_string())
            .collect();
        assert_eq!(names, ["set_model_response", "f"], "as in ADK");
        assert!(request.response_schema.is_none());
        assert!(
            request
                .system_instruction
                .contains("by calling `set_model_response`")
        );
        assert_eq!(
            request.tools[0].parameters["properties"]["score"]["type"],
            "integer"
        );
    }
}

#[tokio::test]
async fn an_unfit_answer_is_returned_to_the_model_with_the_place() {
    let model = ScriptedModel::new()
        .call("set_model_response", json!({"title": "t"}))
        .call("set_model_response", json!({"title": "t", "score": 1000}))
        .call(
            "set_model_response",
            json!({"title": "t", "score": 3.0, "note": null}),
        );
    let config = RunConfig::new().tool_errors_end_run(true);
    let runner: Runner = Runner::builder()
        .model(model)
        .config(config)
        .build()
        .unwrap();
    let (events, error) = drive(&runner, &tree::<Reports>()).await;
    assert!(
        error.is_none(),
        "also where errors of tools end the run, as in ADK: {error:?}"
    );
    let errors: Vec<_> = events
        .iter()
        .flat_map(|event| event.function_responses())
        .collect();
    let text = |at: usize| errors[at].response["error"].as_str().unwrap_or_default();
    assert!(
        text(0).starts_with("the answer does not fit: `score` is missing: expected an integer"),
        "{}",
        text(0)
    );
    assert!(
        text(1).contains("`score`: expected") && text(1).contains("1000"),
        "{}",
        text(1)
    );
    assert_eq!(
        delta(events.last().unwrap()),
        json!({"o": {"title": "t", "score": 3, "note": null}}),
        "valid values are kept and normalized"
    );
}

#[tokio::test]
async fn an_answer_that_is_not_an_object_is_one_argument() {
    let model = respond(json!({"response": [1, 2]}));
    let events = events(&model, &tree::<Lists>()).await;
    assert_eq!(
        model.requests()[0].tools[0].parameters["properties"]["response"]["type"],
        "array"
    );
    assert_eq!(
        events[3].function_responses().next().unwrap().response["result"],
        json!([1, 2])
    );
    assert_eq!(events[4].text(), "[1, 2]");
    assert_eq!(delta(&events[4]), json!({"o": [1, 2]}));
}

#[tokio::test]
async fn text_that_fits_is_accepted() {
    let model = ScriptedModel::new().text(r#"{"title": "t", "score": 3}"#);
    let said = events(&model, &tree::<Reports>()).await;
    assert_eq!(
        delta(&said[0]),
        json!({"o": {"title": "t", "score": 3, "note": null}})
    );
    let error = failure(
        &ScriptedModel::new().text("Three.").repeat_last(),
        &tree::<Reports>(),
    )
    .await;
    assert_eq!(error.kind(), ErrorKind::OutputInvalid);
}

#[tokio::test]
async fn calls_beside_the_answer_run_and_keep_their_effects() {
    let model = ScriptedModel::new().reply(
        Reply::new()
            .call("f", json!({}))
            .call("set_model_response", json!({"title": "t", "score": 3})),
    );
    let events = events(&model, &tree::<Reports>()).await;
    assert_eq!(events.len(), 3);
    assert_eq!(events[1].function_responses().count(), 2);
}

/// A model that can combine a schema with tools.
pub(super) struct Able(pub(super) ScriptedModel);

impl Model for Able {
    fn name(&self) -> &str {
        "able"
    }
    fn answers_in_schema_beside_tools(&self) -> bool {
        true
    }
    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        self.0.generate(request)
    }
}

#[tokio::test]
async fn a_model_that_can_do_both_gets_the_schema() {
    let model = ScriptedModel::new().json(json!({"title": "t", "score": 3}));
    let runner: Runner = Runner::builder()
        .model(Able(model.clone()))
        .build()
        .unwrap();
    assert!(drive(&runner, &tree::<Reports>()).await.1.is_none());
    let request = &model.requests()[0];
    assert!(request.response_schema.is_some() && request.tools.len() == 1);
}
