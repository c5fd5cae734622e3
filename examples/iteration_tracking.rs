//! @iqai/adk's iteration tracking: an agent counts the rounds in the state, reports the round, and
//! ends the loop when the work is complete.
//!
//! The agent counts in `iteration_count`; `cx.iteration()` and every event have the round as well.
//!
//! ```text
//! cargo run --example iteration_tracking -- "three facts about bees"
//! ```

mod cli;

use adk::prelude::*;
use std::process::ExitCode;

/// The number of parts of the work.
const PARTS: u32 = 3;

/// Counts the iteration, tells it, and ends the loop when the work is complete.
#[agent(writes = iteration_count)]
async fn tracker(cx: &mut Context, iteration_count: u32) -> Result<(u32, Flow)> {
    let count = iteration_count + 1;
    let round = cx.iteration().unwrap_or_default();
    cx.emit(Event::new().with_text(format!("iteration {count} (loop_iteration {round})")))
        .await?;
    Ok((count, Flow::exit_if(count >= PARTS)))
}

workflow! {
    /// Works in parts, and counts them.
    pub IterationTracking(task: String) -> (work: String, iteration_count: u32) {
        let iteration_count: u32 = 0;

        /// Does one part of the work.
        agent worker -> work: String {
            include_contents: none,
            instruction: "The task: {task}\n\nDone so far:\n{work?}\n\nWrite what is done so far \
                and one part more.",
        }

        tracking: loop(max = 10) < worker; tracker >
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(
        work(&cli::read(
            &IterationTracking::SPEC,
            "TASK",
            "What to work on",
        ))
        .await,
    )
}

async fn work(cli: &cli::Cli) -> Result<()> {
    let input = cli.input()?;
    let runner = cli.runner("iteration_tracking", Rehearsal::new())?;
    let outcome = cli
        .show(runner.run(&IterationTracking::default(), input).stream())
        .await?;
    cli.result(&outcome.output.work)?;
    cli.note(format!("{} iterations", outcome.output.iteration_count))?;
    outcome.loops.iter().try_for_each(|end| cli.note(end))
}
