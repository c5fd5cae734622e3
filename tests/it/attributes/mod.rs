//! `#[agent]`, `#[tool]` and `#[data]`, as a user meets them.
#![deny(warnings, missing_docs, clippy::pedantic)]

mod agents;
mod borrowed;
mod closed;
mod data;
mod docs;
mod failures;
mod limits;
mod tools;
