//! @iqai/adk's state over iterations: the next agent reads the key that an agent has written, in
//! this round and the next.
//!
//! ```text
//! cargo run --example shared_state -- "a slogan for a bakery"
//! ```

mod cli;

use adk::prelude::*;
use std::process::ExitCode;

workflow! {
    /// Works on a task for five rounds, each with the evaluation of the last.
    pub SharedState(task: String) -> (iteration_result: String, evaluation: String) {
        /// Processes data.
        agent processor -> iteration_result: String {
            include_contents: none,
            instruction: "Do this, better than the last time: {task}\n\nThe last time: \
                {iteration_result?}\n\nIts evaluation: {evaluation?}",
        }

        /// Evaluates the result.
        agent evaluator -> evaluation: String {
            include_contents: none,
            instruction: "Evaluate in one sentence. Task: {task}\n\nResult: {iteration_result}",
        }

        rounds: loop(max = 5) < processor; evaluator >
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(work(&cli::read(&SharedState::SPEC, "TASK", "What to do")).await)
}

async fn work(cli: &cli::Cli) -> Result<()> {
    let input = cli.input()?;
    let runner = cli.runner("shared_state", Rehearsal::new())?;
    let outcome = cli
        .show(runner.run(&SharedState::default(), input).stream())
        .await?;
    cli.result(&outcome.output.iteration_result)?;
    cli.note(&outcome.output.evaluation)?;
    outcome.loops.iter().try_for_each(|end| cli.note(end))
}
