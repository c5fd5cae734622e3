//! [`Collected`]: spans and metrics in memory, and the spans as a tree of text.

#![allow(dead_code, reason = "each test program uses a part")]

use adk::otel::Otel;
use opentelemetry::trace::{SpanId, Status};
use opentelemetry_sdk::metrics::InMemoryMetricExporter;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SpanData};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::{Registry, layer::SubscriberExt};

/// The spans and metrics of the current thread, collected until this value is dropped.
pub struct Collected {
    pub otel: Otel,
    spans: InMemorySpanExporter,
    pub metrics: InMemoryMetricExporter,
    _subscriber: DefaultGuard,
}

impl Collected {
    pub fn new() -> Self {
        let (spans, metrics) = (
            InMemorySpanExporter::default(),
            InMemoryMetricExporter::default(),
        );
        let otel = Otel::with_metrics("test", spans.clone(), metrics.clone());
        let subscriber = tracing::subscriber::set_default(Registry::default().with(otel.layer()));
        Self {
            otel,
            spans,
            metrics,
            _subscriber: subscriber,
        }
    }

    /// Returns all spans that have ended.
    pub fn spans(&self) -> Vec<SpanData> {
        self.otel
            .flush()
            .expect("the exporter in memory cannot fail");
        self.spans
            .get_finished_spans()
            .expect("the exporter in memory cannot fail")
    }

    /// Returns the spans as a tree.
    pub fn tree(&self) -> String {
        let spans = self.spans();
        let is_top = |span: &&SpanData| !spans.iter().any(|other| id(other) == span.parent_span_id);
        let mut text = String::new();
        for top in sorted(spans.iter().filter(is_top)) {
            draw(top, &spans, 0, &mut text);
        }
        text
    }
}

pub fn id(span: &SpanData) -> SpanId {
    span.span_context.span_id()
}

/// Returns the value of an attribute as text.
pub fn attribute(span: &SpanData, name: &str) -> Option<String> {
    let found = span
        .attributes
        .iter()
        .find(|attribute| attribute.key.as_str() == name)?;
    Some(found.value.to_string())
}

/// Sorts spans by start. Branches start in any order, so spans that start at the same time are
/// sorted by path.
fn sorted<'a>(spans: impl Iterator<Item = &'a SpanData>) -> Vec<&'a SpanData> {
    let mut spans: Vec<_> = spans.collect();
    spans.sort_by_key(|span| (span.start_time, attribute(span, "adk.path")));
    spans
}

fn draw(span: &SpanData, all: &[SpanData], depth: usize, text: &mut String) {
    let path = attribute(span, "adk.path").unwrap_or_default();
    let mut line = format!("{}{} [{path}]", "  ".repeat(depth), span.name);
    for name in ["adk.round", "error.type", "adk.unfinished"] {
        if let Some(value) = attribute(span, name) {
            line += &format!(" {}={value}", name.rsplit('.').next().unwrap_or(name));
        }
    }
    // Exactly the spans with an `error.type` have the status of an error.
    let is_error = attribute(span, "error.type").is_some();
    assert_eq!(
        matches!(span.status, Status::Error { .. }),
        is_error,
        "{line}"
    );
    text.push_str(&line);
    text.push('\n');
    for child in sorted(all.iter().filter(|child| child.parent_span_id == id(span))) {
        draw(child, all, depth + 1, text);
    }
}
