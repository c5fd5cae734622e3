//! The language and its library, as users meet them, in one program. Separate programs would link
//! all dependencies again.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

pub mod attempts;
pub mod attributes;
mod audit;
pub mod awaits;
pub mod belongs;
pub mod bounds;
pub mod budget;
pub mod callbacks;
pub mod changed;
mod closed_answers;
pub mod contents;
pub mod desk;
pub mod fragments;
mod guards;
mod killed;
pub mod labels;
pub mod language;
pub mod large;
pub mod left_out;
pub mod next_message;
mod provider_tools;
pub mod resources;
pub mod scripted;
pub mod secrets;
pub mod sequence;
mod strangers;
pub mod teams;
pub mod tool_files;
pub mod toolsets;
pub mod transfers;
pub mod turns;
pub mod wire;
#[path = "../support/wire_server/mod.rs"]
mod wire_server;
pub mod wiring;
pub mod workflow;
pub mod writes;
