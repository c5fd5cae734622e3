//! The spans of remote branches, with the engine of the runtime's tests.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "the test uses a part of that engine and fails by a panic"
)]

#[path = "../../adk-core/tests/elsewhere/client.rs"]
mod client;
#[path = "support/mod.rs"]
mod collected;
#[path = "../../adk-core/tests/elsewhere/log.rs"]
mod log;
#[path = "../../adk-core/tests/elsewhere/posted.rs"]
mod posted;
#[path = "../../adk-core/tests/elsewhere/serve.rs"]
mod serve;

use adk_store_kit::trees as support;
use collected::Collected;
use serve::Process;
use support::{Tree, parallel, run, say};
use tracing::Instrument as _;

fn tree() -> Tree {
    Tree::new(
        "w",
        vec![
            parallel("p", vec![run(say("a")), run(say("b"))]),
            run(say("c")),
        ],
    )
}

#[tokio::test(start_paused = true)]
async fn a_remote_branch_is_a_child_of_the_span_of_its_run() {
    let collected = Collected::new();
    let process = Process::new(log::Log::default(), tree, usize::MAX);
    let (runner, posted) = process.runner();
    let tree = tree();
    let (ended, _) = process
        .serve(runner.run(&tree, "go"), posted, process.killed.notified())
        .await;
    ended.unwrap().unwrap();
    // Each process begins with a root span of its own.
    let expected = "\
invoke_workflow w [w]
  invoke_workflow w [w/p/a]
    invoke_agent a [w/p/a]
  invoke_workflow w [w/p/b]
    invoke_agent b [w/p/b]
  invoke_agent c [w/c]
";
    assert_eq!(collected.tree(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_another_process_executes_is_a_child_of_the_span_of_its_caller() {
    let collected = Collected::new();
    let (log, tree) = (log::Log::default(), tree());
    let runner = client::client(self::tree, &log);
    let span = tracing::info_span!("request");
    runner.run(&tree, "go").instrument(span).await.unwrap();
    let lines = collected.tree();
    assert!(
        lines.starts_with("request []\n  invoke_workflow w [w]\n"),
        "{lines}"
    );
}
