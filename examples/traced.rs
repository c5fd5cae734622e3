//! The spans of a run: `cargo run --features otel --example traced`.
//!
//! The program prints the spans. With `OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:6006`, or
//! another address, it exports them to the collector at that address.

use adk::otel::Otel;
use adk::otel::opentelemetry::trace::SpanId;
use adk::otel::opentelemetry_sdk::error::OTelSdkResult;
use adk::otel::opentelemetry_sdk::trace::{SpanData, SpanExporter};
use adk::prelude::*;
use adk::testing::{Reply, ScriptedModel};
use adk::{RunConfig, json};

/// Says what the weather is.
#[tool]
fn weather(city: &str) -> String {
    // Your own spans and events become children of the call.
    format!("{city}: sunny")
}

workflow! {
    /// Plans a day.
    pub DayOut(city: String) -> plan: String {
        /// Asks for the weather.
        agent scout -> outlook: String {
            instruction: "What is the weather in {city}?",
            tools: [weather],
        }
        /// Writes a plan.
        agent planner -> plan: String {
            instruction: "Plan a day in {city}: {outlook}. {objection?}",
        }
        /// Looks for what is wrong with it.
        agent critic -> objection: String { instruction: "What is wrong with {plan}?" }

        scout;
        planning: loop(max = 2) < planner; critic >
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // A service needs one line: `let _otel = Otel::install("day-out")?;`. Dropping the value
    // exports the remaining spans.
    let otel = match std::env::var("OTEL_EXPORTER_OTLP_ENDPOINT") {
        Ok(_) => Otel::otlp("day-out")?,
        Err(_) => Otel::new("day-out", Printer),
    };
    otel.subscribe()?;

    let model = ScriptedModel::new()
        .on("scout")
        .reply(
            Reply::new()
                .call("weather", json!({"city": "Bern"}))
                .usage(40, 9),
        )
        .reply(Reply::new().text("It is sunny.").usage(61, 5))
        .on("planner")
        .reply(Reply::new().text("Swim in the Aare.").usage(35, 7))
        .repeat_last()
        .on("critic")
        .reply(Reply::new().text("Bring a towel.").usage(20, 4))
        .repeat_last();
    let runner = Runner::builder().model(model).build()?;
    // Spans contain prompts and answers only with this setting.
    let config = RunConfig::new().trace_contents(std::env::var("CONTENTS").is_ok());
    runner
        .run(&DayOut::default(), "Bern")
        .config(config)
        .await?;
    Ok(())
}

/// Prints spans as a tree.
#[derive(Debug)]
struct Printer;

impl SpanExporter for Printer {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        print(&batch, SpanId::INVALID, 0);
        Ok(())
    }
}

fn print(spans: &[SpanData], parent: SpanId, depth: usize) {
    let mut children: Vec<_> = spans
        .iter()
        .filter(|span| span.parent_span_id == parent)
        .collect();
    children.sort_by_key(|span| span.start_time);
    for span in children {
        let told = [
            "adk.round",
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.output_tokens",
            "error.type",
        ];
        let told = span
            .attributes
            .iter()
            .filter(|attribute| told.contains(&attribute.key.as_str()));
        let told: String = told
            .map(|attribute| format!(" {}={}", attribute.key, attribute.value))
            .collect();
        println!("{:indent$}{}{told}", "", span.name, indent = depth * 2);
        print(spans, span.span_context.span_id(), depth + 1);
    }
}
