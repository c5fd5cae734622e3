//! The trace context of a span as W3C's `traceparent`.

use adk_core::TraceCarrier;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use std::collections::HashMap;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

const KEY: &str = "traceparent";

pub(crate) struct TraceParent;

impl TraceCarrier for TraceParent {
    fn inject(&self, span: &Span) -> Option<String> {
        let mut headers = HashMap::new();
        TraceContextPropagator::new().inject_context(&span.context(), &mut headers);
        headers.remove(KEY)
    }

    fn extract(&self, span: &Span, context: &str) {
        let headers = HashMap::from([(KEY.to_owned(), context.to_owned())]);
        // It fails for a subscriber without OpenTelemetry: then there is no trace to continue.
        let _ = span.set_parent(TraceContextPropagator::new().extract(&headers));
    }
}
