//! The input of a workflow, invalid inputs, and types that are not workflows.

use adk::prelude::*;

workflow! {
    /// Counts.
    pub Counting(count: u32) -> counted: String {
        agent counter -> counted: String { instruction: "Count to {count}." }

        counter
    }
}

workflow! {
    /// Writes.
    pub Writing(topic: String, tone: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}, {tone}." }

        writer
    }
}

/// Grades.
#[agent(writes = score)]
fn grade(topic: &str) -> usize {
    topic.len()
}

async fn run() -> adk::Result<()> {
    let runner = Runner::builder().model(Rehearsal::new()).build()?;
    runner.run(&Counting::default(), "three").await?;
    runner.session("user", "session").run(&Writing::default(), ("cats", "plain")).await?;
    runner.run(&Writing::default(), ()).await?;
    runner.run(&grade, "cats").await?;
    runner.run("three", &Counting::default()).await?;
    Ok(())
}

fn main() {
    drop(run());
}
