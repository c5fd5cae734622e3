//! Promises about runs that wait for the turn of their session, with two runners on one store, as
//! in two programs.

use crate::place::{DynPlace, OpenStore};
use crate::trees::{By, Tree, by, run};
use adk_build::engine::{RunFilter, RunInfo, RunStatus};
use adk_build::testing::ScriptedModel;
use adk_build::{ErrorKind, Event, Flow, RunId, RunStream, Runner, StateDelta};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// Makes an agent that reports the messages of earlier runs in the session, and adds its own. The
/// gate holds a run with the message `first` before it adds its message.
fn adds(gate: &Arc<Notify>) -> By {
    let gate = gate.clone();
    by("adds", move |cx| {
        let gate = gate.clone();
        Box::pin(async move {
            let topic: String = cx.state().get("topic")?.unwrap_or_default();
            let seen: String = cx.state().get("user:seen")?.unwrap_or_default();
            cx.emit(Event::new().with_text(format!("{topic} saw {seen}")))
                .await?;
            if topic == "first" {
                let wait = async move {
                    gate.notified().await;
                    Ok(true)
                };
                cx.step("gate", wait).await?;
            }
            cx.emit(Event::new().with_state("user:seen", format!("{seen}{topic};")))
                .await?;
            Ok(Flow::Continue)
        })
    })
}

pub(crate) fn adding(gate: &Arc<Notify>) -> Tree {
    Tree::new("w", vec![run(adds(gate))])
}

async fn info(runner: &Runner, id: RunId) -> RunInfo {
    runner.runs(&RunFilter::of_run(id)).await.unwrap().remove(0)
}

async fn status(runner: &Runner, id: RunId) -> RunStatus {
    info(runner, id).await.status
}

/// Returns the texts of the agents of a session.
pub(crate) async fn texts(runner: &Runner) -> Vec<String> {
    let session = runner.session("ann", "s").open().await.unwrap();
    session.load(0..session.len()).await.unwrap();
    let said = session
        .events()
        .filter(|event| event.author == "adds")
        .map(|event| event.text());
    said.filter(|text| !text.is_empty()).collect()
}

fn ask(runner: &Runner, tree: &Arc<Tree>, topic: &str) -> RunStream<'static, ()> {
    runner.session("ann", "s").run(tree.clone(), topic).stream()
}

/// Starts a run that holds the turn of the session at its gate.
async fn holder(runner: &Runner, tree: &Arc<Tree>) -> RunStream<'static, ()> {
    let mut stream = ask(runner, tree, "first");
    assert_eq!(stream.next().await.unwrap().unwrap().author, "user");
    assert!(
        stream
            .next()
            .await
            .unwrap()
            .unwrap()
            .text()
            .starts_with("first saw ")
    );
    stream
}

async fn outcome_of(mut stream: RunStream<'static, ()>) -> Result<(), ErrorKind> {
    while let Some(event) = stream.next().await {
        event.map_err(|error| error.kind())?;
    }
    Ok(())
}

/// A queued run is listed, and any program may cancel it; it then never starts. A run that starts
/// finds the current session, also when it is resumed.
pub async fn a_queued_run_is_listed(place: &dyn DynPlace) {
    let (here, there) = (
        place.runner(ScriptedModel::new()).await,
        place.runner(ScriptedModel::new()).await,
    );
    let gate = Arc::new(Notify::new());
    let tree = Arc::new(adding(&gate));
    let state = StateDelta::from_iter([("user:seen", json!("x;"))]);
    here.session("ann", "s").create(state).await.unwrap();
    let first = holder(&here, &tree).await;
    let mut waiting = Vec::new();
    for topic in ["a", "b", "c", "d"] {
        let mut stream = ask(&here, &tree, topic);
        let id = stream.entered().await.unwrap();
        assert_eq!(
            stream.entered().await.unwrap(),
            id,
            "entering is idempotent"
        );
        waiting.push((id, stream));
    }
    let ids: Vec<_> = waiting.iter().map(|(id, _)| *id).collect();
    for runner in [&here, &there] {
        let open = runner
            .runs(&RunFilter::unfinished().oldest_first())
            .await
            .unwrap();
        let listed: Vec<_> = open[1..]
            .iter()
            .map(|run| (run.run_id, &run.status, run.is_ready))
            .collect();
        assert_eq!(open[0].status, RunStatus::Running);
        assert_eq!(
            listed,
            ids.iter()
                .map(|id| (*id, &RunStatus::Queued, false))
                .collect::<Vec<_>>()
        );
        assert_eq!(
            there.resume(&*tree, ids[0]).await.unwrap_err().kind(),
            ErrorKind::RunBusy
        );
    }
    let [(a, mut wait_a), (b, wait_b), (c, wait_c), (d, wait_d)] =
        waiting.try_into().unwrap_or_else(|_| panic!());
    // The first cancel acts at once, in the middle of the queue; the second, from another program,
    // acts when the turn arrives.
    assert_eq!(here.cancel(b).await.unwrap(), RunStatus::Cancelled);
    assert_eq!(outcome_of(wait_b).await, Err(ErrorKind::Cancelled));
    assert_eq!(there.cancel(c).await.unwrap(), RunStatus::Cancelled);
    gate.notify_one();
    assert_eq!(outcome_of(first).await, Ok(()));
    assert_eq!(wait_a.next().await.unwrap().unwrap().invocation_id, a);
    assert_eq!(status(&there, a).await, RunStatus::Running);
    // The run is dropped after its first event, and another program resumes it after the others.
    drop(wait_a);
    assert_eq!(outcome_of(wait_c).await, Err(ErrorKind::Cancelled));
    assert_eq!(outcome_of(wait_d).await, Ok(()));
    while !info(&there, a).await.is_ready {
        tokio::task::yield_now().await;
    }
    there.resume(&*tree, a).await.unwrap();
    assert_eq!(
        texts(&there).await,
        ["first saw x;", "d saw x;first;", "a saw x;first;d;"]
    );
    let ended = [
        status(&here, a).await,
        status(&here, b).await,
        status(&here, c).await,
        status(&here, d).await,
    ];
    use RunStatus::{Cancelled, Finished};
    assert_eq!(ended, [Finished, Cancelled, Cancelled, Finished]);
    assert_eq!(there.runs(&RunFilter::ready()).await.unwrap(), []);
}

/// Queued runs whose process has ended start in the order of their requests, after the run that had
/// the turn.
pub async fn queued_runs_begin_in_order(place: &dyn DynPlace) {
    for is_watched in [false, true] {
        let (here, there) = (
            place.runner(ScriptedModel::new()).await,
            place.runner(ScriptedModel::new()).await,
        );
        let user = if is_watched { "watched" } else { "recovered" };
        let gate = Arc::new(Notify::new());
        let tree = Arc::new(adding(&gate));
        let session = here.session(user, "s");
        // The ids are in another order.
        let mut ids: Vec<_> = (0..4).map(|_| RunId::new()).collect();
        ids.sort();
        let mut streams = Vec::new();
        for (topic, id) in ["first", "a", "b", "c"].iter().zip(ids.iter().rev()) {
            let mut stream = session.run(tree.clone(), *topic).run_id(*id).stream();
            assert_eq!(stream.entered().await.unwrap(), *id);
            streams.push(stream);
        }
        // The program ends in the middle of the first run.
        drop(streams);
        while there
            .runs(&RunFilter::ready().user(user))
            .await
            .unwrap()
            .len()
            < 4
        {
            tokio::task::yield_now().await;
        }
        gate.notify_one();
        let there = there.with_workflow(adding(&gate));
        if is_watched {
            let (sender, mut ended) = tokio::sync::mpsc::unbounded_channel();
            let watch = there
                .watch()
                .every(Duration::from_millis(1))
                .inspect(move |run| drop(sender.send(run)));
            let watch = tokio::spawn(watch.into_future());
            for _ in 0..4 {
                assert!(ended.recv().await.unwrap().result.unwrap().is_empty());
            }
            watch.abort();
        } else {
            let recovered = there.recover().await.unwrap();
            assert!(
                recovered.len() == 4 && recovered.iter().all(|run| run.result.is_ok()),
                "{recovered:?}"
            );
        }
        let session = there.session(user, "s").open().await.unwrap();
        session.load(0..session.len()).await.unwrap();
        let said = session
            .events()
            .filter(|event| event.author == "adds")
            .map(|event| event.text());
        let said: Vec<_> = said.filter(|text| !text.is_empty()).collect();
        assert_eq!(
            said,
            [
                "first saw ",
                "a saw first;",
                "b saw first;a;",
                "c saw first;a;b;"
            ],
            "{user}"
        );
    }
}

/// The id of a run is used once, by any program, and in any state of that run.
pub async fn a_run_id_is_taken_once(place: &dyn DynPlace) {
    let (here, there) = (
        place.runner(ScriptedModel::new()).await,
        place.runner(ScriptedModel::new()).await,
    );
    let gate = Arc::new(Notify::new());
    let tree = Arc::new(adding(&gate));
    let session = here.session("ann", "s");
    let (running, queued) = (RunId::new(), RunId::new());
    let mut first = session.run(tree.clone(), "first").run_id(running).stream();
    assert_eq!(first.entered().await.unwrap(), running);
    let mut second = session.run(tree.clone(), "a").run_id(queued).stream();
    assert_eq!(second.entered().await.unwrap(), queued);
    let refused = async |id: RunId| {
        for runner in [&here, &there] {
            for session in ["s", "other"] {
                let mut again = runner
                    .session("ann", session)
                    .run(&*tree, "again")
                    .run_id(id)
                    .stream();
                let error = again.entered().await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::RunExists, "{error}");
                assert!(error.message().contains(&format!("`{id}`")), "{error}");
            }
            // A run of the same id that fails before its first event does not end the stored run.
            let blank = runner
                .session("ann", "other")
                .run(&*tree, " ")
                .run_id(id)
                .await
                .unwrap_err();
            assert_eq!(blank.kind(), ErrorKind::EmptyInput, "{blank}");
        }
    };
    refused(queued).await;
    refused(running).await;
    assert_eq!(
        (status(&there, running).await, status(&there, queued).await),
        (RunStatus::Running, RunStatus::Queued)
    );
    gate.notify_one();
    assert_eq!(outcome_of(first).await, Ok(()));
    assert_eq!(outcome_of(second).await, Ok(()));
    refused(running).await;
    refused(queued).await;
    assert_eq!(texts(&there).await, ["first saw ", "a saw first;"]);
    assert_eq!(there.runs(&RunFilter::any()).await.unwrap().len(), 2);
    asks_at_once(&here, &there, &tree).await;
}

/// Makes concurrent requests with one id in two free sessions.
async fn asks_at_once(here: &Runner, there: &Runner, tree: &Arc<Tree>) {
    for n in 0..8 {
        let id = RunId::new();
        let ask = |runner: &Runner, session: &str| {
            runner
                .session("bob", format!("{session} {n}"))
                .run(tree.clone(), "x")
                .run_id(id)
                .into_future()
        };
        let ended = tokio::join!(
            ask(here, "one"),
            ask(here, "two"),
            ask(there, "one"),
            ask(there, "two")
        );
        let ended = [ended.0, ended.1, ended.2, ended.3];
        let failed: Vec<_> = ended
            .iter()
            .filter_map(|ended| Some(ended.as_ref().err()?.kind()))
            .collect();
        assert_eq!(failed, [ErrorKind::RunExists; 3]);
        let events = async |session: &str| {
            let session = here
                .session("bob", format!("{session} {n}"))
                .open()
                .await
                .unwrap();
            session.len()
        };
        assert_eq!(
            events("one").await + events("two").await,
            3,
            "all events are from one run"
        );
    }
}

/// A run inside the run that has the turn is refused, not queued.
pub async fn a_run_inside_the_turn_is_refused(place: &dyn DynPlace) {
    let runner = place.runner(ScriptedModel::new()).await;
    let inner = runner.clone();
    let asks = by("asks", move |cx| {
        let runner = inner.clone();
        Box::pin(async move {
            let tree = Arc::new(adding(&Arc::new(Notify::new())));
            let error = ask(&runner, &tree, "inside").entered().await.unwrap_err();
            assert!(
                error
                    .to_string()
                    .contains("give the inner run a session of its own"),
                "{error}"
            );
            cx.emit(Event::new().with_state("kind", format!("{:?}", error.kind())))
                .await?;
            Ok(Flow::Continue)
        })
    });
    let outer = Tree::new("outer", vec![run(asks)]);
    let outcome = runner.session("ann", "s").run(&outer, "go").await.unwrap();
    assert_eq!(
        outcome.get::<String>("kind").unwrap().as_deref(),
        Some("SessionBusy")
    );
    assert_eq!(runner.runs(&RunFilter::any()).await.unwrap().len(), 1);
}

/// A resumed run ends at once when its own process cancels it: while it is queued, and when it has
/// the turn.
pub async fn a_resumed_run_in_the_queue_is_cancelled(place: &dyn DynPlace) {
    let runner = place.runner(ScriptedModel::new()).await;
    let (gate, hangs) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let signal = hangs.clone();
    let asks = by("asks", move |cx| {
        let signal = signal.clone();
        Box::pin(async move {
            cx.wait::<bool>("decision").await?;
            signal.notify_one();
            std::future::pending().await
        })
    });
    let tree = Arc::new(Tree::new("asking", vec![run(asks)]));
    let session = runner.session("ann", "s");
    for has_turn in [false, true] {
        assert_eq!(
            session.run(&*tree, "go").await.unwrap_err().kind(),
            ErrorKind::Paused
        );
        let wait = runner.waiting().await.unwrap().remove(0);
        runner.answer(&wait.id, true).await.unwrap();
        let holder = if has_turn {
            None
        } else {
            Some(holder(&runner, &Arc::new(adding(&gate))).await)
        };
        let mut resumed = runner.resume(tree.clone(), wait.run_id).stream();
        let cancel = async {
            if has_turn {
                hangs.notified().await;
            }
            while status(&runner, wait.run_id).await != RunStatus::Running {
                tokio::task::yield_now().await;
            }
            runner.cancel(wait.run_id).await.unwrap()
        };
        let (ended, cancelled) = tokio::join!(resumed.next(), cancel);
        assert_eq!(cancelled, RunStatus::Cancelled);
        assert_eq!(ended.unwrap().unwrap_err().kind(), ErrorKind::Cancelled);
        drop(holder);
        for left in runner.runs(&RunFilter::unfinished()).await.unwrap() {
            runner.cancel(left.run_id).await.unwrap();
        }
    }
}

/// Starts a run that never ends and runs that wait for it, in the process that is killed.
pub(crate) async fn waits_in_line(store: OpenStore) {
    let gate = Arc::new(Notify::new());
    let (runner, tree) = (store.knows("app", adding(&gate)), Arc::new(adding(&gate)));
    let first = holder(&runner, &tree).await;
    let mut waiting = [
        first,
        ask(&runner, &tree, "a"),
        ask(&runner, &tree, "b"),
        ask(&runner, &tree, "c"),
    ];
    for stream in &mut waiting[1..] {
        stream.entered().await.unwrap();
    }
    println!("\nqueued");
    for stream in waiting.map(|stream| tokio::spawn(outcome_of(stream))) {
        stream.await.unwrap().unwrap();
    }
}
