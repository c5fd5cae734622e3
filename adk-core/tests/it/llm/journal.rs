//! Calls and the journal: a resumed run repeats no model call and no tool call.

use super::*;
use crate::support::{Tree, repeat, run};
use adk_build::engine::{
    self, Body, ClaimId, Engine, Reply as Later, Retention, Roles, Slot, StepKey, Stored, Wait,
};
use adk_build::llm::OutputKey;
use adk_build::session::Location;
use adk_build::testing::Reply as Answer;
use adk_build::{KeySpec, MemoryArtifacts, Part};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// A journal that replays the steps of an earlier run of the same tree.
#[derive(Clone, Default)]
pub(super) struct Journal(Arc<Mutex<BTreeMap<String, String>>>);

impl engine::Journal for Journal {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Later<'a, Result<Stored>> {
        Later::Later(Box::pin(
            async move { Ok(slot.append(body.draft().await?)) },
        ))
    }
    fn step(
        &self,
        _: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        Box::pin(async move {
            let known = self.0.lock().unwrap().get(&key.to_string()).cloned();
            if let Some(text) = known {
                return Ok(serde_json::from_str(&text).unwrap());
            }
            let value = work.await?;
            self.0
                .lock()
                .unwrap()
                .insert(key.to_string(), value.to_string());
            Ok(value)
        })
    }
    fn answer(&self, _: ClaimId, _: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

impl Engine for Journal {
    fn retention(&self) -> Retention {
        Retention::Durable
    }
    fn location(&self) -> Location {
        Location::Memory
    }
    fn roles(&self) -> Roles<'_> {
        Roles {
            registry: None,
            waits: None,
            keys: None,
            driver: None,
            remote: None,
            timers: None,
        }
    }
}

agent!(
    A = LlmDecl::new(
        meta("a")
            .may_exit(true)
            .writes(&[KeySpec::new("o", "Vec<u8>")])
    )
    .instruction("{artifact.x?}")
    .output(OutputKey::json::<Vec<u8>>("o"))
);

/// Scripts a turn of two rounds: calls of known and unknown tools, then an exit.
fn model() -> ScriptedModel {
    ScriptedModel::new()
        .reply(
            Answer::new()
                .thought("hm")
                .call("keep", json!({"n": 1}))
                .call("keep", json!({"n": 2}))
                .call_with_id("m", "nope", json!({}))
                .usage(10, 2),
        )
        .reply(
            Answer::new()
                .text("```json\n[1]\n```")
                .pieces(["```json", "[1]"]),
        )
        .call("exit_loop", json!({}))
}

/// Copies an event without the ids that differ in each execution.
fn without_ids(event: &Event) -> Event {
    let mut event = Event::clone(event);
    (event.id, event.timestamp, event.invocation_id) = Default::default();
    let run = |id: &str| id.split_once('-').map(|(_, rest)| rest.len()).is_some();
    for part in &mut event.content.as_mut().unwrap().parts {
        match part {
            Part::FunctionCall(call) if run(&call.id) => Arc::make_mut(call).id.clear(),
            Part::FunctionResponse(response) if run(&response.id) => response.id.clear(),
            _ => {}
        }
    }
    event
}

#[tokio::test]
async fn a_resumed_run_repeats_no_recorded_call() {
    let calls = Arc::new(AtomicU32::new(0));
    let tree = || {
        let mut agent = llm::<A>();
        let counter = calls.clone();
        agent
            .add_tool(exit_loop())
            .add_tool(tool("keep", move |args, cx| {
                counter.fetch_add(1, SeqCst);
                Box::pin(async move {
                    cx.state().set("seen", &args["n"])?;
                    let version = cx.artifacts().save("x", Part::text("kept")).await?;
                    if args["n"] == 2 {
                        Err(ToolError::failed("no"))
                    } else {
                        Ok(json!(version))
                    }
                })
            }));
        Tree::new("w", vec![repeat("l", Some(3), vec![run(agent)])])
    };
    let model = model();
    let journal = Journal::default();
    let mut runs = Vec::new();
    for attempt in 0..2 {
        let config = config().streaming(true);
        let artifacts: Arc<dyn adk_build::ArtifactStore> = Arc::new(MemoryArtifacts::new());
        let runner: Runner = Runner::builder()
            .model(model.clone())
            .engine(journal.clone())
            .artifact_store(artifacts)
            .config(config)
            .build()
            .unwrap();
        let tree = tree();
        let (events, error) = collect(&mut runner.run(&tree, "go").stream()).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(
            (model.requests().len(), calls.load(SeqCst)),
            (3, 2),
            "attempt {attempt}"
        );
        assert_eq!(
            events.iter().any(|event| event.partial),
            attempt == 0,
            "a record has no pieces"
        );
        let whole: Vec<_> = events
            .iter()
            .filter(|event| !event.partial)
            .map(|event| without_ids(event))
            .collect();
        assert_eq!(whole.len(), 5);
        runs.push(whole);
    }
    assert_eq!(runs[0], runs[1]);
    assert_eq!(delta(&runs[0][1]), json!({"seen": 1}));
    assert_eq!(
        runs[0][1].actions.artifact_delta.len(),
        1,
        "including the artifact of the failed call"
    );
    let keys: Vec<_> = journal.0.lock().unwrap().keys().cloned().collect();
    let first = [
        "artifact.x@0",
        "artifact.x@1",
        "model@0",
        "model@1",
        "tool.keep@0",
        "tool.keep@1",
        "tool.nope@0",
    ];
    let second = ["artifact.x@0", "model@0", "tool.exit_loop@0"];
    let in_round = |round, calls: &[&str]| -> Vec<_> {
        calls
            .iter()
            .map(|call| format!("w/l#{round}/a:{call}"))
            .collect()
    };
    assert_eq!(keys, [in_round(1, &first), in_round(2, &second)].concat());
}
