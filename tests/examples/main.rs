//! Runs the example programs as a new user does: as processes with their own environment.

#[path = "../support/wire_server/mod.rs"]
mod wire_server;

mod approval;
mod bad;
mod bananas;
mod guide;
mod process;
mod programs;
mod rehearsal;
mod wire;
