//! @iqai/adk's research loop: a researcher gathers, an analyzer looks for gaps and marks the task
//! as complete by a tool.
//!
//! The tool sets a key and ends the loop. `let` gives both keys their initial values.
//!
//! ```text
//! cargo run --example research_loop -- "Research quantum computing applications"
//! ```

mod cli;

use adk::prelude::*;
use std::process::ExitCode;

/// Mark the task as complete. Call it only when the research covers the topic.
#[tool]
fn mark_complete(#[key] completed: Out<bool>) -> (bool, Flow) {
    completed.set(true);
    (true, Flow::Exit)
}

workflow! {
    /// Researches a topic until nothing is missing.
    pub ResearchLoop(topic: String) -> (research: String, completed: bool) {
        let research: String = "";
        let completed: bool = false;

        /// Researches and gathers information.
        agent researcher -> research: String {
            include_contents: none,
            instruction: "{topic}\n\nWrite down what is known, in short sentences: all that you \
                have so far, and what fills the gaps.\n\nSo far: {research}\n\nGaps: {gaps?}",
        }

        /// Analyzes whether the research is complete.
        agent analyzer -> gaps: String {
            include_contents: none,
            instruction: "{topic}\n\nReview the research: {research}\n\nIf it is sufficient, call \
                `mark_complete`. If not, name the gaps.",
            tools: [mark_complete],
        }

        researching: loop(max = 5) < researcher; analyzer >
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(work(&cli::read(&ResearchLoop::SPEC, "TOPIC", "What to research")).await)
}

async fn work(cli: &cli::Cli) -> Result<()> {
    let input = cli.input()?;
    let runner = cli.runner("research_loop", Rehearsal::new())?;
    let outcome = cli
        .show(runner.run(&ResearchLoop::default(), input).stream())
        .await?;
    cli.result(&outcome.output.research)?;
    cli.note(if outcome.output.completed {
        "complete"
    } else {
        "not complete"
    })?;
    outcome.loops.iter().try_for_each(|end| cli.note(end))
}
