//! Conversion of panics: a panic of an agent or a tool is an error of the run, not the end of the
//! process.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// Runs a future, and returns the message of a panic in it. The future is not polled again after a
/// panic.
pub(crate) async fn catch_panic<F: Future>(future: F) -> Result<F::Output, String> {
    CatchPanic(pin!(future)).await
}

/// The future of [`catch_panic`], for a future that is pinned already.
pub(crate) struct CatchPanic<F>(pub(crate) F);

impl<F: Future + Unpin> Future for CatchPanic<F> {
    type Output = Result<F::Output, String>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        match catch_unwind(AssertUnwindSafe(|| Pin::new(&mut self.0).poll(task))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(message(&*panic))),
        }
    }
}

/// Runs blocking work on tokio's blocking pool, in the current span. Returns the message of a panic
/// in it.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    let span = tracing::Span::current();
    match tokio::task::spawn_blocking(move || span.in_scope(work)).await {
        Ok(output) => Ok(output),
        Err(error) => Err(match error.try_into_panic() {
            Ok(panic) => message(&*panic),
            Err(cancelled) => cancelled.to_string(),
        }),
    }
}

/// Returns the message of a panic.
pub(crate) fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_its_message() {
        assert_eq!(catch_panic(async { 1 }).await, Ok(1));
        assert_eq!(
            catch_panic(async { panic!("no {}", 1) }).await,
            Err::<(), _>("no 1".to_owned())
        );
        let later = async {
            tokio::task::yield_now().await;
            panic!("later")
        };
        assert_eq!(catch_panic(later).await, Err::<(), _>("later".to_owned()));
        assert_eq!(
            run_blocking(|| -> u8 { panic!("there") }).await,
            Err("there".to_owned())
        );
        let odd = async { std::panic::panic_any(7) };
        assert_eq!(
            catch_panic(odd).await,
            Err::<(), _>("no message".to_owned())
        );
    }
}
