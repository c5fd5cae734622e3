//! What a workflow takes, and what it is given.

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

async fn run() -> adk::Result<()> {
    let runner = Runner::builder().model(Rehearsal::new()).build()?;
    runner.run(&Counting::default(), "three").await?;
    runner.session("user", "session").run(&Writing::default(), ("cats", "plain")).await?;
    runner.run(&Writing::default(), ()).await?;
    Ok(())
}

fn main() {
    drop(run());
}
