//! Promises about cancelled runs, with two runners on one store, as in two programs.

use crate::place::DynPlace;
use crate::trees::{By, Tree, by, parallel, run, say};
use adk_build::engine::{RunFilter, RunStatus};
use adk_build::testing::ScriptedModel;
use adk_build::{Error, ErrorKind, Event, Flow, RunEnd, RunId, Runner};
use std::future::pending;
use std::sync::Arc;
use tokio::sync::Notify;

/// Builds a tree that waits for a value from outside.
fn waits() -> Tree {
    let waits = by("waits", |cx| {
        Box::pin(async move { cx.wait::<bool>("decision").await.map(Flow::exit_if) })
    });
    Tree::new("waits", vec![run(waits)])
}

fn hangs() -> By {
    by("hangs", |_| Box::pin(pending()))
}

/// Builds a tree with an agent that emits an event, and another one after the gate place, beside an
/// agent that never ends.
fn speaks(gate: &Arc<Notify>) -> Tree {
    let gate = gate.clone();
    let speaks = by("speaks", move |cx| {
        let gate = gate.clone();
        Box::pin(async move {
            cx.emit(Event::new().with_text("one")).await?;
            gate.notified().await;
            cx.emit(Event::new().with_text("two")).await?;
            Ok(Flow::Continue)
        })
    });
    Tree::new(
        "speaks",
        vec![parallel("p", vec![run(speaks), run(hangs())])],
    )
}

async fn status(runner: &Runner, run: RunId) -> RunStatus {
    runner
        .runs(&RunFilter::of_run(run))
        .await
        .unwrap()
        .remove(0)
        .status
}

/// Starts a run that waits, and returns its id.
async fn paused(runner: &Runner, user: &str) -> RunId {
    let (tree, session) = (waits(), runner.new_session(user));
    let mut stream = session.run(&tree, "go").stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    let RunEnd::Paused(waiting) = stream.end() else {
        panic!("it waits")
    };
    waiting[0].run_id
}

fn is_cancelled(error: &Error, run: RunId) {
    assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
    assert!(
        error.message().contains(&run.to_string()) && !error.is_retryable(),
        "{error}"
    );
}

/// A waiting run is cancelled at once, for every program, and stays cancelled.
pub async fn a_waiting_run_ends_at_once(place: &dyn DynPlace) {
    let here = place.runner(ScriptedModel::new()).await;
    let there = place.runner(ScriptedModel::new()).await;
    let id = paused(&here, "ann").await;
    let wait = there.waiting().await.unwrap().remove(0).id;
    for runner in [&there, &here, &there] {
        assert_eq!(
            runner.cancel(id).await.unwrap(),
            RunStatus::Cancelled,
            "cancel is idempotent"
        );
    }
    assert_eq!(here.waiting().await.unwrap(), []);
    assert_eq!(
        here.answer(&wait, true).await.unwrap_err().kind(),
        ErrorKind::UnknownWait
    );
    is_cancelled(&here.resume(&waits(), id).await.unwrap_err(), id);
    is_cancelled(&there.resume(&waits(), id).await.unwrap_err(), id);
    assert_eq!(status(&here, id).await, RunStatus::Cancelled);
    assert_eq!(there.runs(&RunFilter::unfinished()).await.unwrap(), []);
    assert_eq!(there.runs(&RunFilter::ready()).await.unwrap(), []);
}

/// A run that another program drives ends at its next commit, with all its branches; committed
/// events stay.
pub async fn a_driven_run_ends_at_its_next_commit(place: &dyn DynPlace) {
    let here = place.runner(ScriptedModel::new()).await;
    let there = place.runner(ScriptedModel::new()).await;
    let gate = Arc::new(Notify::new());
    let (tree, session) = (speaks(&gate), here.session("ann", "s"));
    let mut stream = session.run(&tree, "go").stream();
    let id = stream.next().await.unwrap().unwrap().invocation_id;
    assert_eq!(stream.next().await.unwrap().unwrap().text(), "one");
    assert_eq!(there.cancel(id).await.unwrap(), RunStatus::Cancelled);
    gate.notify_one();
    is_cancelled(&stream.next().await.unwrap().unwrap_err(), id);
    assert!(stream.next().await.is_none() && matches!(stream.end(), RunEnd::Failed));
    drop(stream);
    assert_eq!(
        (status(&here, id).await, status(&there, id).await),
        (RunStatus::Cancelled, RunStatus::Cancelled)
    );
    is_cancelled(&there.resume(&tree, id).await.unwrap_err(), id);
    // The session is still usable.
    let more = Tree::new("more", vec![run(say("more"))]);
    session.run(&more, "go on").await.unwrap();
    let texts: Vec<_> = session
        .open()
        .await
        .unwrap()
        .events()
        .map(|event| event.text())
        .collect();
    assert_eq!(texts, ["go", "one", "go on", "more"]);
}

/// A run of this runner is cancelled at once, regardless of what it waits for.
pub async fn a_run_of_this_process_ends_at_once(place: &dyn DynPlace) {
    let runner = place.runner(ScriptedModel::new()).await;
    let tree = Tree::new("w", vec![run(say("one")), run(hangs())]);
    let mut stream = runner.run(&tree, "go").stream();
    let id = stream.next().await.unwrap().unwrap().invocation_id;
    assert_eq!(stream.next().await.unwrap().unwrap().text(), "one");
    let (next, cancelled) = tokio::join!(stream.next(), runner.cancel(id));
    assert_eq!(cancelled.unwrap(), RunStatus::Cancelled);
    is_cancelled(&next.unwrap().unwrap_err(), id);
    assert_eq!(status(&runner, id).await, RunStatus::Cancelled);
}

/// Ended runs do not change, unknown runs are reported, and filters select by status.
pub async fn ended_runs_do_not_change(place: &dyn DynPlace) {
    let runner = place.runner(ScriptedModel::new()).await;
    let done = Tree::new("done", vec![run(say("a"))]);
    let ended = runner.run(&done, "go").await.unwrap().run_id;
    assert_eq!(runner.cancel(ended).await.unwrap(), RunStatus::Finished);
    let fails = by("fails", |_| Box::pin(async { Err(Error::other("no")) }));
    let fails = Tree::new("fails", vec![run(fails)]);
    runner.run(&fails, "go").await.unwrap_err();
    let failed = runner.runs(&RunFilter::failed()).await.unwrap().remove(0);
    assert_eq!(runner.cancel(failed.run_id).await.unwrap(), failed.status);
    let unknown: RunId = "e-01890000-0000-7000-8000-000000000000".parse().unwrap();
    assert_eq!(
        runner.cancel(unknown).await.unwrap_err().kind(),
        ErrorKind::UnknownRun
    );
    let mut ann = vec![paused(&runner, "ann").await, paused(&runner, "ann").await];
    let bob = paused(&runner, "bob").await;
    ann.sort_by(|one, other| other.cmp(one));
    assert_eq!(
        runner
            .cancel_where(&RunFilter::any().user("ann"))
            .await
            .unwrap(),
        ann
    );
    assert_eq!(
        runner
            .cancel_where(&RunFilter::unfinished().user("ann"))
            .await
            .unwrap(),
        []
    );
    assert_eq!(status(&runner, bob).await, RunStatus::Paused);
}
