use adk::prelude::*;
use std::sync::Arc;

workflow! {
    pub Writing(topic: String) -> draft: String {
        agents::workflows::Drafting
    }
}

workflow! {
    pub Supplied(topic: String) {
        agent drafting: agents::workflows::Drafting;

        drafting
    }
}

async fn run(runner: &Runner, queue: &LiveQueue) -> Result<()> {
    runner.run_live(&agents::workflows::Drafting::default(), "cats", queue).await?;
    runner.run_live(&Writing::default(), "cats", queue).await?;
    runner.run_live(Arc::new(Supplied::default()), "cats", queue).await?;
    Ok(())
}

fn main() {}
