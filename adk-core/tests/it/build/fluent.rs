//! The fluent builder, modelled on @iqai/adk.

use crate::build::support::says;
use adk_build::llm::LlmAgent;
use adk_build::session::{MemoryStore, SessionStore};
use adk_build::testing::ScriptedModel;
use adk_build::{AgentBuilder, BuildError, DynAgent, ErrorKind, NoArtifacts, Part, RunConfig};
use serde_json::json;
use std::error::Error as _;
use std::sync::Arc;

type Builder = AgentBuilder;

fn faults(error: &adk_build::Error) -> String {
    error
        .source()
        .and_then(|source| source.downcast_ref::<BuildError>())
        .unwrap()
        .to_string()
}

#[tokio::test]
async fn stores_and_limits_are_those_of_the_builder() {
    let sessions: Arc<dyn SessionStore> = Arc::new(MemoryStore::new());
    let model = ScriptedModel::new().on("one").text("1").on("two").text("2");
    let app = Builder::create("limited")
        .with_model(model.clone())
        .as_sequential(["one", "two"].map(LlmAgent::builder))
        .with_session_store(sessions.clone())
        .with_artifact_store(NoArtifacts)
        .with_run_config(RunConfig::new().max_llm_calls(1))
        .build()
        .unwrap();
    app.runner.ask("first").await.unwrap_err();
    assert_eq!(model.requests().len(), 1);
    let key = app.session.key().clone();
    assert!(sessions.get(&key).await.unwrap().is_some());
    let saved = app.session.save_artifact("a.txt", Part::text("a")).await;
    assert!(saved.is_err(), "{saved:?}");
}

#[tokio::test(start_paused = true)]
async fn a_loop_with_a_quick_session_answers() {
    let model = ScriptedModel::new()
        .on("drafter")
        .text("one")
        .text("two")
        .text("three")
        .text("four")
        .on("critic")
        .text("more")
        .text("fine")
        .text("again");
    let drafter = LlmAgent::builder("drafter")
        .instruction("Improve {draft}.")
        .output_key("draft");
    let critic = LlmAgent::builder("critic")
        .instruction("Critique {draft}.")
        .output_key("feedback");
    let app = Builder::create("writing-loop")
        .with_model(model.clone())
        .as_loop([drafter, critic], 2)
        .with_quick_session(json!({"draft": "", "user:name": "Ann"}))
        .build()
        .unwrap();
    assert_eq!(
        (app.agent.spec().name, app.runner.runner().app_name()),
        ("writing_loop", "writing-loop")
    );
    assert_eq!(app.runner.ask("Write about tea").await.unwrap(), "fine");
    let asked = model.requests();
    assert!(
        asked[0].system_instruction.starts_with("Improve .\n"),
        "{}",
        asked[0].system_instruction
    );
    assert!(asked[2].system_instruction.starts_with("Improve one.\n"));
    let session = app.session.open().await.unwrap();
    assert_eq!(session.get("feedback").as_deref(), Some(&json!("fine")));
    assert_eq!(session.get("user:name").as_deref(), Some(&json!("Ann")));
    // The next question continues the same session.
    let error = app.runner.clone().ask("Once more").await.unwrap_err();
    assert!(error.to_string().contains("critic"), "{error}");
    assert!(
        model.requests()[4]
            .system_instruction
            .starts_with("Improve two.\n")
    );
}

#[tokio::test(start_paused = true)]
async fn the_builder_makes_one_agent_and_every_block() {
    let model = ScriptedModel::new().on("helper_bot").text("hello");
    let app = Builder::create("helper-bot")
        .with_model(model.clone())
        .with_description("Helps.");
    let app = app
        .with_instruction("Help.")
        .with_output_key("said")
        .build()
        .unwrap();
    assert_eq!(app.runner.ask("hi").await.unwrap(), "hello");
    assert_eq!(
        app.session.open().await.unwrap().get("said").as_deref(),
        Some(&json!("hello"))
    );

    let mixed: [Arc<dyn DynAgent>; 2] = [Arc::new(says("a")), Arc::new(says("b"))];
    let app = Builder::create("seq").as_sequential(mixed).build().unwrap();
    assert_eq!(app.runner.ask("hi").await.unwrap(), "b");
    let app = Builder::create("par")
        .as_parallel((says("a"), says("b")))
        .build()
        .unwrap();
    assert_eq!(app.agent.spec().steps.len(), 8);
    let app = Builder::create("app")
        .with_agent(says("mine"))
        .build()
        .unwrap();
    assert_eq!(app.runner.ask("hi").await.unwrap(), "mine");
    let app = Builder::create("lp")
        .as_loop([says("stop").exits_in(2).announced()], None)
        .build()
        .unwrap();
    assert_eq!(app.runner.ask("hi").await.unwrap(), "stop");
}

#[test]
fn a_name_that_cannot_be_repaired_is_a_fault() {
    for (name, mended) in [
        ("my loop", "my loop"),
        ("2nd-try", "2nd_try"),
        ("-", "_"),
        ("", ""),
    ] {
        let error = Builder::create(name)
            .as_loop([says("a")], 3)
            .build()
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert_eq!(
            faults(&error),
            format!(
                "name-invalid: `{mended}` is no name; help: use letters, digits and `_`, not \
                 beginning with a digit"
            )
        );
    }
    assert_eq!(
        faults(
            &Builder::create("model")
                .as_loop([says("a")], 0)
                .build()
                .unwrap_err()
        ),
        "name-reserved: `model` cannot be the name of a step: events of the user and of models \
         carry it; help: choose another name\n\
         loop-max: `max_iterations` of block `model` is 0; help: it is the largest number of \
         rounds, 1 or more"
    );
}

#[test]
fn settings_that_a_block_lacks_are_refused() {
    let app = Builder::create("app")
        .with_instruction("Do.")
        .as_sequential([says("a")]);
    assert_eq!(
        faults(&app.build().unwrap_err()),
        "field-unknown: `with_instruction` is for a single agent, and `app` is made of several; \
         help: set it on one of them"
    );
    let error = Builder::create("app")
        .as_sequential([says("a")])
        .with_quick_session("text")
        .build()
        .unwrap_err();
    assert_eq!(
        error.message(),
        "the state of the quick session is no object"
    );
    let state = std::collections::BTreeMap::from([("score", f64::INFINITY)]);
    let error = Builder::create("app")
        .as_sequential([says("a")])
        .with_quick_session(state)
        .build()
        .unwrap_err();
    assert_eq!(
        error.message(),
        "the state of the quick session holds inf at `score`, which JSON has no form for"
    );
}
