//! Conversion of panics: a panic of an agent or a tool is an error of the run, not the end of the
//! process.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// Runs a future, and returns the message of a panic in it. The future is not polled again after a
/// panic.
pub async fn catch_panic<F: Future>(future: F) -> Result<F::Output, String> {
    CatchPanic(pin!(future)).await
}

/// The future of [`catch_panic`], for a future that is pinned already.
#[derive(Debug)]
pub struct CatchPanic<F>(pub F);

impl<F: Future + Unpin> Future for CatchPanic<F> {
    type Output = Result<F::Output, String>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        match catch_unwind(AssertUnwindSafe(|| Pin::new(&mut self.0).poll(task))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(message(&*panic))),
        }
    }
}

/// Returns the message of a panic.
pub fn message(panic: &(dyn Any + Send)) -> String {
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
        let odd = async { std::panic::panic_any(7) };
        assert_eq!(
            catch_panic(odd).await,
            Err::<(), _>("no message".to_owned())
        );
    }
}
