//! [`score_run`]: the verdict on one run of a case.

use crate::files::{EvalCase, EvalCaseResult, EvalStatus, Invocation, InvocationResult};
use crate::metrics::{MetricKind, MetricPlan, MetricScores};
use crate::report::CaseRun;

/// The turns of one run of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseTurns {
    /// The turns, as many as the case expects.
    pub turns: Vec<Invocation>,
    /// The session.
    pub session_id: String,
    /// The user.
    pub user_id: String,
    /// The error that ended the run early.
    pub error: Option<String>,
    /// Seconds that the run took.
    pub seconds: f64,
}

/// Computes the metrics of a run. `other` computes the metrics of judges and of the program; `None`
/// leaves the metric without a score.
///
/// A run that ended with an error has failed, without scores.
pub fn score_run(
    eval_set_id: &str,
    case: &EvalCase,
    plans: &[MetricPlan],
    happened: CaseTurns,
    mut other: impl FnMut(&MetricPlan) -> Option<MetricScores>,
) -> CaseRun {
    let mut run = CaseRun {
        result: EvalCaseResult {
            eval_set_file: Some(eval_set_id.to_owned()),
            eval_set_id: eval_set_id.to_owned(),
            eval_id: case.eval_id.clone(),
            final_eval_status: EvalStatus::Failed,
            eval_metric_results: None,
            overall_eval_metric_results: Vec::new(),
            eval_metric_result_per_invocation: Vec::new(),
            session_id: happened.session_id,
            session_details: None,
            user_id: Some(happened.user_id),
        },
        reasons: Vec::new(),
        error: happened.error,
        seconds: happened.seconds,
    };
    if run.error.is_some() {
        return run;
    }
    let expected = case.conversation.as_deref().unwrap_or_default();
    let turns = with_rubrics(happened.turns, case, expected);
    let result = &mut run.result;
    let per_turn = turns
        .iter()
        .enumerate()
        .map(|(place, turn)| InvocationResult {
            actual_invocation: turn.clone(),
            expected_invocation: expected.get(place).cloned(),
            eval_metric_results: Vec::new(),
        });
    result.eval_metric_result_per_invocation = per_turn.collect();
    for plan in plans {
        let special = match plan.kind {
            MetricKind::Judge | MetricKind::Custom => other(plan),
            _ => None,
        };
        let scores = special.unwrap_or_else(|| plan.evaluate(&turns, expected));
        let places = result
            .eval_metric_result_per_invocation
            .iter_mut()
            .enumerate();
        for (place, turn) in places {
            turn.eval_metric_results
                .push(plan.result(scores.turn(place)));
        }
        let reason = scores.reason;
        run.reasons
            .extend(reason.map(|reason| (plan.metric.metric_name.clone(), reason)));
        result
            .overall_eval_metric_results
            .push(plan.result(scores.overall));
    }
    let metrics = result.overall_eval_metric_results.iter();
    result.final_eval_status = EvalStatus::from_metrics(metrics.map(|metric| metric.eval_status));
    run
}

/// Gives each turn the rubrics of its case and of the expected turn, as google-adk does.
fn with_rubrics(
    mut turns: Vec<Invocation>,
    case: &EvalCase,
    expected: &[Invocation],
) -> Vec<Invocation> {
    for (place, turn) in turns.iter_mut().enumerate() {
        let of_turn = expected.get(place).and_then(|turn| turn.rubrics.clone());
        let rubrics = case.rubrics.iter().chain(&of_turn).flatten().cloned();
        let rubrics: Vec<_> = rubrics.collect();
        if !rubrics.is_empty() {
            turn.rubrics = Some(rubrics);
        }
    }
    turns
}
