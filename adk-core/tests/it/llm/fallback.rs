//! Fallback models, which are called after another model has failed.

use super::respond::Able;
use super::*;
use crate::support::{Tree, run};
use adk_build::llm::{FALLBACK_KEY, LlmAgent, RETRY_KEY};
use adk_build::model::{Model, ModelErrorKind, ModelRequest, ModelStream};
use adk_build::testing::Reply;
use adk_build::{ErrorKind, tool::FunctionTool};
use std::time::Duration;
use tokio::time::Instant;

agent!(A = decl("a"));

/// A scripted model with another name.
#[derive(Clone)]
struct Named(&'static str, ScriptedModel);

impl Model for Named {
    fn name(&self) -> &str {
        self.0
    }
    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        self.1.generate(request)
    }
}

fn fails(kind: ModelErrorKind, message: &str) -> Reply {
    Reply::error(kind, message)
}

/// Returns the events and the error of an agent with these models.
async fn outcome_of(models: &[Named], streaming: bool) -> (Vec<Arc<Event>>, Option<Error>) {
    let mut agent = llm::<A>();
    agent
        .set_model(models[0].clone())
        .set_fallback(models[1..].iter().cloned());
    let tree = Tree::new("w", vec![run(agent)]);
    let runner: Runner = Runner::builder()
        .config(RunConfig::new().streaming(streaming))
        .build()
        .unwrap();
    collect(&mut runner.run(&tree, "go").stream()).await
}

fn versions(events: &[Arc<Event>]) -> Vec<Option<String>> {
    let whole = events.iter().filter(|event| !event.partial);
    whole
        .map(|event| {
            event
                .details
                .as_ref()
                .and_then(|details| details.model_version.clone())
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn the_next_model_answers_after_a_permanent_failure() {
    let first = Named(
        "first",
        ScriptedModel::new().reply(fails(ModelErrorKind::InvalidRequest, "too long")),
    );
    let second = Named("second", ScriptedModel::new().text("here"));
    let (events, error) = outcome_of(&[first, second], false).await;
    assert!(error.is_none(), "{error:?}");
    let fallback_event = &events[0].details.as_ref().unwrap().custom_metadata[FALLBACK_KEY];
    assert_eq!(
        *fallback_event,
        json!({"model": "first", "error": "too long", "next": "second"})
    );
    assert_eq!(events[1].text(), "here");
    assert_eq!(versions(&events), [Some("second".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn overload_switches_models_at_once_and_a_lost_connection_is_retried() {
    let start = Instant::now();
    for kind in [ModelErrorKind::RateLimited, ModelErrorKind::Unavailable] {
        let reply = fails(kind, "busy").retry_after(Duration::from_secs(30));
        let first = Named("first", ScriptedModel::new().reply(reply));
        let (_, error) = outcome_of(
            &[
                first.clone(),
                Named("second", ScriptedModel::new().text("here")),
            ],
            false,
        )
        .await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(
            (first.1.requests().len(), start.elapsed()),
            (1, Duration::ZERO)
        );
    }
    let lost = || fails(ModelErrorKind::Connection, "lost");
    let first = Named(
        "first",
        ScriptedModel::new()
            .reply(lost())
            .reply(lost())
            .reply(lost()),
    );
    let (events, _) = outcome_of(
        &[
            first.clone(),
            Named("second", ScriptedModel::new().text("here")),
        ],
        false,
    )
    .await;
    assert_eq!(first.1.requests().len(), 3);
    let keys: Vec<_> = events
        .iter()
        .filter_map(|event| {
            event
                .details
                .as_ref()?
                .custom_metadata
                .keys()
                .next()
                .cloned()
        })
        .collect();
    assert_eq!(keys, [RETRY_KEY, RETRY_KEY, FALLBACK_KEY]);
}

#[tokio::test(start_paused = true)]
async fn the_last_model_is_retried_and_its_error_lists_earlier_failures() {
    let busy = || fails(ModelErrorKind::Unavailable, "busy");
    let models = [
        Named("first", ScriptedModel::new().reply(busy())),
        Named(
            "second",
            ScriptedModel::new().reply(fails(ModelErrorKind::Unauthorized, "no key")),
        ),
        Named(
            "third",
            ScriptedModel::new()
                .reply(busy())
                .reply(busy())
                .reply(busy()),
        ),
    ];
    let (_, error) = outcome_of(&models, false).await;
    let error = error.unwrap();
    assert_eq!(error.kind(), ErrorKind::Model(ModelErrorKind::Unavailable));
    assert_eq!(
        error.to_string().split("; help").next().unwrap(),
        "agent `a` (at w/a): busy (after 3 attempts) (it was asked after `first`: busy; `second`: \
         no key)"
    );
}

#[tokio::test(start_paused = true)]
async fn no_fallback_after_a_piece_was_delivered() {
    let reply = fails(ModelErrorKind::Connection, "gone").pieces(["half an"]);
    let second = Named("second", ScriptedModel::new().text("here"));
    let (events, error) = outcome_of(
        &[
            Named("first", ScriptedModel::new().reply(reply)),
            second.clone(),
        ],
        true,
    )
    .await;
    assert_eq!(
        error.unwrap().kind(),
        ErrorKind::Model(ModelErrorKind::BrokenStream)
    );
    assert_eq!(events.len(), 1);
    assert!(second.1.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn fallbacks_of_the_runner_serve_agents_without_their_own() {
    let failing = || {
        Named(
            "first",
            ScriptedModel::new().reply(fails(ModelErrorKind::InvalidRequest, "no")),
        )
    };
    let of_runner = Named("of the runner", ScriptedModel::new().text("b"));
    let own = Named("own", ScriptedModel::new().text("a"));
    let build = |model: Named| LlmAgent::builder("a").model(model).output_key("x");
    let runner: Runner = Runner::builder().fallback([of_runner]).build().unwrap();
    for (agent, answer) in [
        (build(failing()).fallback([own]).build().unwrap(), "a"),
        (build(failing()).build().unwrap(), "b"),
    ] {
        let outcome = runner
            .run(
                &adk_build::SequentialAgent::builder("w")
                    .sub_agent(agent)
                    .build()
                    .unwrap(),
                "go",
            )
            .await
            .unwrap();
        assert_eq!(outcome.get::<String>("x").unwrap().as_deref(), Some(answer));
    }
}

#[tokio::test(start_paused = true)]
async fn one_request_serves_all_models() {
    let model = ScriptedModel::new().reply(fails(ModelErrorKind::InvalidRequest, "no"));
    let second = ScriptedModel::new().call("set_model_response", json!({"response": 5}));
    let tool = FunctionTool::new("look", "Looks.", |(), _| ());
    let agent = LlmAgent::builder("a")
        .model(Able(model.clone()))
        .fallback([Named("second", second)])
        .tool(tool)
        .output_key("n")
        .output_type::<u32>()
        .build()
        .unwrap();
    let runner: Runner = Runner::builder().build().unwrap();
    let outcome = runner
        .run(
            &adk_build::SequentialAgent::builder("w")
                .sub_agent(agent)
                .build()
                .unwrap(),
            "go",
        )
        .await
        .unwrap();
    assert_eq!(outcome.get::<u32>("n").unwrap(), Some(5));
    assert!(
        model.requests()[0].response_schema.is_none(),
        "the second model cannot follow a schema beside tools"
    );
}
