//! Storage of events, sessions and runs, and the queue of events to the consumer.

pub mod engine;
pub(crate) mod event;
pub(crate) mod outbox;
pub mod session;
