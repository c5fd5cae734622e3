//! Promises about tenants: a process resumes the runs of the tenants of its app.

use crate::people::soon;
use crate::place::DynPlace;
use crate::trees::{Tree, by, run, say};
use adk_build::engine::RunFilter;
use adk_build::session::EventFilter;
use adk_build::{ErrorKind, Flow, Result, RunStream, Runner};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::unbounded_channel;

/// Builds the runner of a new process that knows a workflow.
async fn process(place: &dyn DynPlace, app: &str, tree: Tree) -> Runner {
    place.open_dyn().await.knows(app, tree)
}

/// Builds a tree that emits an event, makes a call, and emits another. The call does not end in the
/// first process.
pub(crate) fn cut(goes_on: bool) -> Tree {
    let slow = by("slow", move |cx| {
        Box::pin(async move {
            if goes_on {
                cx.step("model", async { Ok(()) }).await?;
            } else {
                cx.step("model", std::future::pending::<Result<()>>())
                    .await?;
            }
            Ok(Flow::Continue)
        })
    });
    Tree::new("cut", vec![run(say("a")), run(slow), run(say("z"))])
}

/// Starts a run that its process abandons, and returns the stream that holds it until then.
async fn abandoned_run(runner: &Runner) -> RunStream<'static, ()> {
    let mut stream = runner
        .session("u", "s")
        .run(Arc::new(cut(false)), "go")
        .stream();
    for _ in 0..2 {
        stream.next().await.unwrap().unwrap();
    }
    stream
}

async fn last(runner: &Runner) -> String {
    let session = runner
        .session("u", "s")
        .get(&EventFilter::new().last(1))
        .await
        .unwrap()
        .unwrap();
    session.events[0].text()
}

/// A new process resumes the runs that another process left for the tenants of its app, but not
/// those of other programs.
pub async fn abandoned_runs_of_tenants_are_resumed(place: &dyn DynPlace) {
    resumes_abandoned_runs(place, async || {}).await;
}

/// Checks that runs whose process has ended are resumed. `dies` turns a process that only released
/// its runs into a dead one, for a store that can tell them apart.
pub async fn resumes_abandoned_runs(place: &dyn DynPlace, dies: impl AsyncFn()) {
    let own = process(place, "app", cut(false)).await;
    let other = process(place, "other", cut(false)).await;
    let tenants = [
        own.for_app("t1"),
        own.for_app("t1").for_app("t2"),
        other.for_app("t3"),
    ];
    let mut streams = Vec::new();
    for runner in [&own, &other].into_iter().chain(&tenants) {
        streams.push(abandoned_run(runner).await);
    }
    drop((streams, tenants, own, other));
    dies().await;

    let resumed = async |runner: &Runner, many: usize| {
        let (sender, mut reports) = unbounded_channel();
        let watch = runner
            .watch()
            .every(Duration::from_millis(5))
            .inspect(move |run| drop(sender.send(run)));
        let all = async {
            let mut apps = Vec::new();
            while apps.len() < many {
                let run = reports.recv().await.expect("the watch continues");
                assert!(run.result.unwrap().is_empty());
                apps.push(run.session.app);
            }
            apps.sort();
            apps
        };
        tokio::select! {
            error = watch.into_future() => panic!("{error}"),
            all = all => all,
        }
    };
    let next = process(place, "app", cut(true)).await;
    let (first, second) = (next.for_app("t1"), next.for_app("t2"));
    assert_eq!(
        resumed(&first, 1).await,
        ["t1"],
        "the runner of a tenant resumes only its runs"
    );
    assert_eq!(last(&second).await, "a");
    assert_eq!(resumed(&next, 2).await, ["app", "t2"]);
    assert!(
        next.recover().await.unwrap().is_empty(),
        "runs of other programs are not recovered"
    );
    for runner in [&next, &first, &second] {
        assert_eq!(last(runner).await, "z");
        assert!(
            runner
                .runs(&RunFilter::unfinished())
                .await
                .unwrap()
                .is_empty()
        );
    }

    let other = process(place, "other", cut(true)).await;
    let third = other.for_app("t3");
    assert_eq!(third.runs(&RunFilter::ready()).await.unwrap().len(), 1);
    let all = other.recover().await.unwrap();
    let mut apps: Vec<_> = all
        .iter()
        .map(|run| (&*run.session.app, run.result.is_ok()))
        .collect();
    apps.sort_unstable();
    assert_eq!(apps, [("other", true), ("t3", true)]);
    assert_eq!(last(&third).await, "z");
}

/// A watch handles an answer to a tenant that another process received, and a deadline of a tenant
/// as soon as it passes.
pub async fn questions_of_tenants_are_watched(place: &dyn DynPlace) {
    let asks = process(place, "app", soon()).await.for_app("t1");
    let paused = asks
        .session("u", "s")
        .run(Arc::new(soon()), "go")
        .await
        .unwrap_err();
    assert_eq!(paused.kind(), ErrorKind::Paused);
    let (watching, person) = (
        process(place, "app", soon()).await,
        process(place, "app", soon()).await.for_app("t1"),
    );
    let waiting = person.waiting().await.unwrap();
    assert_eq!((waiting.len(), &*waiting[0].app), (1, "t1"));
    assert!(
        watching.waiting().await.unwrap().is_empty(),
        "questions of tenants are not listed for the app"
    );
    let stranger = process(place, "other", soon()).await;
    let (sender, mut reports) = unbounded_channel();
    person.answer(&waiting[0].id, 5).await.unwrap();
    assert!(stranger.recover().await.unwrap().is_empty());
    // The watch polls at once, and then at the deadline, long before its own interval is over.
    let watch = watching
        .watch()
        .every(Duration::from_secs(24 * 3600))
        .inspect(move |run| {
            let _ = sender.send((run.session.app, run.result.unwrap().len()));
        });
    let both = async { [reports.recv().await.unwrap(), reports.recv().await.unwrap()] };
    let both = tokio::select! {
        error = watch.into_future() => panic!("{error}"),
        both = both => both,
    };
    assert_eq!(both, [("t1".to_owned(), 1), ("t1".to_owned(), 0)]);
    let tree = soon();
    let outcome = person.resume(&tree, waiting[0].run_id).await.unwrap();
    assert_eq!(
        (
            outcome.get::<u32>("now").unwrap(),
            outcome.get::<u32>("late").unwrap()
        ),
        (Some(5), Some(7))
    );
}
