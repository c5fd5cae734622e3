//! [`Metrics`]: the metrics of runs. They are measured on all spans that are opened, and not only
//! on exported spans, so sampling does not change them.

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Histogram, Meter};
use std::fmt;
use std::time::Instant;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// The span attributes that metrics keep. Each has few distinct values: they name what was called,
/// and the kind of error.
const DIMENSIONS: [&str; 8] = [
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "gen_ai.response.model",
    "gen_ai.workflow.name",
    "gen_ai.agent.name",
    "gen_ai.tool.name",
    "error.type",
];

/// A layer that counts tokens and measures durations.
pub(crate) struct Metrics {
    tokens: Histogram<u64>,
    durations: Histogram<f64>,
}

impl Metrics {
    pub(crate) fn new(meter: &Meter) -> Self {
        let powers_of_four = (0..14).map(|power| 4f64.powi(power)).collect();
        let tokens = meter
            .u64_histogram("gen_ai.client.token.usage")
            .with_unit("{token}")
            .with_description("Number of input and output tokens used.")
            .with_boundaries(powers_of_four);
        let doubled = (0..14).map(|power| 0.01 * 2f64.powi(power)).collect();
        let durations = meter
            .f64_histogram("gen_ai.client.operation.duration")
            .with_unit("s")
            .with_description("GenAI operation duration.")
            .with_boundaries(doubled);
        Self {
            tokens: tokens.build(),
            durations: durations.build(),
        }
    }

    fn report(&self, operation: Operation) {
        let Operation {
            since,
            dimensions,
            input,
            output,
            is_unfinished,
        } = operation;
        for (kind, count) in [("input", input), ("output", output)] {
            let Some(count) = count else { continue };
            let kind = KeyValue::new("gen_ai.token.type", kind);
            let is_of_tokens = |dimension: &&KeyValue| dimension.key.as_str() != "error.type";
            let dimensions: Vec<_> = dimensions
                .iter()
                .filter(is_of_tokens)
                .cloned()
                .chain([kind])
                .collect();
            self.tokens.record(count, &dimensions);
        }
        // An unfinished run waits for a person, and its duration would include the wait.
        if !is_unfinished {
            self.durations
                .record(since.elapsed().as_secs_f64(), &dimensions);
        }
    }
}

/// The measured data of one span.
struct Operation {
    since: Instant,
    dimensions: Vec<KeyValue>,
    input: Option<u64>,
    output: Option<u64>,
    is_unfinished: bool,
}

impl Visit for Operation {
    fn record_str(&mut self, field: &Field, value: &str) {
        if DIMENSIONS.contains(&field.name()) {
            self.dimensions
                .push(KeyValue::new(field.name(), value.to_owned()));
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        match field.name() {
            "gen_ai.usage.input_tokens" => self.input = u64::try_from(value).ok(),
            "gen_ai.usage.output_tokens" => self.output = u64::try_from(value).ok(),
            _ => {}
        }
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.is_unfinished |= value && field.name() == "adk.unfinished";
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

fn is_counted(metadata: &Metadata<'_>) -> bool {
    metadata.target() == "adk" && metadata.fields().field("gen_ai.operation.name").is_some()
}

impl<S: Subscriber + for<'span> LookupSpan<'span>> Layer<S> for Metrics {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, cx: Context<'_, S>) {
        if let Some(span) = cx.span(id).filter(|_| is_counted(attributes.metadata())) {
            let mut operation = Operation {
                since: Instant::now(),
                dimensions: Vec::new(),
                input: None,
                output: None,
                is_unfinished: false,
            };
            attributes.record(&mut operation);
            span.extensions_mut().insert(operation);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, cx: Context<'_, S>) {
        if let Some(span) = cx.span(id)
            && let Some(operation) = span.extensions_mut().get_mut::<Operation>()
        {
            values.record(operation);
        }
    }

    fn on_close(&self, id: Id, cx: Context<'_, S>) {
        if let Some(span) = cx.span(&id)
            && let Some(operation) = span.extensions_mut().remove::<Operation>()
        {
            self.report(operation);
        }
    }
}
