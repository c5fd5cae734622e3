//! [`EvalSetResult`]: the result of an eval, which `adk web` of google-adk shows.

use super::config::Criterion;
use super::invocation::Invocation;
use super::read::{parse, read_file, typed};
use crate::failure::{refused, unwritable};
use crate::schema::EVAL_SET_RESULT;
use adk_core::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The folder of results in the folder of an app.
const HISTORY: &str = ".adk/eval_history";

/// The end of the name of a result.
const EXTENSION: &str = ".evalset_result.json";

/// The verdict on a metric or a case. In JSON it is a number from 1 to 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum EvalStatus {
    /// The score reaches the threshold.
    Passed,
    /// The score is below the threshold.
    Failed,
    /// The metric has no score.
    NotEvaluated,
    /// The metric has a score, and never fails.
    Informational,
}

/// The result of a set of cases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvalSetResult {
    /// The id: app, set and time.
    pub eval_set_result_id: String,
    /// The name of the file, without its extension.
    pub eval_set_result_name: Option<String>,
    /// The id of the set.
    pub eval_set_id: String,
    /// The cases.
    pub eval_case_results: Vec<EvalCaseResult>,
    /// Seconds since 1970.
    pub creation_timestamp: f64,
}

/// The result of one execution of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvalCaseResult {
    /// The id of the set; an older name.
    pub eval_set_file: Option<String>,
    /// The id of the set.
    pub eval_set_id: String,
    /// The id of the case.
    pub eval_id: String,
    /// The verdict.
    pub final_eval_status: EvalStatus,
    /// Always null; older files have the metrics here.
    pub eval_metric_results: Option<Value>,
    /// The metrics over all turns.
    pub overall_eval_metric_results: Vec<EvalMetricResult>,
    /// The metrics of each turn.
    pub eval_metric_result_per_invocation: Vec<InvocationResult>,
    /// The session in which the case ran.
    pub session_id: String,
    /// The session at the end, as JSON of google-adk.
    pub session_details: Option<Value>,
    /// The user.
    pub user_id: Option<String>,
}

/// A metric with its criterion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvalMetric {
    /// The name.
    pub metric_name: String,
    /// The lowest score that passes. Informational metrics have none.
    pub threshold: Option<f64>,
    /// The threshold with the other settings.
    pub criterion: Option<Criterion>,
    /// The Python function of a custom metric.
    pub custom_function_path: Option<String>,
}

/// The score of a metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvalMetricResult {
    /// The metric.
    #[serde(flatten)]
    pub metric: EvalMetric,
    /// The score; none if the metric was not evaluated.
    pub score: Option<f64>,
    /// The verdict.
    pub eval_status: EvalStatus,
    /// The parts of the score.
    pub details: MetricResultDetails,
}

/// The parts of a score.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MetricResultDetails {
    /// The verdicts on rubrics.
    pub rubric_scores: Option<Vec<RubricScore>>,
    /// Tokens by kind, for `token_usage_v1`.
    pub token_usage_details: Option<TokenUsageDetails>,
    /// Seconds by place, for `invocation_duration_v1`.
    pub duration_details: Option<DurationDetails>,
}

/// The verdict on a rubric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RubricScore {
    /// The rubric.
    pub rubric_id: String,
    /// The reason.
    pub rationale: Option<String>,
    /// The score from 0 to 1; none if the judge did not decide.
    pub score: Option<f64>,
}

/// Tokens by kind. A count is none if no model reported it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenUsageDetails {
    /// `input_tokens` and `output_tokens`.
    pub total_tokens: Option<f64>,
    /// `prompt_tokens` and `tool_use_tokens`.
    pub input_tokens: Option<f64>,
    /// Tokens of the prompts, cached tokens included.
    pub prompt_tokens: Option<f64>,
    /// Tokens of the prompts that the provider had in a cache.
    pub cached_tokens: Option<f64>,
    /// Tokens of results of the provider's tools.
    pub tool_use_tokens: Option<f64>,
    /// `candidates_tokens` and `reasoning_tokens`.
    pub output_tokens: Option<f64>,
    /// Tokens of the answers.
    pub candidates_tokens: Option<f64>,
    /// Tokens of the reasoning.
    pub reasoning_tokens: Option<f64>,
}

/// Seconds by place. A duration is none if it was not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DurationDetails {
    /// The whole turn.
    pub total_seconds: Option<f64>,
    /// Calls of models.
    pub model_seconds: Option<f64>,
    /// Tools, without calls of models.
    pub tool_seconds: Option<f64>,
    /// The rest.
    pub framework_seconds: Option<f64>,
}

/// The metrics of one turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InvocationResult {
    /// The turn as it happened.
    pub actual_invocation: Invocation,
    /// The turn as the file expects it.
    pub expected_invocation: Option<Invocation>,
    /// The metrics.
    pub eval_metric_results: Vec<EvalMetricResult>,
}

impl From<EvalStatus> for u8 {
    fn from(status: EvalStatus) -> Self {
        match status {
            EvalStatus::Passed => 1,
            EvalStatus::Failed => 2,
            EvalStatus::NotEvaluated => 3,
            EvalStatus::Informational => 4,
        }
    }
}

impl TryFrom<u8> for EvalStatus {
    type Error = String;

    fn try_from(status: u8) -> Result<Self, String> {
        match status {
            1 => Ok(Self::Passed),
            2 => Ok(Self::Failed),
            3 => Ok(Self::NotEvaluated),
            4 => Ok(Self::Informational),
            _ => Err(format!("{status} is not a status from 1 to 4")),
        }
    }
}

impl EvalStatus {
    /// Returns the verdict on a score: it passes if it reaches the threshold.
    pub fn from_score(score: f64, threshold: f64) -> Self {
        if score >= threshold {
            Self::Passed
        } else {
            Self::Failed
        }
    }

    /// Returns the verdict on a case. It passes if no metric failed and at least one passed;
    /// without either it is not evaluated, which counts as failed.
    pub fn from_metrics(metrics: impl IntoIterator<Item = Self>) -> Self {
        let mut verdict = Self::NotEvaluated;
        for status in metrics {
            match status {
                Self::Failed => return Self::Failed,
                Self::Passed => verdict = Self::Passed,
                Self::NotEvaluated | Self::Informational => {}
            }
        }
        verdict
    }
}

impl EvalSetResult {
    /// Creates a result. The time is in seconds since 1970.
    pub fn new(app: &str, set: &str, cases: Vec<EvalCaseResult>, time: f64) -> Self {
        let id = format!("{app}_{set}_{time:?}");
        Self {
            eval_set_result_name: Some(id.replace('/', "_")),
            eval_set_result_id: id,
            eval_set_id: set.to_owned(),
            eval_case_results: cases,
            creation_timestamp: time,
        }
    }

    /// Returns the JSON as google-adk writes it: snake case, two spaces, all fields.
    ///
    /// # Errors
    ///
    /// A score is not a number.
    pub fn to_json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    /// Writes the file into `.adk/eval_history` of a folder, and returns its path.
    ///
    /// # Errors
    ///
    /// The folder cannot be written.
    pub fn save(&self, folder: &Path) -> Result<PathBuf> {
        let folder = folder.join(HISTORY);
        let name = (self.eval_set_result_name.as_deref()).unwrap_or(&self.eval_set_result_id);
        let path = folder.join(format!("{}{EXTENSION}", name.replace(['/', '\\'], "_")));
        let json = self.to_json()?;
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(&path, json))
            .map_err(|error| unwritable(&path, &error))?;
        Ok(path)
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// The file is missing or not JSON, or google-adk refuses a field.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let name = path.display().to_string();
        typed(&EVAL_SET_RESULT, parse(&read_file(path)?, &name)?, &name)
    }

    /// Reads the results of a set from `.adk/eval_history` of a folder, the oldest first. Files
    /// that cannot be read are left out.
    ///
    /// # Errors
    ///
    /// The folder exists, and cannot be listed.
    pub fn history(folder: &Path, set: &str) -> Result<Vec<Self>> {
        let folder = folder.join(HISTORY);
        if !folder.exists() {
            return Ok(Vec::new());
        }
        let entries = std::fs::read_dir(&folder).map_err(|error| {
            refused(
                format!("the folder `{}` cannot be read: {error}", folder.display()),
                "check its permissions",
            )
        })?;
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let results = paths.filter(|path| path.to_string_lossy().ends_with(EXTENSION));
        let results = results.filter_map(|path| Self::read(path).ok());
        let mut results: Vec<_> = results.filter(|result| result.eval_set_id == set).collect();
        results.sort_by(|one, other| one.creation_timestamp.total_cmp(&other.creation_timestamp));
        Ok(results)
    }
}
