//! The way of the pieces of an answer from a model call to the agent, one at a time.
//!
//! No channel of tokio: that allocates a block for 32 pieces, and most calls send none.

use crate::content::{Content, Part, Role, Thought};
use crate::store::event::Event;
use crate::sync::lock;
use serde_json::Value;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Context as Task, Poll, Waker};

/// The report of a call in flight.
pub(super) enum Piece {
    Text(String),
    Thought(String),
    /// What happened to the call, under a key of the metadata. In a box: it is rare.
    Told(&'static str, Box<Value>),
}

impl Piece {
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) | Self::Thought(text) if text.is_empty())
    }

    pub(super) fn into_event(self) -> Event {
        let said = |part| Event::new().with_content(Content::new(Role::Model, vec![part]));
        let mut event = match self {
            Self::Text(text) => said(Part::Text(text)),
            Self::Thought(text) => said(Part::from(Thought { text, signature: None })),
            Self::Told(key, told) => Event::new().with_metadata(key, *told),
        };
        event.partial = true;
        event
    }
}

#[derive(Default)]
struct Slot {
    piece: Option<Piece>,
    /// Nobody takes pieces any more.
    is_closed: bool,
    sender: Option<Waker>,
    receiver: Option<Waker>,
}

/// The end of the call.
pub(super) struct Sender(Arc<Mutex<Slot>>);

/// The end of the agent.
pub(super) struct Receiver(Arc<Mutex<Slot>>);

/// One piece is on its way at most: a model is read as fast as its pieces are taken.
pub(super) fn channel() -> (Sender, Receiver) {
    let slot = Arc::<Mutex<Slot>>::default();
    (Sender(slot.clone()), Receiver(slot))
}

impl Sender {
    /// Waits for room and hands the piece on. It is dropped when nobody takes it any more.
    pub(super) async fn send(&self, piece: Piece) {
        let mut piece = Some(piece);
        poll_fn(|task| {
            let mut slot = lock(&self.0);
            if slot.piece.is_some() && !slot.is_closed {
                slot.sender = Some(task.waker().clone());
                return Poll::Pending;
            }
            slot.piece = piece.take();
            let receiver = slot.receiver.take();
            drop(slot);
            receiver.into_iter().for_each(Waker::wake);
            Poll::Ready(())
        })
        .await;
    }
}

impl Receiver {
    /// The piece that is there. Without one, `task` is woken when one comes.
    pub(super) fn take(&self, task: Option<&Task<'_>>) -> Option<Piece> {
        let mut slot = lock(&self.0);
        let Some(piece) = slot.piece.take() else {
            slot.receiver = task.map(|task| task.waker().clone());
            return None;
        };
        let sender = slot.sender.take();
        drop(slot);
        sender.into_iter().for_each(Waker::wake);
        Some(piece)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let mut slot = lock(&self.0);
        slot.is_closed = true;
        let sender = slot.sender.take();
        drop(slot);
        sender.into_iter().for_each(Waker::wake);
    }
}
