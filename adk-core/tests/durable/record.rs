//! Run records: a resumed run starts from its recorded state and sees the events of all runs in log
//! order.

use super::crash::World;
use crate::support::*;
use adk_build::engine::RunRegistry as _;
use adk_build::spec::Topology;
use adk_build::{ErrorKind, Event, Flow, RunConfig, RunId, Runner};
use adk_store_kit::sessions::delta;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

fn runner(world: &World) -> Runner {
    let builder = Runner::builder()
        .session_store(world.sessions.clone())
        .engine(world.journal.clone());
    builder.build().unwrap()
}

/// Emits the value of `k` twice, with a question in between.
fn sees() -> By {
    by("sees", |cx| {
        Box::pin(async move {
            let event_of = |value: Option<u32>| Event::new().with_text(format!("{value:?}"));
            let (before, inner) = (cx.state().get("k")?, cx.state().get("user:k")?);
            cx.emit(event_of(before)).await?;
            cx.emit(event_of(inner)).await?;
            cx.wait::<bool>("answer").await?;
            let after = cx.state().get("user:k")?;
            cx.emit(event_of(after)).await?;
            Ok(Flow::Continue)
        })
    })
}

async fn texts(world: &World, run: RunId) -> Vec<String> {
    let keys = world.sessions.list("app", None, "").await.unwrap();
    let session = world.sessions.get(&keys[0].key).await.unwrap().unwrap();
    session
        .events()
        .filter(|event| event.invocation_id == run)
        .map(|event| event.text())
        .collect()
}

#[tokio::test]
async fn the_record_holds_the_input_the_shape_and_the_initial_state() {
    let world = World::new();
    let (runner, tree) = (runner(&world), Tree::new("w", vec![run(sees())]));
    let handle = runner.session("u", "s");
    handle
        .create(delta(json!({"k": 1, "user:k": 2})))
        .await
        .unwrap();
    handle
        .run(&Tree::new("v", vec![run(say("a"))]), "before")
        .await
        .unwrap();
    let config = RunConfig::new().max_llm_calls(7);
    let error = handle
        .run(&tree, "go")
        .state("k", 3)
        .config(config.clone())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Paused);
    let id = runner.waiting().await.unwrap()[0].run_id;
    let record = world
        .journal
        .claim(id, Arc::new(|_| Ok(())))
        .await
        .unwrap()
        .record
        .clone();
    assert_eq!(
        (&*record.workflow, &record.session, record.begins),
        ("w", handle.key(), 2)
    );
    assert_eq!(record.message.text(), "go");
    let to_json = |delta: &adk_build::StateDelta| serde_json::to_value(delta).unwrap();
    assert_eq!(to_json(&record.delta), json!({"topic": "go", "k": 3}));
    assert_eq!(
        to_json(&record.state),
        json!({"k": 1, "user:k": 2, "topic": "before"})
    );
    assert_eq!(
        record.topology.hash(),
        Topology::of(adk_build::DynAgent::meta(&tree)).hash()
    );
    assert_eq!(record.config, serde_json::to_value(&config).unwrap());
    // The record survives JSON, for stores.
    let again: Value = serde_json::to_value(&record).unwrap();
    assert_eq!(
        serde_json::from_value::<adk_build::engine::RunRecord>(again).unwrap(),
        record
    );
}

#[tokio::test]
async fn a_resumed_run_sees_its_old_state_and_writes_of_others_in_log_order() {
    let world = World::new();
    let (runner, tree) = (runner(&world), Tree::new("w", vec![run(sees())]));
    let handle = runner.session("u", "s");
    handle
        .create(delta(json!({"k": 1, "user:k": 2})))
        .await
        .unwrap();
    handle.run(&tree, "go").await.unwrap_err();
    let waiting = runner.waiting().await.unwrap().remove(0);
    // Another run of the session writes both keys while this run waits.
    let writes = by("writes", |cx| {
        Box::pin(async move {
            cx.emit(Event::new().with_state("k", 10).with_state("user:k", 20))
                .await?;
            Ok(Flow::Continue)
        })
    });
    handle
        .run(&Tree::new("v", vec![run(writes)]), "second")
        .await
        .unwrap();
    runner.answer(&waiting.id, true).await.unwrap();
    // If the agent saw 20 before its question, its event would differ from the record. It never
    // wrote its own key.
    runner.resume(&tree, waiting.run_id).await.unwrap();
    assert_eq!(
        texts(&world, waiting.run_id).await,
        ["go", "None", "Some(2)", "Some(20)"]
    );
}

/// The agent `slow` emits an event, then reads the key of the other branch. In the first execution,
/// `slow` is late, so its event comes after that of `quick`. When the run is resumed, `slow` is the
/// first to emit, and has to wait for its turn.
#[tokio::test(start_paused = true)]
async fn an_emit_waits_for_its_turn() {
    static IS_FIRST: AtomicBool = AtomicBool::new(true);
    let slow = by("slow", |cx| {
        Box::pin(async move {
            if IS_FIRST.swap(false, Relaxed) {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            cx.emit(Event::new().with_text("now")).await?;
            let seen: Option<u32> = cx.state().get("quick")?;
            cx.emit(Event::new().with_text(format!("{seen:?}"))).await?;
            cx.wait::<bool>("answer").await?;
            Ok(Flow::Continue)
        })
    });
    let quick = put("quick", "quick", |_| 1);
    let tree = Tree::new("w", vec![parallel("p", vec![run(slow), run(quick)])]);
    let world = World::new();
    let runner = runner(&world);
    runner.session("u", "s").run(&tree, "go").await.unwrap_err();
    let waiting = runner.waiting().await.unwrap().remove(0);
    let before = texts(&world, waiting.run_id).await;
    assert_eq!(before[2..], ["now", "Some(1)"]);
    runner.answer(&waiting.id, true).await.unwrap();
    runner.resume(&tree, waiting.run_id).await.unwrap();
    assert_eq!(
        texts(&world, waiting.run_id).await,
        before,
        "no event is duplicated or changed"
    );
}
