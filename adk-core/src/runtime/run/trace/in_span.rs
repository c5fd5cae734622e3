//! [`in_span`]: futures that run in their span, so that spans and log lines of user code belong to
//! it.

use super::TraceSpan;
use crate::BoxFuture;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

struct InSpan<'a, T> {
    future: BoxFuture<'a, T>,
    span: Arc<TraceSpan>,
}

impl<T> Future for InSpan<'_, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<T> {
        let Self { future, span } = &mut *self;
        let _entered = span.enter();
        future.as_mut().poll(task)
    }
}

impl TraceSpan {
    /// Makes the span current until the returned guard is dropped. A span that is not open yet
    /// stays closed.
    pub(crate) fn enter(&self) -> Option<tracing::span::Entered<'_>> {
        self.span.get().map(tracing::Span::enter)
    }
}

/// Executes a future in its span. Without a span, the future itself is returned.
pub(crate) fn in_span<'a, T: 'a>(
    span: Option<Arc<TraceSpan>>,
    future: BoxFuture<'a, T>,
) -> BoxFuture<'a, T> {
    match span {
        Some(span) => Box::pin(InSpan { future, span }),
        None => future,
    }
}
