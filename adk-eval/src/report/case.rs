//! The verdicts of cases over their runs.

use super::history::HistoryPoint;
use crate::failure::unwritable;
use crate::files::{EvalCaseResult, EvalSetResult, EvalStatus};
use crate::stats::{Baseline, BaselineCase, Comparison, Summary};
use adk_core::Result;
use std::path::Path;

/// The outcome of an eval.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalReport {
    /// The id of the set.
    pub eval_set_id: String,
    /// The cases in the order of the file.
    pub cases: Vec<CaseReport>,
    /// The difference to the baseline.
    pub comparison: Option<Comparison>,
    /// Seconds since 1970 at which the eval ended.
    pub time: f64,
}

/// The runs of one case.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseReport {
    /// The id of the case.
    pub eval_id: String,
    /// The runs in their order.
    pub runs: Vec<CaseRun>,
}

/// One run of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseRun {
    /// The result as google-adk writes it.
    pub result: EvalCaseResult,
    /// The metrics that were not evaluated, each with the reason.
    pub reasons: Vec<(String, String)>,
    /// The error that ended the run.
    pub error: Option<String>,
    /// Seconds that the run took.
    pub seconds: f64,
}

/// A metric of a case over its runs.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricSummary {
    /// The name of the metric.
    pub name: String,
    /// The lowest mean that passes; none for an informational metric.
    pub threshold: Option<f64>,
    /// The scores; none if no run was evaluated.
    pub summary: Option<Summary>,
    /// The verdict on the mean.
    pub status: EvalStatus,
}

impl CaseRun {
    /// Returns true if the run passed by itself. pass^k counts these runs.
    pub fn is_pass(&self) -> bool {
        self.error.is_none() && self.result.final_eval_status == EvalStatus::Passed
    }
}

impl CaseReport {
    /// Returns the metrics with their means, in the order of the config.
    pub fn metrics(&self) -> Vec<MetricSummary> {
        let with_metrics = |run: &&CaseRun| !run.result.overall_eval_metric_results.is_empty();
        let Some(first) = self.runs.iter().find(with_metrics) else {
            return Vec::new();
        };
        let metrics = first.result.overall_eval_metric_results.iter();
        let summary = |(place, metric): (usize, &crate::files::EvalMetricResult)| {
            let scores = self.runs.iter().filter_map(|run| {
                let results = &run.result.overall_eval_metric_results;
                results.get(place).and_then(|result| result.score)
            });
            let summary = Summary::new(&scores.collect::<Vec<_>>());
            let status = match (&summary, metric.metric.threshold) {
                (_, None) => EvalStatus::Informational,
                (None, Some(_)) => EvalStatus::NotEvaluated,
                (Some(summary), Some(threshold)) => EvalStatus::from_score(summary.mean, threshold),
            };
            MetricSummary {
                name: metric.metric.metric_name.clone(),
                threshold: metric.metric.threshold,
                summary,
                status,
            }
        };
        metrics.enumerate().map(summary).collect()
    }

    /// Returns true if no run ended with an error, no mean is below its threshold, and at least one
    /// metric was evaluated.
    pub fn is_pass(&self) -> bool {
        let verdict = EvalStatus::from_metrics(self.metrics().iter().map(|metric| metric.status));
        verdict == EvalStatus::Passed && self.runs.iter().all(|run| run.error.is_none())
    }

    /// Counts the runs that passed.
    pub fn passes(&self) -> usize {
        self.runs.iter().filter(|run| run.is_pass()).count()
    }

    /// Returns a sentence for each reason why the case failed.
    pub fn faults(&self) -> Vec<String> {
        let metrics = self.metrics();
        let mut faults = Vec::new();
        let mut errors: Vec<&str> = Vec::new();
        for error in self.runs.iter().filter_map(|run| run.error.as_deref()) {
            if !errors.contains(&error) {
                errors.push(error);
            }
        }
        for error in errors {
            let is_same = |run: &&CaseRun| run.error.as_deref() == Some(error);
            let count = self.runs.iter().filter(is_same).count();
            faults.push(match self.runs.len() {
                1 => error.to_owned(),
                all => format!("{count} of {all} runs ended with an error: {error}"),
            });
        }
        for metric in &metrics {
            if let (EvalStatus::Failed, Some(summary)) = (metric.status, metric.summary) {
                let threshold = metric.threshold.unwrap_or_default();
                let mean = summary.mean;
                faults.push(format!("{} is {mean:.2}, below {threshold}", metric.name));
            }
        }
        let is_evaluated = |metric: &MetricSummary| {
            matches!(metric.status, EvalStatus::Passed | EvalStatus::Failed)
        };
        if faults.is_empty() && !metrics.iter().any(is_evaluated) {
            faults.push("no metric was evaluated".to_owned());
        }
        faults
    }
}

impl EvalReport {
    /// Returns true if the set has cases, all of them pass, and it did not regress.
    pub fn is_pass(&self) -> bool {
        let is_regression = self
            .comparison
            .as_ref()
            .is_some_and(Comparison::is_regression);
        !self.cases.is_empty() && !is_regression && self.cases.iter().all(CaseReport::is_pass)
    }

    /// Returns the result file of google-adk. A case has one result for each run.
    pub fn to_result(&self, app: &str) -> EvalSetResult {
        let runs = self.cases.iter().flat_map(|case| &case.runs);
        let results = runs.map(|run| run.result.clone()).collect();
        EvalSetResult::new(app, &self.eval_set_id, results, self.time)
    }

    /// Returns the passes and scores as a baseline of later evals.
    pub fn to_baseline(&self) -> Baseline {
        let case = |case: &CaseReport| {
            let mut baseline = BaselineCase {
                runs: case.runs.len(),
                passes: case.passes(),
                ..BaselineCase::default()
            };
            for run in &case.runs {
                for metric in &run.result.overall_eval_metric_results {
                    if let (Some(score), Some(_)) = (metric.score, metric.metric.threshold) {
                        let scores = baseline.scores.entry(metric.metric.metric_name.clone());
                        scores.or_default().push(score);
                    }
                }
            }
            (case.eval_id.clone(), baseline)
        };
        Baseline {
            eval_set_id: self.eval_set_id.clone(),
            cases: self.cases.iter().map(case).collect(),
        }
    }

    /// Writes `junit.xml` and `SET.html` into a folder.
    ///
    /// # Errors
    ///
    /// The folder cannot be written.
    pub fn write(&self, folder: &Path, history: &[HistoryPoint]) -> Result<()> {
        let page = format!("{}.html", self.eval_set_id.replace(['/', '\\'], "_"));
        std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
        for (name, text) in [
            ("junit.xml", self.to_junit()),
            (page.as_str(), self.to_html(history)),
        ] {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(|error| unwritable(&path, &error))?;
        }
        Ok(())
    }
}
