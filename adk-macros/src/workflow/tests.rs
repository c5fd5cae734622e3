//! The parser as data, and as something that never breaks.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

mod fuzz;
mod messages;
mod names;
mod shapes;
