//! Durable runs: resumed after a crash at every point, waiting for people, refused when the
//! workflow does not fit.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use adk_store_kit::trees as support;

mod again;
mod asks;
mod cancel;
mod confirm;
mod crash;
mod engine;
mod inside;
mod matrix;
mod people;
mod person;
mod record;
mod refused;
mod schedule;
mod talks;
mod trees;
mod untouched;
mod wait;
mod withdrawn;
