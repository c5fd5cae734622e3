//! A writer looks for a headline until a judge and a function are content, or until the judge sees
//! that there is no news.
//!
//! The function decides with `until`, the judge ends the loop with a `break`. `#[bounds]` limits a
//! run to 15 model calls: with a higher `max` the program does not compile.
//!
//! ```text
//! cargo run --example headline -- "The town library opens on Sundays from May."
//! cargo run --example headline -- --mermaid
//! ```

mod cli;

use adk::prelude::*;
use std::process::ExitCode;

/// The space on the page, in characters.
const ROOM: usize = 60;

/// What a headline is worth.
#[data]
#[derive(PartialEq)]
pub enum Verdict {
    /// It could stand over any text.
    Vague,
    /// It says what is new.
    Good,
    /// The text holds no news, so no headline can say any.
    NoNews,
}

/// Says whether the headline can be printed.
#[agent(writes = printable)]
fn measure(headline: &str, verdict: &Verdict) -> bool {
    headline.chars().count() <= ROOM && *verdict == Verdict::Good
}

workflow! {
    /// Finds a headline for a text.
    #[bounds(model_calls = 15)]
    pub Headline(text: String) -> (headline: String, verdict: Verdict) {
        /// Writes a headline.
        agent writer -> headline: String {
            include_contents: none,
            instruction: "Write a headline of at most 60 characters for the text below. If you \
                have written one already, it stands here, and it was too long or vague: \
                {headline?}\n\n{text}",
        }

        /// Judges a headline.
        agent judge -> verdict: Verdict {
            include_contents: none,
            max_turns: 2,
            instruction: "Judge this headline:\n\n{headline}\n\nIts text:\n\n{text}",
        }

        drafting: loop(max = 5, until = printable) <
            writer;
            judge;
            match verdict <
                Verdict::NoNews => break,
                Verdict::Vague | Verdict::Good => measure,
            >
        >
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(find(&cli::read(&Headline::SPEC, "TEXT", "The text")).await)
}

async fn find(cli: &cli::Cli) -> Result<()> {
    let text = cli.input()?;
    let runner = cli.runner("headline", Rehearsal::new())?;
    let outcome = cli
        .show(runner.run(&Headline::default(), text).stream())
        .await?;
    match outcome.output.verdict {
        Verdict::NoNews => cli.result("There is no news in this text.")?,
        Verdict::Vague | Verdict::Good => cli.result(&outcome.output.headline)?,
    }
    outcome.loops.iter().try_for_each(|end| cli.note(end))
}
