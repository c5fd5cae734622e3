//! Benchmarks of waits for all stores: an answer and the run that it wakes among many waiting runs,
//! and many passed deadlines.

use crate::place::OpenStore;
use crate::trees::{Tree, run, say};
use adk_build::{Await, Runner};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

pub(super) fn asks(timeout: Option<Duration>) -> Tree {
    let mut ask = Await::builder::<bool>("yes").question("Go on?");
    if let Some(timeout) = timeout {
        ask = ask.timeout(timeout).default(false);
    }
    Tree::new("w", vec![run(ask.build()), run(say("end"))])
}

/// Starts runs that wait.
pub(super) async fn pause(runner: &Runner, tree: &Arc<Tree>, runs: std::ops::Range<usize>) {
    let mut begun = JoinSet::new();
    for n in runs {
        if begun.len() >= 256 {
            begun.join_next().await.unwrap().unwrap();
        }
        let request = runner
            .session("u", format!("s{n}"))
            .run(tree.clone(), "go")
            .into_future();
        begun.spawn(async move { request.await.unwrap_err() });
    }
    begun.join_all().await;
}

pub(super) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Measures the median time of an answer, and of resuming an answered run, one after the other,
/// among a number of waits.
pub async fn answers(name: &str, store: &OpenStore, among: &[usize]) {
    let runner = store.runner("app");
    let tree = Arc::new(asks(None));
    let mut there = 0;
    for among in among {
        pause(&runner, &tree, there..*among).await;
        there = *among;
        let ids: Vec<_> = runner
            .waiting()
            .await
            .unwrap()
            .into_iter()
            .take(50)
            .collect();
        let (mut answered, mut driven) = (Vec::new(), Vec::new());
        for wait in ids {
            let begin = Instant::now();
            runner.answer(&wait.id, true).await.unwrap();
            answered.push(begin.elapsed());
            let begin = Instant::now();
            runner.resume(tree.clone(), wait.run_id).await.unwrap();
            driven.push(begin.elapsed());
        }
        let (answer, resume) = (median(answered), median(driven));
        println!(
            "{name}: among {among} waits: an answer {answer:.1?}, a resume to the end {resume:.1?}"
        );
    }
}

/// Measures how long a watch takes to drive runs past their deadlines, and the maximum delay of a
/// run with a later deadline.
pub async fn deadlines(name: &str, store: &OpenStore, runs: usize) {
    let builder = Runner::builder().app_name("due").store(store.clone());
    let runner: Runner = builder
        .workflow(asks(Some(Duration::from_millis(1))))
        .build()
        .unwrap();
    pause(
        &runner,
        &Arc::new(asks(Some(Duration::from_millis(1)))),
        0..runs,
    )
    .await;
    let (sender, mut driven) = tokio::sync::mpsc::unbounded_channel();
    let begin = Instant::now();
    let watch = runner.watch().inspect(move |run| drop(sender.send(run)));
    let watch = tokio::spawn(watch.into_future());
    for _ in 0..runs {
        assert!(driven.recv().await.unwrap().result.unwrap().is_empty());
    }
    println!(
        "{name}: {runs} runs past their deadline are driven in {:.1?}",
        begin.elapsed()
    );
    let mut late = Duration::ZERO;
    for n in 0..20 {
        let later = Arc::new(asks(Some(Duration::from_millis(300))));
        let begin = Instant::now();
        pause(&runner, &later, runs + n..runs + n + 1).await;
        driven.recv().await.unwrap().result.unwrap();
        late = late.max(begin.elapsed().saturating_sub(Duration::from_millis(300)));
    }
    println!("{name}: a run that becomes due is driven at most {late:.1?} after its deadline");
    watch.abort();
}
