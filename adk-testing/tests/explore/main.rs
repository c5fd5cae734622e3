//! Explored histories of whole workflows.
#![allow(
    clippy::unwrap_used,
    unreachable_pub,
    missing_debug_implementations,
    missing_docs,
    reason = "these are tests"
)]

mod orders;
mod payment;
mod people;
mod printed;
mod races;
