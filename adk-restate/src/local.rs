//! Activity of this process between two journal entries: calls of the store, and wakes of the run's
//! task.

use adk_core::BoxFuture;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Number of running store calls that agents make directly, without a request to the handler.
#[derive(Clone, Default)]
pub(crate) struct Local(Arc<AtomicUsize>);

impl Local {
    pub(crate) fn is_busy(&self) -> bool {
        self.0.load(SeqCst) > 0
    }

    /// Counts a call until it ends or is dropped.
    pub(crate) fn count<'a, T: 'a>(&self, call: BoxFuture<'a, T>) -> BoxFuture<'a, T> {
        struct Counted(Local);
        impl Drop for Counted {
            fn drop(&mut self) {
                self.0.0.fetch_sub(1, SeqCst);
            }
        }
        self.0.fetch_add(1, SeqCst);
        let counted = Counted(self.clone());
        Box::pin(async move {
            let _counted = counted;
            call.await
        })
    }
}

/// A waker of the run. It wakes the handler's task and remembers that it was called.
#[derive(Default)]
pub(crate) struct Bell {
    rung: AtomicBool,
    task: Mutex<Option<Waker>>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.rung.store(true, SeqCst);
        let task = self
            .task
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(task) = task {
            task.wake();
        }
    }
}

impl Bell {
    /// Sets the task that later wakes reach.
    pub(crate) fn listen(&self, task: &Context<'_>) {
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task.waker().clone());
    }

    /// Forgets earlier wakes, before a poll of the run.
    pub(crate) fn reset(&self) {
        self.rung.store(false, SeqCst);
    }

    /// Reports whether a wake happened since the last poll of the run.
    pub(crate) fn has_rung(&self) -> bool {
        self.rung.load(SeqCst)
    }

    /// Waits for a wake since the last poll of the run.
    pub(crate) async fn rings(&self) {
        poll_fn(|task| {
            self.listen(task);
            if self.has_rung() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}
