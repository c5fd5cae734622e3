//! The files of google-adk: evalsets, configs and results.

mod config;
mod content;
mod evalset;
mod invocation;
mod older;
mod read;
mod result;

pub use config::{Criterion, CustomMetric, EvalConfig};
pub use content::{RawContent, ToolResult, ToolUse};
pub use evalset::{ConversationScenario, EvalCase, EvalSet, SessionInput};
pub use invocation::{IntermediateData, Invocation, InvocationEvent, Rubric, RubricContent};
pub use result::{
    DurationDetails, EvalCaseResult, EvalMetric, EvalMetricResult, EvalSetResult, EvalStatus,
    InvocationResult, MetricResultDetails, RubricScore, TokenUsageDetails,
};

pub(crate) use config::settings;
pub(crate) use read::read_file;
