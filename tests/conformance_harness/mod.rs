//! Runs cases of google-adk's behaviour against this project: what a case says is built with the public builders, run by
//! a `Runner` under virtual time, and compared with what the case expects. Nothing of it knows the id of a case, except
//! where the format itself names a family (`tpl-`).

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
