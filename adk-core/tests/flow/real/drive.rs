//! Runs a tree repeatedly, each time with other decisions.

use super::person::Answering;
use super::stage::{Names, Stage};
use super::wired::Tree;
use super::{Choices, Seen, Wrong};
use crate::spec::Store;
use crate::tree::{Block, Flow, Kind, Node};
use adk_build::{Error, ErrorKind, RunEnd, Runner};
use std::collections::BTreeSet;
use std::error::Error as _;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Runs a tree `times` times with enumerated decisions, and then `times` times at random. If the
/// tree has at most `times` executions, each runs exactly once. Every two executions share a
/// session, and the second must not see the first.
pub fn play(flow: &Flow, seed: u64, times: u64) -> Seen {
    let mut all = Names::default();
    names(flow, &mut all);
    let stage = Stage::new(all);
    let runner: Runner = Runner::builder()
        .engine(Answering(stage.clone()))
        .build()
        .unwrap();
    let store = Store::default();
    let tree = Tree::root(flow, &stage, &store);
    let mut states: BTreeSet<_> = flow.states.iter().copied().collect();
    states.extend(
        flow.definitions()
            .iter()
            .flat_map(|inner| inner.states.clone()),
    );
    let mut next = Some(Choices::first(seed));
    for _ in 0..times {
        let Some(choices) = next else { break };
        next = execute(&tree, &runner, &stage, &states, choices).and_then(Choices::next);
    }
    let is_whole = next.is_none();
    for time in 0..if is_whole { 0 } else { times } {
        let seed = seed.wrapping_mul(0x1_0001).wrapping_add(time);
        execute(&tree, &runner, &stage, &states, Choices::random(seed));
    }
    Seen {
        is_whole,
        ..stage.results()
    }
}

fn execute(
    tree: &Tree<'_>,
    runner: &Runner,
    stage: &Stage,
    states: &BTreeSet<&'static str>,
    choices: Choices,
) -> Option<Choices> {
    let session = stage.begin(choices) / 2;
    let mut request = runner.session("user", session.to_string()).run(tree, ());
    for key in states {
        request = request.state(*key, stage.value(key));
    }
    let mut stream = request.stream();
    loop {
        let next = pin!(stream.next()).poll(&mut Context::from_waker(Waker::noop()));
        match next {
            Poll::Ready(Some(Ok(event))) => stage.event(&event),
            Poll::Ready(Some(Err(error)))
                if matches!(
                    error.kind(),
                    ErrorKind::Expired | ErrorKind::Timeout | ErrorKind::ListTooLong
                ) =>
            {
                break;
            }
            Poll::Ready(Some(Err(error))) => {
                stage.wrong(classify(&error));
                break;
            }
            Poll::Ready(None) => break,
            Poll::Pending if stage.release() => {}
            Poll::Pending => {
                stage.wrong(Wrong::Failed {
                    error: "no agent continues".into(),
                });
                break;
            }
        }
    }
    if let RunEnd::Finished(outcome) = stream.end() {
        outcome
            .loops
            .iter()
            .for_each(|end| stage.ended(end.path.name()));
    }
    stage.end()
}

/// Classifies an error of the run.
fn classify(error: &Error) -> Wrong {
    // An `each` that skips only some failed elements has the error of the first one as its cause.
    let mut error = error;
    while let Some(cause) = error
        .source()
        .and_then(|cause| cause.downcast_ref::<Error>())
        && cause.path().is_some()
    {
        error = cause;
    }
    let step = error
        .path()
        .map_or(String::new(), |path| path.name().to_string());
    match error.kind() {
        ErrorKind::KeyMissing => Wrong::Unwritten { step, key: None },
        ErrorKind::UnexpectedExit => Wrong::Outside,
        _ => Wrong::Failed {
            error: error.to_string(),
        },
    }
}

fn names(flow: &Flow, all: &mut Names) {
    flow.each(&mut |node| match node {
        Node::Block(Block {
            name,
            kind,
            on_error,
            ..
        }) => {
            if let Kind::Parallel { first, .. } = kind {
                all.parallels.insert(name.clone(), *first);
            }
            if on_error.skips() {
                all.skips.insert(name.clone());
            }
        }
        Node::Nested(nested) => {
            all.workflows.insert(nested.name.clone());
            names(&nested.flow, all);
        }
        _ => {}
    });
}
