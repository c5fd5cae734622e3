//! Three researchers look at a subject at the same time; one agent puts their findings together.
//!
//! ```text
//! cargo run --example parallel_research -- "electric cars"
//! ```

mod cli;

use adk::prelude::*;
use std::process::ExitCode;

workflow! {
    /// Researches a subject from three sides and sums up.
    pub ParallelResearch(subject: String) -> report: String {
        /// Looks at the past.
        agent historian -> history: String {
            include_contents: none,
            instruction: "You are a historian. In three sentences: how did {subject} come about?",
        }

        /// Looks at how it works.
        agent scientist -> science: String {
            include_contents: none,
            instruction: "You are a scientist. In three sentences: how does {subject} work?",
        }

        /// Looks at what it costs and brings.
        agent economist -> economics: String {
            include_contents: none,
            instruction: "You are an economist. In three sentences: what does {subject} cost, and \
                whom does it pay?",
        }

        /// Puts the findings together.
        agent editor -> report: String {
            include_contents: none,
            instruction: "Write one short report on {subject} from these findings and from nothing \
                else.\n\nHistory: {history}\n\nScience: {science}\n\nEconomics: {economics}",
        }

        research: parallel < historian; scientist; economist >
        editor;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(
        research(&cli::read(
            &ParallelResearch::SPEC,
            "SUBJECT",
            "What to look into",
        ))
        .await,
    )
}

async fn research(cli: &cli::Cli) -> Result<()> {
    let subject = cli.input()?;
    let runner = cli.runner("parallel_research", Rehearsal::new())?;
    let outcome = cli
        .show(runner.run(&ParallelResearch::default(), subject).stream())
        .await?;
    cli.result(&outcome.output)?;
    cli.note(format!(
        "{} model calls, {} tokens",
        outcome.usage.calls,
        outcome.usage.total_tokens()
    ))
}
