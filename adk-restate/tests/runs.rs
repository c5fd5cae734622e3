//! Runs on a Restate server: each kind of block, waits, limits, cancellation.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod support;

use adk::prelude::*;
use support::World;

/// Says what it is given, in a step.
#[agent(writes = draft)]
async fn write(cx: &mut Context, topic: String) -> Result<String> {
    cx.step("pen", async move { Ok(format!("about {topic}")) }).await
}

/// Ends it.
#[agent(writes = line)]
fn print(draft: &str) -> String {
    format!("{draft}.")
}

workflow! {
    /// One after the other.
    Writing(topic: String) -> line: String {
        write;
        print;
    }
}

#[tokio::test]
#[ignore = "needs the binary of a Restate server"]
async fn a_sequence() {
    let world = World::start(|builder| builder.workflow(Writing::default())).await;
    let ended = world.client.run(&Writing::default(), "cats").await.unwrap();
    assert_eq!(ended.output, "about cats.");
    println!("{:?}", world.entries("writing").await);
    let paths: Vec<_> = ended.session().events().map(|event| event.path.to_string()).collect();
    assert_eq!(paths, ["writing", "writing/write", "writing/print"]);
}
