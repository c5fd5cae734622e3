//! A workflow whose model runs on this machine, without a key: `cargo run --example ollama_local --
//! "a cat"`.
//!
//! `ollama pull llama3.2` downloads the model. `MODEL` names another model, `OLLAMA_HOST` the
//! address of Ollama.

use adk::model::ModelErrorKind;
use adk::prelude::*;
use adk::{ErrorKind, model::ModelRef};
use std::env;
use std::io::Write as _;

/// Counts the words of a text.
#[tool]
fn count_words(text: &str) -> usize {
    text.split_whitespace().count()
}

workflow! {
    /// Tells a short story.
    pub Story(topic: String) -> story: String {
        /// Tells it.
        agent teller -> story: String {
            instruction: "Tell a story about {topic} in at most 60 words. Count them before you \
                answer.",
            tools: [count_words],
            max_turns: 4,
            max_output_tokens: 400,
            // Loading a model takes time. Retries do not help if the server does not run.
            timeout: "5m",
            retry: 0,
        }

        teller
    }
}

/// Tells the story, word by word.
async fn tell(model: impl Into<ModelRef>, topic: &str) -> Result<()> {
    let config = RunConfig::new().streaming(true);
    let runner = Runner::builder().model(model).config(config).build()?;
    let workflow = Story::default();
    let mut stream = runner.run(&workflow, topic).stream();
    while let Some(event) = stream.next().await {
        let event = event?;
        if event.partial {
            print!("{}", event.text());
            std::io::stdout().flush().map_err(Error::other)?;
        }
        for call in event.function_calls() {
            println!("[calls {}]", call.name);
        }
    }
    if let RunEnd::Finished(outcome) = stream.end() {
        println!("\n[{} tokens]", outcome.usage.total_tokens());
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let topic = env::args().nth(1).unwrap_or_else(|| "a cat".to_owned());
    let model = env::var("MODEL").unwrap_or_else(|_| "ollama::llama3.2".to_owned());
    match tell(model, &topic).await {
        Err(error) if error.kind() == ErrorKind::Model(ModelErrorKind::Connection) => {
            println!("{error}\nThis is a rehearsal; `ollama serve` starts the real thing.\n");
            tell(Rehearsal::new(), &topic).await
        }
        ended => ended,
    }
}
