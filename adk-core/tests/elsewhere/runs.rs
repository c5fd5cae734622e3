//! The same workflows as in the crash tests, on the engine that runs elsewhere.

use super::log::Log;
use super::serve::Process;
use super::{talks, trees};
use crate::support::*;
use adk_core::engine::{BranchReport, MemoryJournal};
use adk_core::spec::Limits;
use adk_core::{ErrorKind, Event, Flow, Runner};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What is the same in every run of a workflow: what was said by path, in order.
pub type Shape = BTreeMap<String, Vec<Value>>;

pub fn shape<'a>(events: impl IntoIterator<Item = &'a Arc<Event>>) -> Shape {
    let mut shape = Shape::new();
    for event in events {
        let state: BTreeMap<_, _> =
            event.actions.state_delta.iter().map(|(key, value)| (key.to_string(), value.clone())).collect();
        let said = json!([event.author.to_string(), event.branch, event.text(), state]);
        shape.entry(event.path.to_string()).or_default().push(said);
    }
    shape
}

/// Where branches were cancelled, how far they had come depends on when.
pub fn comparable(mut shape: Shape, name: &str) -> Shape {
    if name == "parallel that is left" {
        shape.retain(|path, _| !path.contains("/p/a"));
    }
    shape
}

fn whole(tree: fn() -> Tree) -> Shape {
    in_process(async move {
        let runner: Runner = Runner::builder().engine(MemoryJournal::new()).build().unwrap();
        let tree = tree();
        let outcome = runner.run(&tree, "go").await.unwrap();
        shape(outcome.session().events())
    })
}

/// All tasks of a process end with it.
pub fn in_process<T>(body: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(body)
}

/// Runs a workflow, or goes on with the run; whether it came to its end.
fn process(log: &Log, tree: fn() -> Tree, at: usize) -> (Option<Vec<Arc<Event>>>, usize) {
    let process = Process::new(log.clone(), tree, at);
    let events = in_process(async {
        let (runner, posted) = process.runner();
        let tree = tree();
        let request = match log.record_of_run() {
            None => runner.run(&tree, "go"),
            Some(record) => runner.resume(&tree, record.run_id),
        };
        let (ended, _) = process.serve(request, posted, process.killed.notified()).await;
        ended.map(|outcome| outcome.unwrap().session().events().cloned().collect())
    });
    (events, process.points())
}

#[test]
fn branches_elsewhere_come_back_as_if_they_had_run_here() {
    for (name, tree, parallel) in all() {
        let log = Log::default();
        let (events, points) = process(&log, tree, usize::MAX);
        let expected = comparable(whole(tree), name);
        let events = events.unwrap();
        assert_eq!(comparable(shape(&events), name), expected, "{name}: what the run has seen");
        assert_eq!(comparable(shape(&log.events()), name), expected, "{name}: what is in the log");
        assert_eq!(log.branches() > 0, parallel, "{name}");
        assert!(points > 10, "{name}");
    }
}

#[test]
fn a_run_elsewhere_that_is_killed_anywhere_ends_as_if_it_were_not() {
    let mut kills = 0;
    for (name, tree, _) in all() {
        let expected = comparable(whole(tree), name);
        let (_, points) = process(&Log::default(), tree, usize::MAX);
        for at in 0..points {
            let log = Log::default();
            if process(&log, tree, at).0.is_some() {
                continue;
            }
            kills += 1;
            let events = process(&log, tree, usize::MAX).0.unwrap();
            assert_eq!(comparable(shape(&events), name), expected, "{name}, killed at {at}");
            assert_eq!(comparable(shape(&log.events()), name), expected, "{name}, killed at {at}: the log");
        }
    }
    assert!(kills > 300, "only {kills}");
}

#[test]
fn a_wait_in_a_branch_elsewhere_stays_pending_until_there_is_an_answer() {
    fn tree() -> Tree {
        let asks = |name| {
            by(name, move |cx| {
                Box::pin(async move {
                    let yes: bool = cx.wait("decision").await?;
                    cx.emit(Event::new().with_text(format!("{name} {yes}"))).await?;
                    Ok(Flow::Continue)
                })
            })
        };
        Tree::new("w", vec![parallel("p", vec![run(asks("a")), run(asks("b"))]), run(say("z"))])
    }
    let log = Log::default();
    let answers = log.clone();
    let process = Process::new(log.clone(), tree, usize::MAX);
    in_process(async {
        let (runner, posted) = process.runner();
        let workflow = tree();
        let request = runner.run(&workflow, "go");
        let answering = async {
            while answers.asked().len() < 2 {
                tokio::task::yield_now().await;
            }
            for id in answers.asked() {
                answers.answer(&id, json!(true));
            }
            std::future::pending().await
        };
        let (ended, _) = process.serve(request, posted, answering).await;
        ended.unwrap().unwrap();
    });
    let said: Vec<_> = log.events().iter().map(|event| event.text()).collect();
    assert_eq!(said.len(), 4, "{said:?}");
    assert!(said.contains(&"a true".to_owned()) && said.contains(&"b true".to_owned()), "{said:?}");
}

#[test]
fn a_branch_elsewhere_ends_with_the_time_of_its_workflow_whatever_became_of_the_run() {
    fn tree() -> Tree {
        let hangs = by("a", |cx| Box::pin(cx.step("hangs", std::future::pending())));
        let limits = Limits::NONE.time(Duration::from_secs(5));
        Tree::new("w", vec![parallel("p", vec![run(hangs)])]).limits(limits)
    }
    let process = Process::new(Log::default(), tree, usize::MAX);
    let kind = in_process(async {
        let (runner, posted) = process.runner();
        let workflow = tree();
        let (ended, _) = process.serve(runner.run(&workflow, "go"), posted, std::future::pending()).await;
        ended.unwrap().unwrap_err().kind()
    });
    assert_eq!(kind, ErrorKind::BoundsExceeded);
    let task = process.tasks.lock().unwrap().remove(0);
    let told = in_process(async {
        let branch = process.branch(task, std::future::pending());
        tokio::time::timeout(Duration::from_secs(60), branch).await.expect("it ends")
    });
    let report = BranchReport::from_value(told["ended"].clone(), Vec::new()).unwrap();
    assert_eq!(report.end.unwrap_err().kind(), ErrorKind::BoundsExceeded);
}

/// Those of the crash tests, and more.
pub fn all() -> impl Iterator<Item = trees::Named> {
    trees::all().into_iter().chain(talks::all()).chain(more())
}

/// Branches in branches, in rounds, in elements, in workflows and instances of them; one that fails.
fn more() -> Vec<trees::Named> {
    vec![
        (
            "branches in branches in rounds",
            || {
                let inner = parallel("q", vec![run(trees::works("b")), run(trees::works("c"))]);
                let left = sequence("s", vec![run(trees::works("a")), inner]);
                let block = parallel("p", vec![left, run(trees::works("d"))]);
                Tree::new("w", vec![repeat("l", Some(2), vec![block]), run(trees::works("e"))])
            },
            true,
        ),
        (
            "branches in elements of a workflow inside",
            || {
                let block = parallel("p", vec![run(reads_item("b")), run(reads_item("c"))]);
                let inner =
                    Tree::new("inner", vec![each("e", "item", "items", vec![run(reads_item("n")), block])])
                        .lets("items", json!([3, 1]));
                let outer = parallel("o", vec![run(inner), run(trees::works("z"))]);
                Tree::new("w", vec![run(trees::works("a")), outer])
            },
            true,
        ),
    ]
}

/// Says which element it stands in, and what was written there before.
fn reads_item(name: &'static str) -> By {
    let mut agent = by(name, move |cx| {
        Box::pin(async move {
            let item: u64 = cx.state().get("item")?.unwrap_or_default();
            let note: Option<String> = cx.state().get("n")?;
            let text = format!("{name} {item} {note:?}");
            cx.emit(Event::new().with_text(text).with_state(name, format!("{name}{item}"))).await?;
            Ok(Flow::Continue)
        })
    });
    agent.meta = agent.meta.writes(Box::leak(Box::new([adk_core::spec::KeySpec::new(name, "Value")])));
    agent
}
