//! Tests of workflows, for the crates of their authors.
//!
//! [`explore`] plays a workflow in all orders of answers, with early, late and missing answers of
//! people, and with a death of the process at each point.

mod explore;

pub use explore::{
    BadHistory, Call, Explore, Explored, HistoryEnd, PersonAnswer, Verdict, World, explore,
};
