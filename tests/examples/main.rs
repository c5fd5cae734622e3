//! The example programs as a new user runs them: as processes, with an environment of their own.

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
