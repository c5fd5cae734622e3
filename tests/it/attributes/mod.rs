//! `#[agent]`, `#[tool]` and `#[data]`, as a user meets them.
#![deny(warnings, missing_docs, clippy::pedantic)]

#[path = "../../../adk-core/tests/support/mod.rs"]
#[allow(clippy::pedantic, missing_docs, unreachable_pub)]
mod support;

mod agents;
mod borrowed;
mod data;
mod docs;
mod limits;
mod tools;
