//! Evals of workflows, with the files and the numbers of google-adk.

mod failure;
mod files;
mod metrics;
mod schema;
mod stats;
mod text;

pub use failure::EvalFailure;
pub use files::*;
pub use metrics::*;
pub use stats::*;
pub use text::{Rouge, rouge_1};
