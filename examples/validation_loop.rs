//! @iqai/adk's quality checking: a processor works and a validator judges, for at most three
//! rounds.
//!
//! ```text
//! cargo run --example validation_loop -- "one apple 2 appels three aples"
//! ```

mod cli;

use adk::prelude::*;
use std::process::ExitCode;

workflow! {
    /// Processes data until it is valid.
    pub ValidationLoop(data: String) -> processed: String {
        /// Processes data.
        agent processor -> processed: String {
            include_contents: none,
            instruction: "Clean up this data and write it out, as a list and without a comment.\n\n\
                Data: {data}\n\nWhat was wrong with the last try, if there was one: {quality?}",
        }

        /// Validates the output.
        agent validator -> quality: String {
            include_contents: none,
            instruction: "How well is the data cleaned up, in percent? If it is more than 90%, \
                call `exit_loop`. Otherwise say what is wrong.\n\nData: {data}\n\nCleaned up:\n\
                {processed}",
            tools: [adk::tools::exit_loop],
        }

        validation: loop(max = 3) < processor; validator >
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(
        work(&cli::read(
            &ValidationLoop::SPEC,
            "DATA",
            "What to clean up",
        ))
        .await,
    )
}

async fn work(cli: &cli::Cli) -> Result<()> {
    let input = cli.input()?;
    let runner = cli.runner("validation_loop", Rehearsal::new())?;
    let outcome = cli
        .show(runner.run(&ValidationLoop::default(), input).stream())
        .await?;
    cli.result(&outcome.output)?;
    outcome.loops.iter().try_for_each(|end| cli.note(end))
}
