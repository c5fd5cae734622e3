//! The contract of the runtime, tested on trees wired by hand.

mod branches;
mod keys;
mod loops;
mod runs;

use crate::support::*;
use adk_build::spec::{InputSpec, KeySpec};
use adk_build::{
    Content, Context, ErrorKind, Event, Flow, LoopEndReason, Part, Result, RunConfig, RunEnd,
    RunStream, Runner, Workflow,
};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Poll, Waker};

fn runner() -> Runner {
    Runner::builder().build().unwrap()
}

/// Returns the paths of all events but the user's, then the error, if any.
async fn paths(tree: &Tree) -> Vec<String> {
    let runner = runner();
    let mut stream = runner.run(tree, "go").stream();
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) if event.author == "user" => {}
            Ok(event) => all.push(event.path.to_string()),
            Err(error) => all.push(error.to_string()),
        }
    }
    all
}

fn now<T>(stream: &mut RunStream<'_, T>) -> Poll<Option<Result<Arc<Event>>>>
where
    T: Send + 'static,
{
    let next = std::pin::pin!(stream.next());
    next.poll(&mut std::task::Context::from_waker(Waker::noop()))
}
