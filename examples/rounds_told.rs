//! The round, the begin and the end of each step of a parallel block inside a loop, for a screen
//! that shows steps (adk-python, pull request 6268 and issue 6267).
//!
//! The two branches have the same author and branch in every round.
//! `custom_metadata.loop_iteration` has the round, counted from 0. The example places the loop of
//! the pull request, `LoopAgent(max_iterations=2, sub_agents=[ParallelAgent(sub_agents=[p, q])])`,
//! in another loop: the iteration is the round of the innermost loop, and the path has all rounds.
//!
//! ```text
//! cargo run --example rounds_told -- "tea or coffee?"
//! ```

mod cli;

use adk::prelude::*;
use std::process::ExitCode;

workflow! {
    /// Looks at a question from two sides, again and again.
    pub RoundsTold(question: String) -> (pro: String, con: String) {
        /// Argues for it.
        agent p -> pro: String {
            include_contents: none,
            instruction: "Say in one sentence what speaks for it: {question}\n\nThe last time you \
                said: {pro?}",
        }

        /// Argues against it.
        agent q -> con: String {
            include_contents: none,
            instruction: "Say in one sentence what speaks against it: {question}\n\nThe last time \
                you said: {con?}",
        }

        days: loop(max = 2) < rounds: loop(max = 2) < par: parallel < p; q > > >
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(
        tell(&cli::read(
            &RoundsTold::SPEC,
            "QUESTION",
            "What to argue about",
        ))
        .await,
    )
}

async fn tell(cli: &cli::Cli) -> Result<()> {
    let question = cli.input()?;
    let runner = cli.runner("rounds_told", Rehearsal::new())?;
    let workflow = RoundsTold::default();
    // The runner of the examples sets `RunConfig::new().lifecycle_events(true)`.
    let told = cli
        .show_as(runner.run(&workflow, question).stream(), line)
        .await?;
    cli.result(&format!("{}\n{}", told.output.pro, told.output.con))?;
    told.loops.iter().try_for_each(|end| cli.note(end))
}

/// Prints the begin, the text and the end of each step, with its place and its time.
fn line(event: &Event) -> Option<String> {
    let iteration = event
        .loop_iteration()
        .map(|at| format!(" loop_iteration={at}"));
    let place = format!("{}{}", event.path, iteration.unwrap_or_default());
    match event.lifecycle() {
        Some(lifecycle) => Some(format!("{place}: {lifecycle}")),
        // The whole answer repeats the text of its pieces.
        None if event.partial => None,
        None => {
            let branch = event.branch.as_deref().unwrap_or("none");
            Some(format!(
                "{place}: {} on branch {branch} says {}",
                event.author,
                event.text()
            ))
        }
    }
}
