//! [`LiveQueue`]: messages that a user sends to a live run while it executes.

use crate::sync::lock;
use crate::{Content, Error, ErrorKind, Result};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// Messages for a live run: ADK's `LiveRequestQueue` for text, images and files. Audio is not
/// supported.
///
/// All clones share one queue. Messages may be sent before the run begins and while an agent
/// answers: they wait, and each message gets its own answer. The queue ends with
/// [`close`](Self::close), or when its last clone is dropped; messages that were sent before are
/// still answered. A queue belongs to one run: two runs that read from one queue share its
/// messages.
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

/// The sending half, which all clones of a [`LiveQueue`] share. Its drop closes the queue.
#[derive(Default)]
struct LiveSender(Arc<LiveShared>);

/// The receiving half, which the run reads.
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
    /// Creates an empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a message to the queue and returns at once; the run reads the message later.
    ///
    /// # Errors
    /// [`ErrorKind::QueueClosed`] after [`close`](Self::close); [`ErrorKind::EmptyInput`] for a
    /// message without parts.
    pub fn send(&self, message: impl Into<Content>) -> Result<()> {
        let (shared, message) = (&self.0.0, message.into());
        if message.parts.is_empty() {
            let error = Error::new(
                ErrorKind::EmptyInput,
                "a message for a live run has no parts",
            );
            return Err(error.with_help("send some text, or close the queue to end the run"));
        }
        let mut queue = lock(&shared.queue);
        if queue.closed {
            let error = Error::new(
                ErrorKind::QueueClosed,
                "the queue of a live run was closed already",
            );
            return Err(
                error.with_help("close it after the last message; a new run takes a new queue")
            );
        }
        queue.messages.push_back(message);
        drop(queue);
        shared.changed.notify_one();
        Ok(())
    }

    /// Closes the queue: no further messages can be sent. Agents that wait for a message end;
    /// messages that were sent before are still answered.
    pub fn close(&self) {
        self.0.0.close();
    }

    /// Returns `true` if the queue is closed.
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
    /// Waits for the next message. Returns `None`, at every call, once the queue is closed and
    /// empty.
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
            // A change since the check above has stored a permit, so this wait misses no change.
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
