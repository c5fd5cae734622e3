//! @iqai/adk's improvement loop with its API: an analyzer and an improver, three rounds, and a
//! session with an initial state.
//!
//! `AgentBuilder` makes the tree at run time, and `build()` checks it. `quality_loop` is a similar
//! program as a `workflow!`, which rustc checks.
//!
//! ```text
//! cargo run --example improvement_loop -- "me and him goes to shop"
//! ```

mod cli;

use adk::llm::LlmAgent;
use adk::{AgentBuilder, Error, ErrorKind, prelude::*};
use clap::Parser;
use std::process::ExitCode;

/// The model, if its key is in the environment.
const MODEL: &str = "gemini-2.5-flash";

/// Analyzes and improves a text, three rounds of it.
#[derive(Debug, Parser)]
struct Args {
    /// The text to improve.
    text: Vec<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(improve(&Args::parse().text.join(" ")).await)
}

async fn improve(text: &str) -> Result<()> {
    if text.trim().is_empty() {
        return Err(
            Error::new(ErrorKind::EmptyInput, "there is nothing to improve")
                .with_help("write the text behind the name of the program"),
        );
    }
    let app = match builder(text).with_model(MODEL).build() {
        Err(error) if error.kind() == ErrorKind::Model(adk::model::ModelErrorKind::MissingKey) => {
            eprintln!(
                "Rehearsal: there is no key for {MODEL}, so no model is asked and nothing is \
                 paid.\n"
            );
            builder(text).with_model(Rehearsal::new()).build()?
        }
        built => built?,
    };
    println!(
        "{}",
        app.runner.ask(format!("Improve this text: {text}")).await?
    );

    let session = app.session.open().await?;
    let score = session
        .get("quality_score")
        .and_then(|score| score.as_str().map(str::to_owned));
    println!("\nlast score: {}", score.as_deref().unwrap_or("none"));
    Ok(())
}

fn builder(text: &str) -> AgentBuilder {
    let analyzer = LlmAgent::builder("analyzer")
        .description("Analyzes how good a text is")
        .instruction(
            "Say how good this text is, from 0 to 10, and what is wrong with it:\n\n{text}",
        )
        .output_key("quality_score");
    let improver = LlmAgent::builder("improver")
        .description("Improves a text")
        .instruction(
            "Improve the text and write it alone.\n\nIts score: {quality_score}\n\nIt reads:\n\
             {text}",
        )
        .output_key("text");
    AgentBuilder::create("improvement-loop")
        .as_loop([analyzer, improver], 3)
        .with_quick_session(json!({ "text": text }))
}
