//! [`EvalReport`]: the outcome of an eval, with its table, its JUnit file and its page.

mod case;
mod diff;
mod history;
mod html;
mod junit;
mod table;

pub use case::{CaseReport, CaseRun, EvalReport, MetricSummary};
pub use history::{HistoryPoint, history_points};
