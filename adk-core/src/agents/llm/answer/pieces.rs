//! [`channel`]: a channel with one slot for the pieces of a reply, from a model call to its agent.
//!
//! A tokio channel would allocate a block for 32 pieces, and most calls send none.

use crate::store::event::Event;
use crate::sync::lock;
use crate::{Content, Part, Role, Thought};
use serde_json::Value;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Context as Task, Poll, Waker};

/// A report of a call in flight.
pub(super) enum Piece {
    Text(String),
    Thought(String),
    /// Information on the call, under a key of the metadata. Boxed, because it is rare.
    Metadata(&'static str, Box<Value>),
}

impl Piece {
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) | Self::Thought(text) if text.is_empty())
    }

    pub(super) fn into_event(self) -> Event {
        let with_part = |part| Event::new().with_content(Content::new(Role::Model, vec![part]));
        let mut event = match self {
            Self::Text(text) => with_part(Part::Text(text)),
            Self::Thought(text) => with_part(Part::from(Thought {
                text,
                signature: None,
            })),
            Self::Metadata(key, value) => Event::new().with_metadata(key, *value),
        };
        event.partial = true;
        event
    }
}

#[derive(Default)]
struct PieceSlot {
    piece: Option<Piece>,
    /// Set when the receiver is dropped.
    is_closed: bool,
    sender: Option<Waker>,
    receiver: Option<Waker>,
}

/// The sending half, held by the call.
pub(super) struct PieceSender(Arc<Mutex<PieceSlot>>);

/// The receiving half, held by the agent.
pub(super) struct PieceReceiver(Arc<Mutex<PieceSlot>>);

/// Creates a channel for one piece, so that the model's stream is read only as fast as the agent
/// takes pieces.
pub(super) fn channel() -> (PieceSender, PieceReceiver) {
    let slot = Arc::<Mutex<PieceSlot>>::default();
    (PieceSender(slot.clone()), PieceReceiver(slot))
}

impl PieceSender {
    /// Waits until the slot is free and fills it. Discards the piece if the receiver is dropped.
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

impl PieceReceiver {
    /// Takes the piece in the slot. If the slot is empty, `task` is woken when a piece arrives.
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

impl Drop for PieceReceiver {
    fn drop(&mut self) {
        let mut slot = lock(&self.0);
        slot.is_closed = true;
        let sender = slot.sender.take();
        drop(slot);
        sender.into_iter().for_each(Waker::wake);
    }
}
