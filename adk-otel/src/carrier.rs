//! [`TraceParent`]: the trace context of a span in the W3C format `traceparent`.

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
        // `set_parent` fails if the subscriber has no OpenTelemetry layer. Then no trace can be
        // continued.
        let _ = span.set_parent(TraceContextPropagator::new().extract(&headers));
    }
}
