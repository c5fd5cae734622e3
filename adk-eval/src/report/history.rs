//! [`HistoryPoint`]: the means of earlier evals, for the chart of the page.

use crate::files::EvalSetResult;

/// The means of one eval.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryPoint {
    /// Seconds since 1970.
    pub time: f64,
    /// The mean of each metric with a threshold, in the order of the result.
    pub means: Vec<(String, f64)>,
}

/// Returns the means of some results.
pub fn history_points(results: &[EvalSetResult]) -> Vec<HistoryPoint> {
    results.iter().map(point).collect()
}

fn point(result: &EvalSetResult) -> HistoryPoint {
    let mut sums: Vec<(String, f64, u32)> = Vec::new();
    let cases = result.eval_case_results.iter();
    for metric in cases.flat_map(|case| &case.overall_eval_metric_results) {
        let (Some(score), Some(_)) = (metric.score, metric.metric.threshold) else {
            continue;
        };
        let name = &metric.metric.metric_name;
        match sums.iter_mut().find(|(known, ..)| known == name) {
            Some((_, sum, count)) => {
                *sum += score;
                *count += 1;
            }
            None => sums.push((name.clone(), score, 1)),
        }
    }
    let means = sums.into_iter();
    HistoryPoint {
        time: result.creation_timestamp,
        means: means
            .map(|(name, sum, count)| (name, sum / f64::from(count)))
            .collect(),
    }
}
