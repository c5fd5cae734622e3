//! Fallback models, limits of providers, and a budget in money: `cargo run --example resilience`.

use adk::llm::{COST_KEY, FALLBACK_KEY};
use adk::model::{ModelErrorKind, RateLimit};
use adk::prelude::*;
use adk::spec::{Price, Prices};
use adk::testing::{Reply, ScriptedModel};
use adk::{ErrorKind, RunConfig};

workflow! {
    /// Improves a text until its critic is content.
    pub Writing(topic: String) -> draft: String {
        agent writer -> draft: String {
            instruction: "Write about {topic}.",
            max_output_tokens: 500,
        }
        agent critic -> criticism: String {
            instruction: "Criticise {draft}.",
            max_output_tokens: 200,
        }
        agent refiner -> draft: String {
            instruction: "Improve {draft}: {criticism}",
            max_output_tokens: 500,
        }

        writer;
        loop(max = 5, budget = "0.05 USD") < critic; refiner >
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // A program with real models writes `.model("claude-sonnet-4-5").fallback(["gpt-5-mini",
    // "ollama::llama3.2"])`.
    let first = ScriptedModel::new()
        .error(ModelErrorKind::Unavailable, "overloaded")
        .repeat_last();
    let second = ScriptedModel::new()
        .reply(Reply::new().text("Cats sleep.").usage(2_000, 300))
        .repeat_last();
    let prices = Prices::published().model(
        "scripted",
        Price::per_million("3", "15")?.longest(200_000, 64_000),
    );
    println!("{}", Writing::SPEC.quote(&prices, "scripted"));

    let runner = Runner::builder()
        .model(first)
        .fallback([second])
        .rate_limit(
            "scripted",
            RateLimit::new().calls_per_minute(500).concurrency(8),
        )
        .prices(prices)
        .build()?;
    let config = RunConfig::new().budget("1.00 USD".parse()?);
    let writing = Writing::default();
    let mut run = runner.run(&writing, "cats").config(config).stream();
    while let Some(event) = run.next().await {
        match event {
            Ok(event) => match event.metadata(FALLBACK_KEY) {
                Some(told) => println!("{}: {told}", event.author),
                None => {
                    let cost = event
                        .metadata(COST_KEY)
                        .and_then(|cost| cost.as_str())
                        .unwrap_or("");
                    println!("{}: {} {cost}", event.author, event.text());
                }
            },
            Err(error) if error.kind() == ErrorKind::BudgetExceeded => println!("{error}"),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
