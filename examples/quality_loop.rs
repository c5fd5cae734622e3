//! An analyzer judges a text and an improver works on it, until the text is good enough or three
//! rounds are over.
//!
//! This is the `improvement-loop` of @iqai/adk, with the score as a typed value instead of words.
//!
//! ```text
//! echo "me and him goes to shop" | cargo run --example quality_loop
//! ```

mod cli;

use adk::prelude::*;
use std::process::ExitCode;

/// How good a text is.
#[data]
pub struct Quality {
    /// 0 (unreadable) to 100 (nothing to improve).
    #[schemars(range(max = 100))]
    pub score: u8,
    /// What to improve, most important first.
    pub advice: Vec<String>,
}

/// Ends the loop once the text is good.
#[agent]
fn good_enough(quality: &Quality) -> Flow {
    Flow::exit_if(quality.score >= 90)
}

workflow! {
    /// Improves a text until it is good.
    pub QualityLoop(original: String) -> text: String {
        /// Copies the text, so that each round works on the latest version.
        agent reader -> text: String {
            include_contents: none,
            instruction: "Correct spelling and punctuation of this text, change nothing else, and \
                write it out:\n\n{original}",
        }

        /// Judges the text.
        agent analyzer -> quality: Quality {
            include_contents: none,
            instruction: "Judge how clear, correct and pleasant this text is:\n\n{text}",
        }

        /// Improves the text.
        agent improver -> text: String {
            include_contents: none,
            instruction: "Improve this text as advised. Write the text alone.\n\nAdvice: \
                {quality}\n\nText:\n{text}",
        }

        reader;
        improving: loop(max = 3) < analyzer; good_enough; improver >
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(improve(&cli::read(&QualityLoop::SPEC, "TEXT", "What to improve")).await)
}

async fn improve(cli: &cli::Cli) -> Result<()> {
    let original = cli.input()?;
    let runner = cli.runner("quality_loop", Rehearsal::new())?;
    let outcome = cli
        .show(runner.run(&QualityLoop::default(), original).stream())
        .await?;
    cli.result(&outcome.output)?;
    if let Some(quality) = outcome.get::<Quality>("quality")? {
        cli.note(format!("score {} of 100", quality.score))?;
    }
    outcome.loops.iter().try_for_each(|end| cli.note(end))
}
