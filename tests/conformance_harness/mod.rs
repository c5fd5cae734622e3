//! Runs cases of google-adk's behaviour against this project: the harness builds a case with the
//! public builders, runs it with a `Runner` in virtual time, and compares the result with the
//! expectation. The harness does not depend on the ids of cases, except for the family `tpl-` of
//! the format.

pub mod agents;
pub mod callbacks;
pub mod compare;
pub mod diff;
pub mod format;
pub mod model;
pub mod normal;
pub mod outline;
pub mod plugins;
pub mod recorder;
pub mod run;
pub mod scripted;
pub mod suite;
pub mod tools;
pub mod tree;
pub mod views;
