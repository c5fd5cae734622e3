//! Evals of workflows, with the files and the numbers of google-adk.

mod failure;
mod files;
mod metrics;
mod report;
mod run;
mod schema;
mod score;
mod stats;
mod text;

pub use failure::EvalFailure;
pub use files::*;
pub use metrics::*;
pub use report::*;
pub use run::{Eval, MetricRun, eval};
pub use score::{CaseTurns, score_run};
pub use stats::*;
pub use text::{Rouge, rouge_1};
