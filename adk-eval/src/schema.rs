//! [`Model`]: the data models of google-adk as tables, and [`canonical`], which reads JSON by them.
//!
//! The tables have the rules of pydantic: both spellings of a name, the default of a missing field,
//! and what happens to an unknown field. The result has each field under its snake-case name, in
//! the order in which google-adk writes them.

mod adk;
mod genai;
mod table;

pub(crate) use adk::{
    CRITERION, EVAL_CONFIG, EVAL_SET, EVAL_SET_RESULT, HALLUCINATIONS_CRITERION, JUDGE_CRITERION,
    RUBRICS_CRITERION, TRAJECTORY_CRITERION,
};
pub(crate) use genai::{PART, USAGE_METADATA};
pub(crate) use table::{Mismatch, Model, canonical};
