//! Storage: events, sessions, the engine that makes runs survive, and the queue of events to the consumer.

pub mod engine;
pub(crate) mod event;
pub(crate) mod outbox;
pub mod session;
