//! The workflows of the crash tests, on an engine whose branches run in other processes.

use super::log::Log;
use super::serve::Process;
use super::{talks, trees};
use crate::support::*;
use adk_build::engine::{BranchReport, MemoryJournal};
use adk_build::spec::Limits;
use adk_build::{ErrorKind, Event, Flow, Runner};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Contents of all events by path, which every run of a workflow has in common.
pub type Shape = BTreeMap<String, Vec<Value>>;

pub fn shape<'a>(events: impl IntoIterator<Item = &'a Arc<Event>>) -> Shape {
    let mut shape = Shape::new();
    for event in events {
        let state: BTreeMap<_, _> = event
            .actions
            .state_delta
            .iter()
            .map(|(key, value)| (key.to_string(), value.clone()))
            .collect();
        let said = json!([event.author.to_string(), event.branch, event.text(), state]);
        shape.entry(event.path.to_string()).or_default().push(said);
    }
    shape
}

/// Removes events of cancelled branches, whose progress depends on timing.
pub fn comparable(mut shape: Shape, name: &str) -> Shape {
    if name == "parallel that a branch leaves" {
        shape.retain(|path, _| !path.contains("/p/a"));
    }
    shape
}

fn whole(tree: fn() -> Tree) -> Shape {
    in_process(async move {
        let runner: Runner = Runner::builder()
            .engine(MemoryJournal::new())
            .build()
            .unwrap();
        let tree = tree();
        let outcome = runner.run(&tree, "go").await.unwrap();
        shape(outcome.session().events())
    })
}

/// Runs `body` on its own runtime; all tasks end with it, as in a process.
pub fn in_process<T>(body: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(body)
}

/// Starts or resumes a run. Returns its events if it finished, and the number of points.
fn process(log: &Log, tree: fn() -> Tree, at: usize) -> (Option<Vec<Arc<Event>>>, usize) {
    let process = Process::new(log.clone(), tree, at);
    let events = in_process(async {
        let (runner, posted) = process.runner();
        let tree = tree();
        let request = match log.record_of_run() {
            None => runner.run(&tree, "go"),
            Some(record) => runner.resume(&tree, record.run_id),
        };
        let (ended, _) = process
            .serve(request, posted, process.killed.notified())
            .await;
        ended.map(|outcome| outcome.unwrap().session().events().cloned().collect())
    });
    (events, process.points())
}

#[test]
fn remote_branches_give_the_same_result_as_local_ones() {
    for (name, tree, parallel) in all() {
        let log = Log::default();
        let (events, points) = process(&log, tree, usize::MAX);
        let expected = comparable(whole(tree), name);
        let events = events.unwrap();
        assert_eq!(
            comparable(shape(&events), name),
            expected,
            "{name}: events of the stream"
        );
        assert_eq!(
            comparable(shape(&log.events()), name),
            expected,
            "{name}: events of the log"
        );
        assert_eq!(log.branches() > 0, parallel, "{name}");
        assert!(points > 10, "{name}");
    }
}

#[test]
fn a_killed_remote_run_ends_like_an_uninterrupted_one() {
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
            assert_eq!(
                comparable(shape(&events), name),
                expected,
                "{name}, killed at {at}"
            );
            assert_eq!(
                comparable(shape(&log.events()), name),
                expected,
                "{name}, killed at {at}: the log"
            );
        }
    }
    assert!(kills > 300, "only {kills}");
}

#[test]
fn a_wait_in_a_remote_branch_stays_pending_until_its_answer() {
    fn tree() -> Tree {
        let asks = |name| {
            by(name, move |cx| {
                Box::pin(async move {
                    let yes: bool = cx.wait("decision").await?;
                    cx.emit(Event::new().with_text(format!("{name} {yes}")))
                        .await?;
                    Ok(Flow::Continue)
                })
            })
        };
        Tree::new(
            "w",
            vec![
                parallel("p", vec![run(asks("a")), run(asks("b"))]),
                run(say("z")),
            ],
        )
    }
    let log = Log::default();
    let answers = log.clone();
    let process = Process::new(log.clone(), tree, usize::MAX);
    in_process(async {
        let (runner, posted) = process.runner();
        let workflow = tree();
        let request = runner.run(&workflow, "go");
        let answering = async {
            while answers.question_ids().len() < 2 {
                tokio::task::yield_now().await;
            }
            for id in answers.question_ids() {
                answers.answer(&id, json!(true));
            }
            std::future::pending().await
        };
        let (ended, _) = process.serve(request, posted, answering).await;
        ended.unwrap().unwrap();
    });
    let said: Vec<_> = log.events().iter().map(|event| event.text()).collect();
    assert_eq!(said.len(), 4, "{said:?}");
    assert!(
        said.contains(&"a true".to_owned()) && said.contains(&"b true".to_owned()),
        "{said:?}"
    );
}

#[test]
fn a_remote_branch_ends_with_the_deadline_of_its_workflow() {
    fn tree() -> Tree {
        let hangs = by("a", |cx| Box::pin(cx.step("hangs", std::future::pending())));
        let limits = Limits::NONE.time(Duration::from_secs(5));
        Tree::new("w", vec![parallel("p", vec![run(hangs)])]).limits(limits)
    }
    let process = Process::new(Log::default(), tree, usize::MAX);
    let kind = in_process(async {
        let (runner, posted) = process.runner();
        let workflow = tree();
        let (ended, _) = process
            .serve(runner.run(&workflow, "go"), posted, std::future::pending())
            .await;
        ended.unwrap().unwrap_err().kind()
    });
    assert_eq!(kind, ErrorKind::BoundsExceeded);
    let task = process.tasks.lock().unwrap().remove(0);
    let result = in_process(async {
        let branch = process.branch(task, std::future::pending());
        tokio::time::timeout(Duration::from_secs(60), branch)
            .await
            .expect("it ends")
    });
    let report = BranchReport::from_value(result["ended"].clone(), Vec::new()).unwrap();
    assert_eq!(report.end.unwrap_err().kind(), ErrorKind::BoundsExceeded);
}

/// Returns the workflows of the crash tests and additional ones.
pub fn all() -> impl Iterator<Item = trees::Named> {
    trees::all().into_iter().chain(talks::all()).chain(more())
}

/// Returns workflows with branches in branches, rounds, elements, workflows and instances, and with
/// one that fails.
fn more() -> Vec<trees::Named> {
    vec![
        (
            "branches in branches in rounds",
            || {
                let inner = parallel("q", vec![run(trees::works("b")), run(trees::works("c"))]);
                let left = sequence("s", vec![run(trees::works("a")), inner]);
                let block = parallel("p", vec![left, run(trees::works("d"))]);
                Tree::new(
                    "w",
                    vec![repeat("l", Some(2), vec![block]), run(trees::works("e"))],
                )
            },
            true,
        ),
        (
            "branches in elements of a workflow inside",
            || {
                let block = parallel("p", vec![run(reads_item("b")), run(reads_item("c"))]);
                let inner = Tree::new(
                    "inner",
                    vec![each(
                        "e",
                        "item",
                        "items",
                        vec![run(reads_item("n")), block],
                    )],
                )
                .lets("items", json!([3, 1]));
                let outer = parallel("o", vec![run(inner), run(trees::works("z"))]);
                Tree::new("w", vec![run(trees::works("a")), outer])
            },
            true,
        ),
    ]
}

/// Makes an agent that reports its element and the earlier value of its key.
fn reads_item(name: &'static str) -> By {
    let mut agent = by(name, move |cx| {
        Box::pin(async move {
            let item: u64 = cx.state().get("item")?.unwrap_or_default();
            let note: Option<String> = cx.state().get("n")?;
            let text = format!("{name} {item} {note:?}");
            cx.emit(
                Event::new()
                    .with_text(text)
                    .with_state(name, format!("{name}{item}")),
            )
            .await?;
            Ok(Flow::Continue)
        })
    });
    agent.meta = agent
        .meta
        .writes(Box::leak(Box::new([adk_build::spec::KeySpec::new(
            name, "Value",
        )])));
    agent
}
