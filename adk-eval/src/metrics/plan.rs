//! [`MetricPlan`]: a metric of a config with its settings, read and checked before any call.

use super::trajectory::TrajectoryCriterion;
use crate::failure::refused;
use crate::files::{Criterion, EvalConfig, EvalMetric, settings};
use crate::schema::{HALLUCINATIONS_CRITERION, JUDGE_CRITERION, Model, RUBRICS_CRITERION};
use adk_core::{Error, Result};
use adk_spec::nearest::nearest;

/// A metric that an eval computes.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricPlan {
    /// The metric as results name it.
    pub metric: EvalMetric,
    /// The way in which it is computed.
    pub kind: MetricKind,
}

/// The way in which a metric is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum MetricKind {
    /// `tool_trajectory_avg_score`.
    Trajectory(TrajectoryCriterion),
    /// `response_match_score`.
    ResponseMatch,
    /// `tool_call_count_v1`.
    ToolCalls,
    /// `inference_call_count_v1`.
    InferenceCalls,
    /// `token_usage_v1`.
    Tokens,
    /// `invocation_duration_v1`.
    Duration,
    /// A model judges. This version does not ask it.
    Judge,
    /// A function of the program.
    Custom,
}

/// Metrics that are reported without being asked for, and never pass or fail.
const INFORMATIONAL: [(&str, MetricKind); 4] = [
    ("tool_call_count_v1", MetricKind::ToolCalls),
    ("inference_call_count_v1", MetricKind::InferenceCalls),
    ("token_usage_v1", MetricKind::Tokens),
    ("invocation_duration_v1", MetricKind::Duration),
];

/// Metrics of a judge, with the models of their criteria.
const JUDGED: [(&str, &Model); 6] = [
    ("final_response_match_v2", &JUDGE_CRITERION),
    ("rubric_based_final_response_quality_v1", &RUBRICS_CRITERION),
    ("rubric_based_tool_use_quality_v1", &RUBRICS_CRITERION),
    (
        "rubric_based_multi_turn_trajectory_quality_v1",
        &RUBRICS_CRITERION,
    ),
    ("hallucinations_v1", &HALLUCINATIONS_CRITERION),
    ("per_turn_user_simulator_quality_v1", &JUDGE_CRITERION),
];

/// Metrics that only a service of Google computes, each with a metric that measures about the same.
const HOSTED: [(&str, &str); 5] = [
    ("response_evaluation_score", "final_response_match_v2"),
    ("safety_v1", "rubric_based_final_response_quality_v1"),
    (
        "multi_turn_task_success_v1",
        "rubric_based_multi_turn_trajectory_quality_v1",
    ),
    (
        "multi_turn_trajectory_quality_v1",
        "rubric_based_multi_turn_trajectory_quality_v1",
    ),
    (
        "multi_turn_tool_use_quality_v1",
        "rubric_based_tool_use_quality_v1",
    ),
];

const TRAJECTORY: &str = "tool_trajectory_avg_score";
const RESPONSE: &str = "response_match_score";

/// Returns the metrics of a config in its order, then the informational metrics. `bound` has the
/// names of the metrics that the program implements.
///
/// # Errors
///
/// A metric is unknown, is computed only by a service of Google, needs a function of the program,
/// or has settings that google-adk refuses.
pub fn metric_plans(config: &EvalConfig, bound: &[&str]) -> Result<Vec<MetricPlan>> {
    let mut plans = Vec::new();
    for (name, criterion) in &config.criteria {
        let custom = config
            .custom_metrics
            .iter()
            .find(|(custom, _)| custom == name);
        let function = custom.and_then(|(_, metric)| metric.code_config.get("name"));
        let function = function.and_then(|name| name.as_str()).map(str::to_owned);
        plans.push(MetricPlan {
            kind: kind(name, criterion, custom.is_some(), bound)?,
            metric: EvalMetric {
                metric_name: name.clone(),
                threshold: Some(criterion.threshold),
                criterion: Some(criterion.clone()),
                custom_function_path: function,
            },
        });
    }
    plans.extend(INFORMATIONAL.map(|(name, kind)| MetricPlan {
        metric: EvalMetric {
            metric_name: name.to_owned(),
            threshold: None,
            criterion: None,
            custom_function_path: None,
        },
        kind,
    }));
    Ok(plans)
}

fn kind(name: &str, criterion: &Criterion, is_custom: bool, bound: &[&str]) -> Result<MetricKind> {
    if bound.contains(&name) {
        return Ok(MetricKind::Custom);
    }
    if is_custom {
        return Err(refused(
            format!("the custom metric `{name}` has no function; its Python is not called"),
            format!("bind one with `.metric(\"{name}\", ...)`"),
        ));
    }
    if let Some((_, model)) = JUDGED.iter().find(|(judged, _)| *judged == name) {
        settings(model, criterion, name)?;
        return Ok(MetricKind::Judge);
    }
    match name {
        TRAJECTORY => Ok(MetricKind::Trajectory(TrajectoryCriterion::new(criterion)?)),
        RESPONSE => Ok(MetricKind::ResponseMatch),
        _ => Err(refusal(name, bound)),
    }
}

/// Makes the error of a metric that cannot be computed.
fn refusal(name: &str, bound: &[&str]) -> Error {
    if INFORMATIONAL.iter().any(|(other, _)| *other == name) {
        return refused(
            format!("the metric `{name}` has a threshold, but never passes or fails"),
            "remove it from `criteria`; every eval reports it",
        );
    }
    if let Some((_, like)) = HOSTED.iter().find(|(hosted, _)| *hosted == name) {
        return refused(
            format!("only a service of Google Cloud (Vertex AI) computes the metric `{name}`"),
            format!("remove it from `criteria`, or use `{like}`"),
        );
    }
    let judged = JUDGED.iter().map(|(judged, _)| *judged);
    let known = judged
        .chain([TRAJECTORY, RESPONSE])
        .chain(bound.iter().copied());
    let help = match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("bind a function with `.metric(\"{name}\", ...)`"),
    };
    refused(format!("the metric `{name}` does not exist"), help)
}
