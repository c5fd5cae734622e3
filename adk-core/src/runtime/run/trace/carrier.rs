//! [`TraceCarrier`]: the transfer of a trace from one process to the next.

use std::sync::OnceLock;
use tracing::Span;

/// Reads the trace context of a span, and sets the context of another span. With a carrier, a
/// resumed run and a branch in another process continue the trace of their run. `adk-otel` installs
/// a carrier for OpenTelemetry.
pub trait TraceCarrier: Send + Sync + 'static {
    /// Returns the context of a span as text, such as W3C's `traceparent`; `None` if the span has
    /// none.
    fn inject(&self, span: &Span) -> Option<String>;

    /// Makes a new span, which was never entered, a child of that context. A context that cannot be
    /// read is ignored.
    fn extract(&self, span: &Span, context: &str);
}

static CARRIER: OnceLock<Box<dyn TraceCarrier>> = OnceLock::new();

/// Sets the carrier of this process. Later calls have no effect.
pub fn set_trace_carrier(carrier: impl TraceCarrier) {
    CARRIER.get_or_init(|| Box::new(carrier));
}

pub(super) fn inject(span: &Span) -> Option<String> {
    CARRIER.get()?.inject(span)
}

pub(super) fn extract(span: &Span, context: &str) {
    if let Some(carrier) = CARRIER.get() {
        carrier.extract(span, context);
    }
}
