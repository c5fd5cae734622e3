//! Work in separate tasks, for work with a time limit.
//!
//! A run is not polled while its consumer is busy. Work with a limit must not pay for that time.

use std::time::Duration;
use tokio::task::JoinHandle;

/// Runs a future in a separate task. Dropping this future aborts the task.
pub(crate) async fn spawn_scoped<T: Send + 'static>(
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
pub(crate) async fn spawn_with_timeout<T: Send + 'static>(
    limit: Duration,
    future: impl Future<Output = T> + Send + 'static,
) -> Option<T> {
    spawn_scoped(tokio::time::timeout(limit, future)).await.ok()
}
