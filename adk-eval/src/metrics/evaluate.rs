//! [`MetricPlan::evaluate`]: the scores of a conversation.

use super::efficiency;
use super::plan::{MetricKind, MetricPlan};
use crate::files::{EvalMetricResult, EvalStatus, Invocation, MetricResultDetails};
use crate::text::rouge_1;

/// The scores of a metric for one conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricScores {
    /// The score of the conversation.
    pub overall: TurnScore,
    /// The score of each turn; empty if the metric was not evaluated.
    pub turns: Vec<TurnScore>,
    /// The reason why the metric was not evaluated.
    pub reason: Option<String>,
}

/// A score with its verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnScore {
    /// The score; none if the metric was not evaluated.
    pub score: Option<f64>,
    /// The verdict.
    pub status: EvalStatus,
    /// The parts of the score.
    pub details: MetricResultDetails,
}

impl TurnScore {
    fn new(score: Option<f64>, status: EvalStatus) -> Self {
        Self {
            score,
            status,
            details: MetricResultDetails::default(),
        }
    }
}

impl MetricScores {
    /// Creates the scores of a metric that was not evaluated.
    pub fn not_evaluated(reason: impl Into<String>) -> Self {
        Self {
            overall: TurnScore::new(None, EvalStatus::NotEvaluated),
            turns: Vec::new(),
            reason: Some(reason.into()),
        }
    }

    /// Creates the scores of a metric with a score for each turn: the conversation has their mean.
    /// Without turns it is not evaluated.
    pub fn from_turns(scores: &[f64], threshold: f64) -> Self {
        let Some(mean) = efficiency::mean(scores.iter().copied()) else {
            return Self::not_evaluated("the conversation has no turns");
        };
        let verdict = |score| TurnScore::new(Some(score), EvalStatus::from_score(score, threshold));
        Self {
            overall: verdict(mean),
            turns: scores.iter().map(|score| verdict(*score)).collect(),
            reason: None,
        }
    }

    fn informational(turns: Vec<TurnScore>, overall: TurnScore) -> Self {
        Self {
            overall,
            turns,
            reason: None,
        }
    }

    /// Returns the score of a turn.
    pub fn turn(&self, place: usize) -> TurnScore {
        let missing = || TurnScore::new(None, EvalStatus::NotEvaluated);
        self.turns.get(place).cloned().unwrap_or_else(missing)
    }
}

impl MetricPlan {
    /// Computes the scores of a conversation. Metrics of judges and of the program are not
    /// evaluated.
    pub fn evaluate(&self, actual: &[Invocation], expected: &[Invocation]) -> MetricScores {
        let needs_expected = matches!(
            self.kind,
            MetricKind::Trajectory(_) | MetricKind::ResponseMatch
        );
        if needs_expected && actual.len() != expected.len() {
            return MetricScores::not_evaluated(format!(
                "the conversation has {} turns, but {} are expected",
                actual.len(),
                expected.len()
            ));
        }
        let pairs = actual.iter().zip(expected);
        let threshold = self.metric.threshold.unwrap_or_default();
        match self.kind {
            MetricKind::Trajectory(criterion) => {
                let score = |(actual, expected): (&Invocation, &Invocation)| {
                    criterion.score(&actual.tool_uses(), &expected.tool_uses())
                };
                let scores: Vec<_> = pairs.map(score).collect();
                MetricScores::from_turns(&scores, threshold)
            }
            MetricKind::ResponseMatch => {
                let score = |(actual, expected): (&Invocation, &Invocation)| {
                    rouge_1(&actual.response_text(), &expected.response_text()).fmeasure
                };
                let scores: Vec<_> = pairs.map(score).collect();
                MetricScores::from_turns(&scores, threshold)
            }
            MetricKind::ToolCalls => counts(actual, |turn| Some(efficiency::tool_calls(turn))),
            MetricKind::InferenceCalls => counts(actual, efficiency::inference_calls),
            MetricKind::Tokens => tokens(actual),
            MetricKind::Duration => durations(actual),
            MetricKind::Judge => MetricScores::not_evaluated("this version asks no judges"),
            MetricKind::Custom => MetricScores::not_evaluated("a function of the program"),
        }
    }

    /// Returns a score as results write it.
    pub fn result(&self, score: TurnScore) -> EvalMetricResult {
        EvalMetricResult {
            metric: self.metric.clone(),
            score: score.score,
            eval_status: score.status,
            details: score.details,
        }
    }
}

fn informational(score: Option<f64>) -> TurnScore {
    TurnScore::new(score, EvalStatus::Informational)
}

fn counts(turns: &[Invocation], count: fn(&Invocation) -> Option<f64>) -> MetricScores {
    let counts: Vec<_> = turns.iter().map(count).collect();
    let mean = efficiency::mean(counts.iter().copied().flatten());
    let turns = counts.into_iter().map(informational).collect();
    MetricScores::informational(turns, informational(mean))
}

fn tokens(turns: &[Invocation]) -> MetricScores {
    let counts: Vec<_> = turns.iter().map(efficiency::tokens).collect();
    let score = |details: crate::files::TokenUsageDetails| {
        let mut score = informational(details.total_tokens);
        score.details.token_usage_details = Some(details);
        score
    };
    let mean = efficiency::mean_tokens(&counts);
    let turns: Vec<_> = counts.into_iter().map(score).collect();
    if turns.is_empty() {
        MetricScores::informational(turns, informational(None))
    } else {
        MetricScores::informational(turns, score(mean))
    }
}

fn durations(turns: &[Invocation]) -> MetricScores {
    let parts: Vec<_> = turns.iter().map(efficiency::duration).collect();
    let score = |details: crate::files::DurationDetails| {
        let mut score = informational(details.total_seconds);
        score.details.duration_details = Some(details);
        score
    };
    let mean = efficiency::mean_duration(&parts);
    let turns: Vec<_> = parts.into_iter().map(score).collect();
    if turns.is_empty() {
        MetricScores::informational(turns, informational(None))
    } else {
        MetricScores::informational(turns, score(mean))
    }
}
