//! [`drive`]: runs a stream to its end, and notices when a replay cannot move.

use super::tape::Tape;
use adk_core::{Event, Result, RunEnd, RunStream};
use futures_core::Stream;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tokio::time::Sleep;

/// The time in which a replay that cannot move may still be moved by a callback or a task of the
/// test. Only a replay that fails waits for it.
const GRACE: Duration = Duration::from_secs(1);

/// Reads all events of a run. Returns its committed events and its end.
pub(super) async fn drive<T: Send + 'static>(
    stream: &mut RunStream<'_, T>,
    tape: &Tape,
) -> (Vec<Arc<Event>>, Result<RunEnd<T>>) {
    let (mut events, mut watch) = (Vec::new(), HaltWatch::default());
    loop {
        let next =
            poll_fn(|task| watch.poll(tape, task, |task| Pin::new(&mut *stream).poll_next(task)));
        match next.await {
            Some(Ok(event)) if event.partial => {}
            Some(Ok(event)) => events.push(event),
            Some(Err(error)) => return (events, Err(error)),
            None => return (events, Ok(stream.end())),
        }
    }
}

/// Notices that a run waits only for itself.
#[derive(Default)]
struct HaltWatch {
    bell: Arc<WakeBell>,
    /// Ends when the replay has not moved for the time of [`GRACE`].
    grace: Option<Pin<Box<Sleep>>>,
}

/// Notes whether the run was woken, and wakes the task of the test.
#[derive(Default)]
struct WakeBell {
    is_woken: AtomicBool,
    outer: Mutex<Option<Waker>>,
}

impl Wake for WakeBell {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, SeqCst);
        let outer = self
            .outer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(outer) = outer {
            outer.wake();
        }
    }
}

impl HaltWatch {
    fn poll<T>(
        &mut self,
        tape: &Tape,
        task: &mut Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        *self
            .bell
            .outer
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(task.waker().clone());
        let was_woken = self.bell.is_woken.swap(false, SeqCst);
        let waker = Waker::from(self.bell.clone());
        let polled = poll(&mut Context::from_waker(&waker));
        if polled.is_ready() || was_woken || self.bell.is_woken.load(SeqCst) {
            self.grace = None;
            if polled.is_pending() && tape.is_held() {
                task.waker().wake_by_ref();
            }
            return polled;
        }
        // A call that executes moves the run later, and an answer of a person ends it as paused.
        if tape.is_active() || !tape.is_held() {
            return polled;
        }
        let grace = self
            .grace
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(GRACE)));
        if grace.as_mut().poll(task).is_ready() {
            self.grace = None;
            tape.give_up();
            task.waker().wake_by_ref();
        }
        polled
    }
}
