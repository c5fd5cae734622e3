//! @iqai/adk's writing loop: a drafter and a critic share a draft, which is empty at the start.
//!
//! `let` sets the initial state, like `.withQuickSession({ state: { draft: '' } })` of @iqai/adk.
//!
//! ```text
//! cargo run --example writing_loop -- "Write an article about AI"
//! ```

mod cli;

use adk::prelude::*;
use std::process::ExitCode;

workflow! {
    /// Writes until the critic is content.
    pub WritingLoop(task: String) -> draft: String {
        let draft: String = "";

        /// Drafts content.
        agent drafter -> draft: String {
            include_contents: none,
            instruction: "{task}\n\nIf there is a draft, improve it by the feedback; otherwise \
                write one. Write the text alone.\n\nDraft: {draft}\n\nFeedback: {feedback?}",
        }

        /// Critiques content.
        agent critic -> feedback: String {
            include_contents: none,
            instruction: "Critique this draft. If it is excellent, call `exit_loop`. Otherwise say \
                in two sentences what to improve.\n\nDraft: {draft}",
            tools: [adk::tools::exit_loop],
        }

        writing: loop(max = 5) < drafter; critic >
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(work(&cli::read(&WritingLoop::SPEC, "TASK", "What to write")).await)
}

async fn work(cli: &cli::Cli) -> Result<()> {
    let input = cli.input()?;
    let runner = cli.runner("writing_loop", Rehearsal::new())?;
    let outcome = cli
        .show(runner.run(&WritingLoop::default(), input).stream())
        .await?;
    cli.result(&outcome.output)?;
    outcome.loops.iter().try_for_each(|end| cli.note(end))
}
