//! Tests that count the steps of SQLite.

mod plans;
pub(crate) mod turns;
