//! Futures that run in their span, so that spans and log lines of the code of users belong to it.

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
    /// Makes the span current until what this returns is dropped; one that is not open yet stays so.
    pub(crate) fn enter(&self) -> Option<tracing::span::Entered<'_>> {
        self.span.get().map(tracing::Span::enter)
    }
}

/// The same future in its span. Without one, it is the future itself.
pub(crate) fn in_span<'a, T: 'a>(span: Option<Arc<TraceSpan>>, future: BoxFuture<'a, T>) -> BoxFuture<'a, T> {
    match span {
        Some(span) => Box::pin(InSpan { future, span }),
        None => future,
    }
}
