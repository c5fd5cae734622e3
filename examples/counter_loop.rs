//! @iqai/adk's counter loop: the count is 0 at the start, each round adds one, and the loop ends at
//! three.
//!
//! A function counts, so the program calls no model. `let` sets the initial state, like
//! `.withQuickSession({ state: { count: 0 } })` of @iqai/adk.
//!
//! ```text
//! cargo run --example counter_loop
//! ```

mod cli;

use adk::prelude::*;
use std::process::ExitCode;

/// The final count.
const LAST: u32 = 3;

/// Increments the counter, and ends the loop when it is high enough.
#[agent(writes = count)]
fn counter(count: u32) -> (u32, Flow) {
    (count + 1, Flow::exit_if(count + 1 >= LAST))
}

workflow! {
    /// Counts to three.
    pub CounterLoop() -> count: u32 {
        let count: u32 = 0;

        counting: loop(max = 10) < counter >
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(
        count(&cli::read(
            &CounterLoop::SPEC,
            "WORDS",
            "Nothing is made of them",
        ))
        .await,
    )
}

async fn count(cli: &cli::Cli) -> Result<()> {
    let runner = cli.runner("counter_loop", Rehearsal::new())?;
    let outcome = cli
        .show(runner.run(&CounterLoop::default(), ()).stream())
        .await?;
    cli.result(&outcome.output.to_string())?;
    outcome.loops.iter().try_for_each(|end| cli.note(end))
}
