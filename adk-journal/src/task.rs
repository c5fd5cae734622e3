//! Work in separate tasks: with a time limit, or on tokio's blocking pool.
//!
//! A run is not polled while its consumer is busy. Work with a limit must not pay for that time.

use crate::panic::Panic;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Runs a future in a separate task. Dropping this future aborts the task.
pub async fn spawn_scoped<T: Send + 'static>(
    future: impl Future<Output = T> + Send + 'static,
) -> T {
    struct Task<T>(JoinHandle<T>);
    impl<T> Drop for Task<T> {
        fn drop(&mut self) {
            self.0.abort();
        }
    }
    let mut task = Task(tokio::spawn(future));
    match (&mut task.0).await {
        Ok(output) => output,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The task was aborted: the runtime is shutting down, and does not poll this future
            // again.
            Err(_) => std::future::pending().await,
        },
    }
}

/// Runs a future in a separate task for at most `limit`; returns `None` if it has not ended by
/// then.
pub async fn spawn_with_timeout<T: Send + 'static>(
    limit: Duration,
    future: impl Future<Output = T> + Send + 'static,
) -> Option<T> {
    spawn_scoped(tokio::time::timeout(limit, future)).await.ok()
}

/// Runs blocking work on tokio's blocking pool, in the current span. Returns a panic in it.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Panic> {
    let span = tracing::Span::current();
    match tokio::task::spawn_blocking(move || span.in_scope(work)).await {
        Ok(output) => Ok(output),
        Err(error) => Err(match error.try_into_panic() {
            Ok(panic) => Panic::new(&*panic),
            Err(cancelled) => Panic::new(&cancelled.to_string()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_on_the_blocking_pool_has_its_text() {
        let caught = run_blocking(|| -> u8 { panic!("there") }).await;
        assert_eq!(caught.unwrap_err().to_string(), "there");
    }
}
