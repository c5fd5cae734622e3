//! Agents and sequences of any crate run live; a workflow with a loop runs without a live queue.

use adk::prelude::*;
use std::sync::Arc;

workflow! {
    pub Talking(topic: String) -> criticism: String {
        agent host -> draft: String { instruction: "Talk about {topic}." }

        host;
        < agents::functions::lister; match topic < "cats" => (), _ => agents::workflows::Loop as talk, > >
        agents::workflows::Reviewing
    }
}

workflow! {
    pub Again(topic: String) {
        agent writer { instruction: "Write about {topic}." }

        loop(max = 3) < writer >
    }
}

async fn run(runner: &Runner, queue: &LiveQueue) -> Result<String> {
    runner.run(&Again::default(), "cats").await?;
    runner
        .run_live(Arc::new(agents::workflows::Loop::default()), "cats", queue)
        .await?;
    runner
        .session("ann", "1")
        .run_live(&agents::workflows::Reviewing::default(), "cats", queue)
        .await?;
    Ok(runner
        .run_live(&Talking::default(), "cats", queue)
        .await?
        .output)
}

/// A function that knows the workflow only as a type declares its requirements.
async fn run_any<W>(
    runner: &Runner,
    workflow: &W,
    input: W::Input,
    queue: &LiveQueue,
) -> Result<W::Output>
where
    W: Workflow + adk::workflow::Live + adk::Needs,
{
    Ok(runner.run_live(workflow, input, queue).await?.output)
}

#[test]
fn what_runs_live() {
    assert!(adk::check::is_live(&Talking::SPEC));
    assert!(!adk::check::is_live(&Again::SPEC));
}
