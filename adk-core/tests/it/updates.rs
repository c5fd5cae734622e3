//! Atomic updates of state: with sessions in memory, and in every kind of context.

use crate::support::*;
use adk_build::callback::{CallbackContext, Plugin};
use adk_build::engine::{Engine, MemoryEngine, MemoryJournal};
use adk_build::llm::LlmAgent;
use adk_build::memory::MemoryService;
use adk_build::model::ModelRequest;
use adk_build::session::{MemoryStore, SessionStore};
use adk_build::spec::KeySpec;
use adk_build::testing::ScriptedModel;
use adk_build::tool::FunctionTool;
use adk_build::{
    AgentTool, ArtifactStore, Content, ErrorKind, Event, Flow, FunctionCall, Result, Runner,
    STATE_UPDATE_KEY, Store, ToolContext,
};
use adk_store_kit::{Place, updates};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Sessions in memory, without a journal.
struct Sessions(Arc<MemoryStore>);

impl Store for Sessions {
    fn session_store(&self) -> Arc<dyn SessionStore> {
        self.0.clone()
    }
    fn engine(&self) -> Arc<dyn Engine> {
        Arc::new(MemoryEngine)
    }
    fn artifact_store(&self) -> Option<Arc<dyn ArtifactStore>> {
        None
    }
    fn memory_service(&self) -> Option<Arc<dyn MemoryService>> {
        None
    }
}

impl Place for Sessions {
    type Store = Self;

    async fn new() -> Self {
        Self(Arc::default())
    }

    async fn open(&self) -> Self {
        Self(self.0.clone())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_updates_all_count_without_a_journal() {
    updates::concurrent_updates_all_count(&Sessions::new().await).await;
}

fn one_more(n: Option<u64>) -> u64 {
    n.unwrap_or(0) + 1
}

/// Updates a key of each kind twice, sets another key, and returns the values.
fn counts() -> FunctionTool {
    FunctionTool::new_async(
        "count",
        "Counts.",
        |args: Map<String, Value>, cx: &mut ToolContext| {
            Box::pin(async move {
                let mut all = Vec::new();
                for key in ["user:n", "n", "temp:n", "user:n", "n", "temp:n"] {
                    all.push(cx.state().update(key, one_more).await?);
                }
                cx.state().set("counts", &all)?;
                let refused = cx
                    .state()
                    .update("counts", |_: Option<Value>| 1)
                    .await
                    .unwrap_err();
                assert_eq!(refused.kind(), ErrorKind::Config, "{refused}");
                if args.contains_key("fails") {
                    Err(adk_build::Error::new(ErrorKind::Agent, "it failed"))
                } else {
                    Ok(json!(all))
                }
            })
        },
    )
    .writes::<u64>("user:n")
    .writes::<u64>("n")
    .writes::<Vec<u64>>("counts")
}

#[tokio::test]
async fn an_update_in_a_tool_takes_effect_at_once_and_stays() {
    let model = ScriptedModel::new()
        .call("count", json!({}))
        .call("count", json!({"fails": true}))
        .text("done");
    let clerk = LlmAgent::builder("clerk")
        .model(model)
        .tool(counts())
        .build()
        .unwrap();
    let runner: Runner = Runner::builder()
        .engine(MemoryJournal::new())
        .build()
        .unwrap();
    let outcome = runner
        .run(&Tree::new("w", vec![run(clerk)]), "go")
        .await
        .unwrap();
    assert_eq!(
        (outcome.get("user:n").unwrap(), outcome.get("n").unwrap()),
        (Some(4), Some(4))
    );
    assert_eq!(
        outcome.get("counts").unwrap(),
        Some(json!([1, 1, 1, 2, 2, 2])),
        "a failed call keeps its updates, but not its set keys"
    );
    for event in outcome
        .session()
        .events()
        .filter(|event| event.function_responses().count() > 0)
    {
        assert_eq!(
            event.actions.state_delta.get("n"),
            None,
            "no event overwrites an update"
        );
    }
    let recorded = |event: &Arc<Event>| {
        Some(
            event
                .details
                .as_ref()?
                .custom_metadata
                .get(STATE_UPDATE_KEY)?
                .clone(),
        )
    };
    let recorded: Vec<_> = outcome.session().events().filter_map(recorded).collect();
    assert_eq!(recorded.len(), 12);
    assert_eq!(
        (&recorded[0], &recorded[3]),
        (
            &json!({"call": "tool.count@0", "update": "user:n@0"}),
            &json!({"call": "tool.count@0", "update": "user:n@1"})
        )
    );
}

#[tokio::test]
async fn an_agent_in_a_tool_updates_the_session_around_it() {
    let mut adds = by("adds", |cx| {
        Box::pin(async move {
            let n: u64 = cx.state().update("n", one_more).await?;
            assert_eq!(cx.state().get("n")?, Some(n));
            let user: u64 = cx.state().update("user:n", one_more).await?;
            cx.state().update("temp:n", one_more).await?;
            cx.emit(Event::new().with_text(format!("{n} {user}")))
                .await?;
            Ok(Flow::Continue)
        })
    });
    adds.meta.description = "Adds.";
    let asks = ScriptedModel::new()
        .call("adds", json!({"request": "a"}))
        .call("adds", json!({"request": "b"}))
        .text("done");
    let author = LlmAgent::builder("author")
        .model(asks)
        .tool(AgentTool::new(adds))
        .build()
        .unwrap();
    let runner: Runner = Runner::builder()
        .engine(MemoryJournal::new())
        .build()
        .unwrap();
    let outcome = runner
        .run(&Tree::new("w", vec![run(author)]), "go")
        .await
        .unwrap();
    assert_eq!(
        (outcome.get("n").unwrap(), outcome.get("user:n").unwrap()),
        (Some(2), Some(2))
    );
    let responses = outcome
        .session()
        .events()
        .filter(|event| event.function_responses().count() > 0);
    assert!(
        responses
            .into_iter()
            .all(|event| event.actions.state_delta.is_empty())
    );
}

async fn add(cx: &mut CallbackContext) -> Result<()> {
    cx.state().update("app:n", one_more).await.map(drop)
}

async fn add_before_model(cx: &mut CallbackContext, _: &mut ModelRequest) -> Result<()> {
    add(cx).await
}

async fn add_before_tool(cx: &mut CallbackContext, _: &mut FunctionCall) -> Result<()> {
    add(cx).await
}

#[tokio::test]
async fn callbacks_update_state_like_their_agent_or_call() {
    let model = ScriptedModel::new().call("count", json!({})).text("done");
    let clerk = LlmAgent::builder("clerk").model(model).tool(counts());
    let clerk = clerk
        .before_agent(add)
        .before_model(add_before_model)
        .before_tool(add_before_tool);
    let clerk = clerk.after_agent(add).build().unwrap();
    let runner: Runner = Runner::builder()
        .engine(MemoryJournal::new())
        .build()
        .unwrap();
    let outcome = runner
        .run(&Tree::new("w", vec![run(clerk)]), "go")
        .await
        .unwrap();
    assert_eq!(
        (
            outcome.get("app:n").unwrap(),
            outcome.get("user:n").unwrap()
        ),
        (Some(5), Some(2))
    );
}

/// Attempts to update state where no record exists.
struct Tries;

impl Plugin for Tries {
    fn name(&self) -> &str {
        "tries"
    }
    async fn on_user_message(
        &self,
        cx: &mut CallbackContext,
        _: &Content,
    ) -> Result<Option<Content>> {
        let error = cx.state().update("user:n", one_more).await.unwrap_err();
        assert!(
            error
                .to_string()
                .contains("before the message of the user is committed"),
            "{error}"
        );
        Ok(None)
    }
    async fn before_run(&self, cx: &mut CallbackContext) -> Result<Option<Content>> {
        add(cx).await.map(|()| None)
    }
    async fn on_event(&self, cx: &mut CallbackContext, _: &Event) -> Result<Option<Event>> {
        let error = cx.state().update("user:n", one_more).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config, "{error}");
        Ok(None)
    }
}

#[tokio::test]
async fn a_plugin_updates_state_only_where_it_is_recorded() {
    let runner: Runner = Runner::builder()
        .engine(MemoryJournal::new())
        .plugin(Tries)
        .build()
        .unwrap();
    let outcome = runner
        .run(&Tree::new("w", vec![run(say("a"))]), "go")
        .await
        .unwrap();
    assert_eq!(
        (
            outcome.get::<u64>("app:n").unwrap(),
            outcome.get::<u64>("n").unwrap()
        ),
        (Some(1), None)
    );
}

/// An element and an instance have separate keys that start empty, regardless of values that an
/// earlier run wrote.
#[tokio::test]
async fn an_update_starts_from_the_value_that_a_read_returns() {
    let adds = || updates::adds("a", &["note", "note"]);
    let inside = || each("e", "item", "items", vec![run(writes_note(adds()))]);
    let tree = Tree::new("w", vec![inside()]).lets("items", json!([0, 1, 2]));
    let runner: Runner = Runner::builder()
        .engine(MemoryJournal::new())
        .build()
        .unwrap();
    for _ in 0..2 {
        let outcome = runner.session("u", "s").run(&tree, "go").await.unwrap();
        assert_eq!(outcome.get("note").unwrap(), Some(json!([2, 2, 2])));
    }
}

fn writes_note(mut agent: By) -> By {
    agent.meta = agent.meta.writes(const { &[KeySpec::new("note", "u64")] });
    agent
}
