//! Promises about runs: delivered events are stored in their order, and one process drives a run.

use crate::place::{DynPlace, key};
use crate::trees::{By, Tree, by, parallel, repeat, run, say};
use crate::victim::{Scratch, notes};
use adk_build::engine::RunFilter;
use adk_build::session::{EventFilter, SessionKey};
use adk_build::spec::KeySpec;
use adk_build::{ErrorKind, Event, Flow, StateDelta};
use serde_json::json;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Makes an agent that counts up and emits its path.
fn counts(name: &'static str, key: &'static str) -> By {
    by(name, move |cx| {
        Box::pin(async move {
            let n: u64 = cx.state().get(key)?.unwrap_or(0);
            cx.emit(
                Event::new()
                    .with_text(format!("{n}"))
                    .with_state(key, n + 1),
            )
            .await?;
            Ok(Flow::Continue)
        })
    })
}

/// Builds a tree whose keys belong to the session, so that all its runs continue the counts.
pub(crate) fn counting(branches: &[&'static str], rounds: u32) -> Tree {
    let branches = branches
        .iter()
        .map(|name| run(counts(name, name)))
        .collect();
    let steps = vec![repeat(
        "l",
        Some(rounds),
        vec![parallel("p", branches), run(counts("n", "n"))],
    )];
    Tree::new("w", steps).states(
        const {
            &[
                KeySpec::new("a", "u64"),
                KeySpec::new("b", "u64"),
                KeySpec::new("n", "u64"),
            ]
        },
    )
}

/// Delivered events are stored, in their order.
pub async fn events_are_stored_before_delivery(place: &dyn DynPlace) {
    let store = place.open_dyn().await;
    let runner = store.runner("app");
    let tree = counting(&["a", "b", "c", "d"], 20);
    let mut stream = runner.session("u", "s").run(&tree, "go").stream();
    let mut seen: Vec<Arc<Event>> = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        // A place that cannot look counts as one where the event is on disk.
        let is_on_disk = place.has_event_dyn(&event.id.to_string()).await;
        assert!(
            is_on_disk.unwrap_or(true),
            "the event is on disk before its delivery"
        );
        seen.push(event);
    }
    assert_eq!(seen.len(), 101);
    let key = SessionKey::new("app", "u", "s");
    let stored = store
        .sessions
        .read(&key, &EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(stored.events, seen);
    assert!(seen.is_sorted_by_key(|event| (event.timestamp, event.id)));
    let state: HashMap<_, _> = stored
        .state
        .iter()
        .map(|(key, value)| (&**key, (**value).clone()))
        .collect();
    assert_eq!((&state["a"], &state["n"]), (&json!(20), &json!(20)));
}

/// Many runs share one store, and half of them share one session.
pub async fn many_runs_share_one_session(place: &dyn DynPlace) {
    let store = place.open_dyn().await;
    let runner = store.runner("app");
    let tree = Arc::new(Tree::new(
        "w",
        vec![repeat("l", Some(5), vec![run(say("a"))])],
    ));
    let tasks: Vec<_> = (0..32)
        .map(|n| {
            let id = if n % 2 == 0 {
                "shared".to_owned()
            } else {
                format!("s{n}")
            };
            let request = runner.session("u", id).run(tree.clone(), "go");
            tokio::spawn(request.into_future())
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    let shared = SessionKey::new("app", "u", "shared");
    let stored = store
        .sessions
        .read(&shared, &EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(stored.len, 16 * 6);
    let live = store.sessions.get(&shared).await.unwrap().unwrap();
    live.load(0..stored.len).await.unwrap();
    assert!(live.events().eq(&stored.events));
    assert_eq!(runner.sessions(None).await.unwrap().len(), 17);
}

/// One process drives a run at a time. Here each process is a store with its own name.
pub async fn one_process_drives_a_run(place: &dyn DynPlace) {
    let scratch = Scratch::new();
    let world = scratch.path().join("world");
    let (store, other) = (place.open_dyn().await, place.open_dyn().await);
    let (here, there) = (
        store.knows("app", calling(&world)),
        other.knows("app", calling(&world)),
    );
    let workflow = calling(&world);
    let mut stream = here.session("u", "s").run(&workflow, "go").stream();
    let run = stream.next().await.unwrap().unwrap().invocation_id;

    let error = there.resume(&workflow, run).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RunBusy, "{error}");
    assert!(there.recover().await.unwrap().is_empty());
    // After its release here, the run continues in the other store.
    drop(stream);
    while !other
        .registry()
        .runs("app", &RunFilter::unfinished())
        .await
        .unwrap()[0]
        .is_ready
    {
        tokio::task::yield_now().await;
    }
    there.resume(&workflow, run).await.unwrap();
    assert!(there.recover().await.unwrap().is_empty() && here.recover().await.unwrap().is_empty());
    let unknown = here.resume(
        &workflow,
        "e-01890000-0000-7000-8000-000000000000".parse().unwrap(),
    );
    assert_eq!(unknown.await.unwrap_err().kind(), ErrorKind::UnknownRun);
}

/// A session that is deleted and created again gets no event of a run of the deleted session, and
/// no process continues that run.
pub async fn a_run_of_a_deleted_session_writes_nothing(place: &dyn DynPlace) {
    let (one, two) = (place.open_dyn().await, place.open_dyn().await);
    let tree = || Tree::new("w", vec![run(say("a")), run(say("b"))]);
    let (runner, workflow) = (one.runner("app"), tree());
    let mut stream = runner.session("u", "s").run(&workflow, "go").stream();
    stream.next().await.unwrap().unwrap();
    assert!(two.sessions.delete(&key()).await.unwrap());
    let created = two.sessions.create(key(), StateDelta::default()).await;
    created.unwrap();
    while stream.next().await.is_some_and(|event| event.is_ok()) {}
    drop(stream);
    let filter = EventFilter::new();
    let found = two.sessions.read(&key(), &filter).await.unwrap().unwrap();
    assert_eq!(found.len, 0, "{:?}", found.events);
    let recovered = two.knows("app", tree()).recover().await.unwrap();
    assert!(recovered.is_empty(), "{recovered:?}");
}

/// Makes an agent with a call that is noted in a file, and an event with its result.
pub(crate) fn calls(name: &'static str, world: PathBuf) -> By {
    by(name, move |cx| {
        let world = world.clone();
        Box::pin(async move {
            let n: u64 = cx.state().get(name)?.unwrap_or(0);
            let line = cx.path().to_string();
            let call = cx.step("call", async move {
                notes(&world, &line);
                tokio::time::sleep(Duration::from_millis(1)).await;
                Ok(n + 1)
            });
            let next = call.await?;
            cx.emit(
                Event::new()
                    .with_text(format!("{name} {next}"))
                    .with_state(name, next),
            )
            .await?;
            cx.emit(
                Event::new()
                    .with_text("and")
                    .with_state(format!("temp:{name}"), next),
            )
            .await?;
            let kept: Option<u64> = cx.state().get(&format!("temp:{name}"))?;
            assert_eq!(kept, Some(next));
            Ok(Flow::Continue)
        })
    })
}

/// Builds a workflow of agents that make calls.
fn calling(world: &Path) -> Tree {
    let one = |name| run(calls(name, world.to_owned()));
    let inner = repeat("inner", Some(2), vec![one("d")]);
    let round = vec![one("a"), parallel("p", vec![one("b"), one("c")]), inner];
    Tree::new("w", vec![repeat("outer", Some(6), round), one("e")])
}
