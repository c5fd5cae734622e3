//! [`EvalConfig`]: the metrics of an eval with their thresholds.

use super::read::{parse, read_file, typed};
use crate::schema::{CRITERION, EVAL_CONFIG, canonical};
use adk_core::Result;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::Path;

/// The metrics of an eval: a file `test_config.json` of google-adk.
///
/// Without a file, `tool_trajectory_avg_score` must reach 1.0 and `response_match_score` 0.8.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalConfig {
    /// The metrics that are evaluated, each with its criterion, in the order of the file.
    pub criteria: Vec<(String, Criterion)>,
    /// The metrics of the program, by name.
    pub custom_metrics: Vec<(String, CustomMetric)>,
    /// Settings of the simulated user, as JSON.
    pub user_simulator_config: Option<Map<String, Value>>,
}

/// The threshold of a metric, with its other settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Criterion {
    /// The lowest score that passes.
    pub threshold: f64,
    /// True if judges also read the messages before the answer.
    pub include_intermediate_responses_in_final: bool,
    /// The settings of one metric, such as `match_type`, in the spelling of the file.
    #[serde(flatten)]
    pub settings: Map<String, Value>,
}

/// A metric that the program implements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CustomMetric {
    /// The Python function that google-adk calls. It is not called here.
    pub code_config: Map<String, Value>,
    /// The range of the metric, as JSON.
    pub metric_info: Option<Map<String, Value>>,
    /// The purpose of the metric.
    pub description: String,
}

/// The JSON of a config.
#[derive(Deserialize)]
struct ConfigJson {
    criteria: Map<String, Value>,
    custom_metrics: Option<Map<String, Value>>,
    user_simulator_config: Option<Map<String, Value>>,
}

impl Criterion {
    /// Creates a criterion without other settings.
    pub fn new(threshold: f64) -> Self {
        Self {
            threshold,
            include_intermediate_responses_in_final: false,
            settings: Map::new(),
        }
    }
}

impl Default for EvalConfig {
    fn default() -> Self {
        let criterion = |name: &str, threshold| (name.to_owned(), Criterion::new(threshold));
        Self {
            criteria: vec![
                criterion("tool_trajectory_avg_score", 1.0),
                criterion("response_match_score", 0.8),
            ],
            custom_metrics: Vec::new(),
            user_simulator_config: None,
        }
    }
}

impl EvalConfig {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// The file is missing or not JSON, or google-adk refuses a field.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_json(&read_file(path)?, &path.display().to_string())
    }

    /// Reads a text. The name of the file appears in errors.
    ///
    /// # Errors
    ///
    /// The text is not JSON, or google-adk refuses a field.
    pub fn from_json(text: &str, name: &str) -> Result<Self> {
        let config: ConfigJson = typed(&EVAL_CONFIG, parse(text, name)?, name)?;
        let criterion = |(metric, value): (String, Value)| {
            let value = match value {
                threshold @ Value::Number(_) => json!({"threshold": threshold}),
                criterion => criterion,
            };
            Ok((metric, typed(&CRITERION, value, name)?))
        };
        let custom =
            |(metric, value): (String, Value)| Ok((metric, serde_json::from_value(value)?));
        let custom_metrics = config.custom_metrics.unwrap_or_default().into_iter();
        Ok(Self {
            criteria: config
                .criteria
                .into_iter()
                .map(criterion)
                .collect::<Result<_>>()?,
            custom_metrics: custom_metrics.map(custom).collect::<Result<_>>()?,
            user_simulator_config: config.user_simulator_config,
        })
    }
}

/// Reads the settings of a criterion by the model of its metric.
pub(crate) fn settings(
    model: &crate::schema::Model,
    criterion: &Criterion,
    metric: &str,
) -> Result<Map<String, Value>> {
    let value = serde_json::to_value(criterion)?;
    canonical(model, value)
        .map_err(|error| super::read::mismatch(error, &format!("criteria.{metric}")))
}
