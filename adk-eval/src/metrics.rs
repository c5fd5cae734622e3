//! The metrics of google-adk as pure functions over turns.

mod efficiency;
mod equality;
mod evaluate;
mod plan;
mod trajectory;

pub use equality::python_eq;
pub use evaluate::{MetricScores, TurnScore};
pub use plan::{MetricKind, MetricPlan, metric_plans};
pub use trajectory::{MatchType, TrajectoryCriterion, trajectory_matches};
