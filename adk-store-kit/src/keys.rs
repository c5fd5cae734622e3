//! Promises about request keys, and of runs that several requests start under one id.

use crate::place::DynPlace;
use crate::trees::{Tree, by, run};
use adk_build::engine::{KeyBinding, RequestKey, RequestKeys, RunFilter, RunStatus};
use adk_build::testing::ScriptedModel;
use adk_build::{ErrorKind, Event, Flow, RunConfig, RunId, Runner, SessionTurns};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

const DAY: Duration = Duration::from_secs(24 * 3600);

fn keys(runner: &Runner) -> &dyn RequestKeys {
    runner.engine().keys().expect("the engine has request keys")
}

fn key(app: &str, scope: &str, key: &str) -> RequestKey {
    RequestKey::new(app, scope, key)
}

/// A key has one binding for its lifetime, for each app and scope, visible to every program.
pub async fn a_key_has_one_binding(place: &dyn DynPlace) {
    let (here, there) = (
        place.runner(ScriptedModel::new()).await,
        place.runner(ScriptedModel::new()).await,
    );
    let long = "k".repeat(255);
    let odd = "o'neil; --\u{1F408} \"\\";
    // Each row: key, proposed binding, lifetime, and resulting binding.
    for (nth, (key, proposed, lifetime, bound)) in [
        (key("a", "s", "k"), ("one", "x"), DAY, ("one", "x")),
        (key("a", "s", "k"), ("one", "x"), DAY, ("one", "x")),
        (key("a", "s", "k"), ("two", "y"), DAY, ("one", "x")),
        (key("b", "s", "k"), ("two", "y"), DAY, ("two", "y")),
        (key("a", "t", "k"), ("three", "y"), DAY, ("three", "y")),
        (key("a", "s", "K"), ("four", "y"), DAY, ("four", "y")),
        (key("a", "", &long), ("five", "y"), DAY, ("five", "y")),
        (key("a", odd, odd), (odd, odd), DAY, (odd, odd)),
        // A key whose lifetime is over is free.
        (
            key("a", "s", "short"),
            ("one", "x"),
            Duration::ZERO,
            ("one", "x"),
        ),
        (key("a", "s", "short"), ("two", "y"), DAY, ("two", "y")),
        (key("a", "s", "short"), ("three", "z"), DAY, ("two", "y")),
        (
            key("a", "s", "forever"),
            ("one", "x"),
            Duration::MAX,
            ("one", "x"),
        ),
        (key("a", "s", "forever"), ("two", "x"), DAY, ("one", "x")),
    ]
    .into_iter()
    .enumerate()
    {
        let runner = if nth % 2 == 0 { &here } else { &there };
        let proposed = KeyBinding::new(proposed.0, proposed.1);
        let got = keys(runner)
            .bind(&key, &proposed, None, lifetime)
            .await
            .unwrap();
        assert_eq!((&*got.target, &*got.digest), bound, "request {nth}");
    }
}

/// A binding is replaced only if it is still the one that the caller names in `replaces`.
pub async fn only_the_expected_binding_is_replaced(place: &dyn DynPlace) {
    let runner = place.runner(ScriptedModel::new()).await;
    let keys = keys(&runner);
    let key = key("a", "s", "k");
    let [one, two, three] = ["one", "two", "three"].map(|target| KeyBinding::new(target, target));
    for (replaces, proposed, bound) in [
        // The key is free.
        (Some("none"), &one, &one),
        (Some("none"), &two, &one),
        (Some("one"), &two, &two),
        // Another request was faster.
        (Some("one"), &three, &two),
        (None, &three, &two),
        (Some("two"), &two, &two),
    ] {
        assert_eq!(
            keys.bind(&key, proposed, replaces, DAY).await.unwrap(),
            *bound,
            "{replaces:?}"
        );
    }
}

/// Exactly one of concurrent requests gets the key.
pub async fn one_of_concurrent_requests_gets_the_key(place: &dyn DynPlace) {
    let (here, there) = (
        place.runner(ScriptedModel::new()).await,
        place.runner(ScriptedModel::new()).await,
    );
    let mut all = JoinSet::new();
    for nth in 0..16 {
        let runner = if nth % 2 == 0 {
            here.clone()
        } else {
            there.clone()
        };
        all.spawn(async move {
            let proposed = KeyBinding::new(nth.to_string(), "x");
            let bound = keys(&runner)
                .bind(&key("a", "s", "k"), &proposed, None, DAY)
                .await
                .unwrap();
            (bound == proposed, bound)
        });
    }
    let all = all.join_all().await;
    assert_eq!(
        all.iter().filter(|(is_first, _)| *is_first).count(),
        1,
        "{all:?}"
    );
    assert!(all.iter().all(|(_, bound)| *bound == all[0].1), "{all:?}");
}

/// Expired keys are deleted while new ones arrive.
pub async fn expired_keys_are_deleted(place: &dyn DynPlace) {
    let runner = place.runner(ScriptedModel::new()).await;
    let keys = keys(&runner);
    let bound = KeyBinding::new("run", "digest");
    for nth in 0..40 {
        keys.bind(
            &key("a", "s", &format!("short {nth}")),
            &bound,
            None,
            Duration::ZERO,
        )
        .await
        .unwrap();
    }
    for nth in 0..3 {
        keys.bind(&key("a", "s", &format!("long {nth}")), &bound, None, DAY)
            .await
            .unwrap();
    }
    // A place that cannot count keeps the promise unseen.
    let count = place.request_key_count_dyn().await;
    assert_eq!(count.unwrap_or(3), 3);
}

/// Builds a workflow that counts its executions, and whose first execution waits for the gate.
fn pays(paid: &Arc<AtomicU32>, gate: &Arc<Semaphore>) -> Arc<Tree> {
    let (paid, gate) = (paid.clone(), gate.clone());
    let pays = by("pays", move |cx| {
        let (paid, gate) = (paid.clone(), gate.clone());
        Box::pin(async move {
            if paid.fetch_add(1, SeqCst) == 0 {
                gate.acquire().await.unwrap().forget();
            }
            cx.emit(Event::new().with_text("paid")).await?;
            Ok(Flow::Continue)
        })
    });
    Arc::new(Tree::new("pays", vec![run(pays)]))
}

fn is_refused<T: std::fmt::Debug>(ended: adk_build::Result<T>) {
    let error = ended.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RunExists, "{error}");
    assert!(
        error.to_string().contains("exists already; help: "),
        "{error}"
    );
}

/// A second run with a stored id is refused, from every program and in every session: before,
/// during and after the first run, which is unaffected.
pub async fn a_run_id_begins_one_run(place: &dyn DynPlace) {
    let (here, there) = (
        place.runner(ScriptedModel::new()).await,
        place.runner(ScriptedModel::new()).await,
    );
    let config = RunConfig::default().turns(SessionTurns::Share);
    for second in [&here, &there] {
        for session in ["same", "other"] {
            let (paid, gate) = (Arc::default(), Arc::new(Semaphore::new(0)));
            let (tree, id) = (pays(&paid, &gate), RunId::new());
            let begin = |runner: &Runner, session: &str| {
                let request = runner.session("u", session).run(tree.clone(), "go");
                request.config(config.clone()).run_id(id)
            };
            let mut first = begin(&here, "same").stream();
            assert_eq!(first.next().await.unwrap().unwrap().invocation_id, id);
            is_refused(begin(second, session).await);
            // A run without a reader is dropped in the middle, or before it starts.
            let mut dropped = begin(second, session).stream();
            tokio::select! {
                biased;
                event = dropped.next() => is_refused(event.unwrap()),
                () = async {} => {}
            }
            drop(dropped);
            drop(begin(second, session).stream());
            // This list is read after the posts of the dropped runs.
            let now = here.runs(&RunFilter::of_run(id)).await.unwrap().remove(0);
            assert!(now.status == RunStatus::Running && !now.is_ready, "{now:?}");
            gate.add_permits(1);
            first.finish().await.unwrap();
            is_refused(begin(second, session).await);
            let now = there.runs(&RunFilter::of_run(id)).await.unwrap().remove(0);
            assert_eq!(
                (now.status, &*now.session.id),
                (RunStatus::Finished, "same")
            );
            assert_eq!(paid.load(SeqCst), 1);
        }
    }
}

/// Exactly one of concurrent runs with one id is executed.
pub async fn one_of_concurrent_runs_begins(place: &dyn DynPlace) {
    let (here, there) = (
        place.runner(ScriptedModel::new()).await,
        place.runner(ScriptedModel::new()).await,
    );
    for turns in [SessionTurns::Share, SessionTurns::Queue] {
        let (paid, gate) = (Arc::default(), Arc::new(Semaphore::new(100)));
        let (tree, id) = (pays(&paid, &gate), RunId::new());
        let mut all = JoinSet::new();
        for nth in 0..8 {
            let runner = if nth % 2 == 0 { &here } else { &there };
            let session = if nth % 4 < 2 { "one" } else { "two" };
            let request = runner.session("u", session).run(tree.clone(), "go");
            all.spawn(
                request
                    .config(RunConfig::default().turns(turns))
                    .run_id(id)
                    .into_future(),
            );
        }
        let (ended, refused): (Vec<_>, Vec<_>) =
            all.join_all().await.into_iter().partition(Result::is_ok);
        assert_eq!(
            (ended.len(), refused.len(), paid.load(SeqCst)),
            (1, 7, 1),
            "{refused:?}"
        );
        refused.into_iter().for_each(is_refused);
    }
}
