use adk::prelude::*;

workflow! {
    pub Again(topic: String) {
        agent writer { instruction: "Write about {topic}." }

        loop(max = 3) < writer >
    }
}

workflow! {
    pub Both(topic: String) {
        agent left { instruction: "Praise {topic}." }
        agent right { instruction: "Blame {topic}." }

        < parallel < left; right > >
    }
}

workflow! {
    pub All(topics: Vec<String>) {
        agent writer { instruction: "Write about {topic}." }

        each topic in topics < writer >
    }
}

async fn run(runner: &Runner, queue: &LiveQueue) -> Result<()> {
    runner.run_live(&Again::default(), "cats", queue).await?;
    runner.session("ann", "1").run_live(&Both::default(), "cats", queue).await?;
    runner.run_live(&All::default(), vec!["cats".to_owned()], queue).await?;
    Ok(())
}

fn main() {}
