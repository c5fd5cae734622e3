//! Promises about run lists: their fields and their order.

use crate::place::DynPlace;
use crate::trees::{Tree, by, run, say};
use adk_build::engine::{RunFilter, RunInfo, RunState, RunStatus};
use adk_build::llm::LlmAgent;
use adk_build::model::Usage;
use adk_build::session::{EventFilter, now_micros};
use adk_build::testing::{Reply, ScriptedModel};
use adk_build::{Error, ErrorKind, Event, Flow, RunId, Runner};
use std::sync::Arc;
use tokio::sync::Notify;

/// Makes a model with two replies that report their token counts.
fn counting() -> ScriptedModel {
    ScriptedModel::new()
        .reply(Reply::new().text("one").usage(10, 2))
        .reply(Reply::new().text("two").usage(30, 4))
}

/// Builds a tree that calls a model, waits for a person, and calls a model again.
fn talks() -> Tree {
    let asks = |name: &'static str| run(LlmAgent::builder(name).build().unwrap());
    let waits = by("waits", |cx| {
        Box::pin(async move { cx.wait::<bool>("decision").await.map(Flow::exit_if) })
    });
    Tree::new("talks", vec![asks("first"), run(waits), asks("second")])
}

async fn info(runner: &Runner, run: RunId) -> RunInfo {
    runner
        .runs(&RunFilter::of_run(run))
        .await
        .unwrap()
        .remove(0)
}

fn usage_of(info: &RunInfo) -> Option<(u64, u64, u64)> {
    info.usage.map(
        |Usage {
             calls,
             input_tokens,
             output_tokens,
             ..
         }| (calls, input_tokens, output_tokens),
    )
}

/// Times and usage continue over a pause and in another program.
pub async fn times_and_usage_continue(place: &dyn DynPlace) {
    let begun = now_micros();
    let model = counting();
    let (here, there) = (place.runner(model.clone()).await, place.runner(model).await);
    let (tree, session) = (talks(), here.session("ann", "s"));
    let mut stream = session.run(&tree, "go").stream();
    let id = stream.next().await.unwrap().unwrap().invocation_id;
    let running = info(&there, id).await;
    assert_eq!(
        (&running.status, usage_of(&running), running.ended()),
        (&RunStatus::Running, None, None)
    );
    assert!(
        begun <= running.created && running.created <= running.updated,
        "{running:?}"
    );
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    drop(stream);
    let paused = info(&there, id).await;
    assert_eq!(
        (&paused.status, usage_of(&paused), paused.ended()),
        (&RunStatus::Paused, Some((1, 10, 2)), None)
    );
    assert!(
        paused.created == running.created && paused.updated >= running.updated,
        "{paused:?}"
    );
    let wait = there.waiting().await.unwrap().remove(0).id;
    there.answer(&wait, false).await.unwrap();
    there.resume(&tree, id).await.unwrap();
    let ended = info(&here, id).await;
    assert_eq!(
        (&ended.status, usage_of(&ended)),
        (&RunStatus::Finished, Some((2, 40, 6))),
        "as a whole"
    );
    assert!(
        ended.created == running.created && ended.updated > paused.updated,
        "{ended:?}"
    );
    assert!(ended.ended() == Some(ended.updated) && ended.updated <= now_micros());
    assert_eq!(
        (ended.session, &*ended.workflow),
        (session.key().clone(), "talks")
    );
}

/// A run that was cancelled in the middle reports its usage, whether its own program or another one
/// cancelled it.
pub async fn cancelled_runs_report_their_usage(place: &dyn DynPlace) {
    let (here, there) = (
        place.runner(counting()).await,
        place.runner(counting()).await,
    );
    for by_itself in [true, false] {
        let gate = Arc::new(Notify::new());
        let speaks = {
            let gate = gate.clone();
            by("speaks", move |cx| {
                let gate = gate.clone();
                Box::pin(async move {
                    gate.notified().await;
                    cx.emit(Event::new().with_text("more")).await?;
                    Ok(Flow::Continue)
                })
            })
        };
        let first = LlmAgent::builder("first").build().unwrap();
        let tree = Tree::new("w", vec![run(first), run(speaks)]);
        let mut stream = here.run(&tree, "go").stream();
        let id = stream.next().await.unwrap().unwrap().invocation_id;
        stream.next().await.unwrap().unwrap();
        let runner = if by_itself { &here } else { &there };
        runner.cancel(id).await.unwrap();
        gate.notify_one();
        assert_eq!(
            stream.next().await.unwrap().unwrap_err().kind(),
            ErrorKind::Cancelled
        );
        let info = info(&there, id).await;
        assert_eq!(
            (&info.status, info.ended()),
            (&RunStatus::Cancelled, Some(info.updated))
        );
        let tokens = if by_itself { (1, 10, 2) } else { (1, 30, 4) };
        assert_eq!(usage_of(&info), Some(tokens));
    }
}

/// Runs are listed by state, newest or oldest first, page by page.
pub async fn runs_are_listed_page_by_page(place: &dyn DynPlace) {
    let runner = place.runner(counting()).await;
    let says = Tree::new("says", vec![run(say("a"))]);
    let fails = Tree::new(
        "fails",
        vec![run(by("fails", |_| {
            Box::pin(async { Err(Error::other("no")) })
        }))],
    );
    let [mut finished, mut failed, mut paused, mut cancelled] = [const { Vec::<RunId>::new() }; 4];
    for user in ["ann", "bob"] {
        let begin = |tree| runner.new_session(user).run(tree, "go");
        finished.push(begin(&says).await.unwrap().run_id);
        begin(&fails).await.unwrap_err();
        failed.push(runner.runs(&RunFilter::failed().limit(1)).await.unwrap()[0].run_id);
        begin(&talks()).await.unwrap_err();
        paused.push(runner.waiting().await.unwrap()[0].run_id);
        let of_ann = RunFilter::any().user("ann");
        cancelled.extend(runner.cancel_where(&of_ann).await.unwrap());
    }
    assert_eq!(cancelled, [paused.remove(0)], "the run of the first user");
    let list = async |filter: &RunFilter| -> Vec<RunId> {
        runner
            .runs(filter)
            .await
            .unwrap()
            .into_iter()
            .map(|run| run.run_id)
            .collect()
    };
    for (filter, mut runs) in [
        (RunFilter::finished(), finished.clone()),
        (RunFilter::failed(), failed.clone()),
        (RunFilter::unfinished(), paused.clone()),
        (RunFilter::cancelled(), cancelled.clone()),
        (
            RunFilter::any(),
            [&*finished, &failed, &paused, &cancelled].concat(),
        ),
        (
            RunFilter::any().user("bob"),
            vec![finished[1], failed[1], paused[0]],
        ),
        (RunFilter::finished().user("ann"), vec![finished[0]]),
        (RunFilter::failed().user("bob"), vec![failed[1]]),
        (RunFilter::unfinished().user("bob"), vec![paused[0]]),
        (RunFilter::unfinished().user("ann"), vec![]),
        (RunFilter::any().user("nobody"), vec![]),
        (RunFilter::any().workflows(["says"]), finished.clone()),
    ] {
        runs.sort();
        assert_eq!(
            list(&filter.clone().oldest_first()).await,
            runs,
            "{filter:?}"
        );
        runs.reverse();
        assert_eq!(list(&filter).await, runs, "the newest first: {filter:?}");
        for filter in [filter.clone().limit(2), filter.oldest_first().limit(2)] {
            let (mut page, mut all) = (filter, Vec::new());
            loop {
                let runs = list(&page).await;
                let Some(last) = runs.last() else { break };
                assert!(runs.len() <= 2);
                page = page.after(*last);
                all.extend(runs);
            }
            if page.oldest_first {
                all.reverse();
            }
            assert_eq!(all, runs, "by pages: {page:?}");
        }
    }
    check_pages_by_change(&runner).await;
    check_counts(&runner, paused.len()).await;

    check_facts(&runner, failed[0], cancelled[0], finished[0]).await;
}

/// Checks the error of a failed run, and the known facts of a run that was cancelled while it
/// waited.
async fn check_facts(runner: &Runner, failed: RunId, cancelled: RunId, finished: RunId) {
    let RunStatus::Failed(error) = info(runner, failed).await.status else {
        panic!("the run has not failed")
    };
    assert!(error.message.contains("no"), "{error}");
    assert_eq!(usage_of(&info(runner, cancelled).await), Some((1, 10, 2)));
    assert_eq!(usage_of(&info(runner, finished).await), Some((0, 0, 0)));
}

/// Lists by the last change; an earlier run may have changed last.
async fn check_pages_by_change(runner: &Runner) {
    let mut all = runner.runs(&RunFilter::any()).await.unwrap();
    let order = |run: &RunInfo| (run.updated, run.run_id);
    all.sort_by_key(|run| std::cmp::Reverse(order(run)));
    let since = all[4].updated;
    for changed_since in [0, since, since + 1] {
        let mut page = RunFilter::any().limit(2);
        (page.by_change, page.changed_since) = (true, changed_since);
        let wanted = all.iter().filter(|run| run.updated >= changed_since);
        let wanted: Vec<_> = wanted.map(|run| run.run_id).collect();
        let (mut found, mut count) = (Vec::new(), page.clone());
        count.limit = None;
        assert_eq!(runner.count_runs(&count).await.unwrap(), wanted.len());
        loop {
            let runs = runner.runs(&page).await.unwrap();
            let Some(last) = runs.last() else { break };
            assert!(runs.len() <= 2);
            page.after_change = Some(order(last));
            found.extend(runs.iter().map(|run| run.run_id));
        }
        assert_eq!(found, wanted, "changed since {changed_since}");
    }
}

/// Counts all runs, of which `paused` wait.
async fn check_counts(runner: &Runner, paused: usize) {
    let all = runner.runs(&RunFilter::any()).await.unwrap().len();
    for (state, count) in [
        (RunState::Queued, 0),
        (RunState::Running, 0),
        (RunState::Paused, paused),
        (RunState::Ready, 0),
        (RunState::Any, all),
    ] {
        let mut filter = RunFilter::any();
        filter.state = state;
        assert_eq!(
            runner.count_runs(&filter).await.unwrap(),
            count,
            "{state:?}"
        );
        let listed = runner.runs(&filter).await.unwrap();
        assert_eq!(listed.len(), count, "{state:?}");
    }
    let of_bob = RunFilter::any().user("bob").limit(2);
    assert_eq!(runner.count_runs(&of_bob).await.unwrap(), 2);
}

/// Deletes runs through one program that another program has executed. Only ended runs of the app
/// go, with their journals; their events stay, and new runs of their sessions are as any others.
pub async fn only_ended_runs_are_deleted(place: &dyn DynPlace) {
    let (here, there) = (
        place.runner(counting()).await,
        place.runner(counting()).await,
    );
    let registry = there.engine().registry().unwrap();
    let one = Tree::new("one", vec![run(say("a"))]);
    let session = here.session("ann", "s");
    let mut runs = Vec::new();
    for (tree, fails) in [(&one, false), (&talks(), false), (&failing(), true)] {
        let mut stream = session.run(tree, "go").stream();
        while let Some(event) = stream.next().await {
            match event {
                Ok(event) => runs.push(event.invocation_id),
                Err(error) => assert!(fails, "{error}"),
            }
        }
    }
    runs.dedup();
    let [finished, paused, failed] = *runs else {
        panic!("three runs: {runs:?}")
    };
    let time = info(&there, finished).await.updated;
    let later = now_micros() + 60_000_000;
    let delete = async |app: &str, before| {
        let deleted = registry.delete_ended(app, &runs, before).await;
        deleted.unwrap()
    };
    assert_eq!(delete("other", later).await, 0, "runs of another app stay");
    assert_eq!(delete("app", time).await, 0, "later runs stay");
    assert_eq!(delete("app", later).await, 2);
    assert_eq!(delete("app", later).await, 0);
    let left = there.runs(&RunFilter::any()).await.unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].run_id, paused);
    let unknown = there.resume(&failing(), failed).await.unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::UnknownRun);
    let count = async || {
        let stored = there.session("ann", "s").get(&EventFilter::new()).await;
        stored.unwrap().unwrap().len
    };
    let before = count().await;
    assert!(before >= 4, "the events stay: {before}");
    // The waiting run continues, and a new run fills its own slots.
    let wait = there.waiting().await.unwrap().remove(0).id;
    there.answer(&wait, false).await.unwrap();
    there.resume(&talks(), paused).await.unwrap();
    assert_eq!(delete("app", later).await, 1);
    let before = count().await;
    for nth in 1..=3 {
        session.run(&one, "go").await.unwrap();
        assert_eq!(count().await, before + 2 * nth);
    }
    assert_eq!(there.runs(&RunFilter::any()).await.unwrap().len(), 3);
}

fn failing() -> Tree {
    let fails = by("fails", |_| {
        Box::pin(async { Err(Error::new(ErrorKind::Agent, "it fails")) })
    });
    Tree::new("failing", vec![run(fails)])
}
