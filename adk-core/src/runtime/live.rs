//! What people say to a live run while it goes on: a queue that is read when the run comes to it.

use crate::sync::lock;
use crate::{Content, Error, ErrorKind, Result};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// Messages for a live run: ADK's `LiveRequestQueue`, for text, images and files; there is no audio.
///
/// Clones are one queue. Messages may be sent before the run begins and while an agent answers: they wait, and each is
/// answered by itself. The queue ends with [`close`](Self::close), or when its last clone is gone; what was sent
/// before is still answered. It belongs to one run: two that read from it share the messages between them.
///
/// ```
/// # use adk_core as adk;
/// use adk::LiveQueue;
///
/// let queue = LiveQueue::new();
/// queue.send("Hello.")?;
/// queue.close();
/// assert!(queue.send("One more thing.").is_err());
/// # Ok::<(), adk::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct LiveQueue(Arc<LiveSender>);

/// The queue as those who write to it hold it: without them it is closed.
#[derive(Default)]
struct LiveSender(Arc<LiveShared>);

/// The queue as the run reads it.
#[derive(Clone)]
pub(crate) struct LiveInput(Arc<LiveShared>);

#[derive(Default)]
struct LiveShared {
    queue: Mutex<LiveMessages>,
    changed: Notify,
}

#[derive(Default)]
struct LiveMessages {
    messages: VecDeque<Content>,
    closed: bool,
}

impl LiveQueue {
    /// An empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says something. It does not wait until that is read.
    ///
    /// # Errors
    /// [`ErrorKind::QueueClosed`] after [`close`](Self::close); [`ErrorKind::EmptyInput`] for a message without parts.
    pub fn send(&self, message: impl Into<Content>) -> Result<()> {
        let (shared, message) = (&self.0.0, message.into());
        if message.parts.is_empty() {
            let error = Error::new(ErrorKind::EmptyInput, "a message for a live run has no parts");
            return Err(error.with_help("send some text, or close the queue to end the run"));
        }
        let mut queue = lock(&shared.queue);
        if queue.closed {
            let error = Error::new(ErrorKind::QueueClosed, "the queue of a live run was closed already");
            return Err(error.with_help("close it after the last message; a new run takes a new queue"));
        }
        queue.messages.push_back(message);
        drop(queue);
        shared.changed.notify_one();
        Ok(())
    }

    /// Says that nothing more will be sent. Agents that wait end; what was sent before is still answered.
    pub fn close(&self) {
        self.0.0.close();
    }

    /// Whether it is closed.
    pub fn is_closed(&self) -> bool {
        lock(&self.0.0.queue).closed
    }

    pub(crate) fn input(&self) -> LiveInput {
        LiveInput(self.0.0.clone())
    }
}

impl LiveShared {
    fn close(&self) {
        lock(&self.queue).closed = true;
        self.changed.notify_one();
    }
}

impl Drop for LiveSender {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl LiveInput {
    /// The next message; `None` once the queue is closed and empty, as often as it is asked.
    pub(crate) async fn next(self) -> Option<Content> {
        loop {
            {
                let mut queue = lock(&self.0.queue);
                if let Some(message) = queue.messages.pop_front() {
                    return Some(message);
                }
                if queue.closed {
                    return None;
                }
            }
            // A change since then has left its permit.
            self.0.changed.notified().await;
        }
    }
}

impl fmt::Debug for LiveQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queue = lock(&self.0.0.queue);
        let state = if queue.closed { "closed" } else { "open" };
        write!(f, "LiveQueue({} messages, {state})", queue.messages.len())
    }
}

impl fmt::Debug for LiveInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LiveInput")
    }
}
