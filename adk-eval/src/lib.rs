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
pub use files::{
    ConversationScenario, Criterion, CustomMetric, DurationDetails, EvalCase, EvalCaseResult,
    EvalConfig, EvalMetric, EvalMetricResult, EvalSet, EvalSetResult, EvalStatus, IntermediateData,
    Invocation, InvocationEvent, InvocationResult, MetricResultDetails, RawContent, Rubric,
    RubricContent, RubricScore, SessionInput, TokenUsageDetails, ToolResult, ToolUse,
};
pub use metrics::{
    MatchType, MetricKind, MetricPlan, MetricScores, TrajectoryCriterion, TurnScore, metric_plans,
    python_eq, trajectory_matches,
};
pub use report::{CaseReport, CaseRun, EvalReport, HistoryPoint, MetricSummary, history_points};
pub use run::{Eval, MetricRun, eval};
pub use score::{CaseTurns, score_run};
pub use stats::{
    Baseline, BaselineCase, CaseChange, Comparison, REGRESSION_LEVEL, Summary, fisher_p, pass_hat,
};
pub use text::{Rouge, rouge_1};
