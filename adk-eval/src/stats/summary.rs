//! [`Summary`]: the mean of some scores, and how far it is from the truth.

use super::exact::{binomial_at_least, binomial_at_most};

/// The share of intervals that cover the truth.
const CONFIDENCE: f64 = 0.95;

/// The mean of the scores of some runs.
///
/// ```
/// # use adk_eval::Summary;
/// let summary = Summary::new(&[1.0, 1.0, 0.0, 1.0, 1.0]).unwrap();
/// assert_eq!(summary.mean, 0.8);
/// assert_eq!(format!("{summary:.2}"), "0.80 ± 0.45");
/// let (low, high) = summary.interval;
/// assert!(low < 0.29 && high > 0.99);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The number of scores.
    pub count: usize,
    /// The mean.
    pub mean: f64,
    /// The standard deviation of the scores; 0 for one score.
    pub deviation: f64,
    /// The interval that covers the true mean in 95 % of all cases.
    ///
    /// For scores that are only 0 and 1 it is exact (Clopper and Pearson), so that ten passes of
    /// ten do not prove that each run passes. For other scores it is Student's. One score of
    /// another kind proves nothing: the interval is the score.
    pub interval: (f64, f64),
}

impl Summary {
    /// Computes the numbers of some scores. `None` without scores.
    pub fn new(scores: &[f64]) -> Option<Self> {
        if scores.is_empty() {
            return None;
        }
        let count = scores.len();
        let mean = sum(scores.iter().copied()) / count as f64;
        let squares = sum(scores.iter().map(|score| (score - mean).powi(2)));
        let deviation = match count {
            1 => 0.0,
            _ => (squares / (count - 1) as f64).sqrt(),
        };
        let are_verdicts = scores.iter().all(|score| [0.0, 1.0].contains(score));
        let interval = if are_verdicts {
            let passes = scores.iter().filter(|score| **score == 1.0).count();
            share_interval(passes, count)
        } else {
            let half = match count {
                1 => 0.0,
                _ => student(count - 1) * deviation / (count as f64).sqrt(),
            };
            (mean - half, mean + half)
        };
        Some(Self {
            count,
            mean,
            deviation,
            interval,
        })
    }
}

impl std::fmt::Display for Summary {
    /// Writes the mean, and the deviation unless it is zero.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let places = f.precision().unwrap_or(2);
        write!(f, "{:.places$}", self.mean)?;
        if self.deviation > 0.0 {
            write!(f, " ± {:.places$}", self.deviation)?;
        }
        Ok(())
    }
}

fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}

/// Returns all shares under which this number of passes is not improbable.
fn share_interval(passes: usize, count: usize) -> (f64, f64) {
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let low = match passes {
        0 => 0.0,
        _ => root(|share| binomial_at_least(passes, count, share) - tail),
    };
    let high = if passes == count {
        1.0
    } else {
        root(|share| tail - binomial_at_most(passes, count, share))
    };
    (low, high)
}

/// Finds the zero of a function that grows from 0 to 1.
fn root(grows: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if grows(middle) < 0.0 {
            low = middle
        } else {
            high = middle
        }
    }
    (low + high) / 2.0
}

/// Returns the quantile of Student's distribution for [`CONFIDENCE`], on both sides.
fn student(freedom: usize) -> f64 {
    // The search is over the tangent of the angle in which the distribution has a finite sum.
    let angle = root(|part| {
        let angle = part * std::f64::consts::FRAC_PI_2;
        student_within(angle, freedom) - CONFIDENCE
    });
    (angle * std::f64::consts::FRAC_PI_2).tan() * (freedom as f64).sqrt()
}

/// Returns the probability that |t| is at most `tan(angle) * sqrt(freedom)` (Abramowitz and Stegun,
/// 26.7.3 and 26.7.4).
fn student_within(angle: f64, freedom: usize) -> f64 {
    let (sin, cos) = angle.sin_cos();
    let is_odd = freedom % 2 == 1;
    let mut term = if is_odd { cos } else { 1.0 };
    let mut sum = if freedom == 1 { 0.0 } else { term };
    let mut at = if is_odd { 3 } else { 2 };
    while at < freedom {
        term *= cos * cos * (at - 1) as f64 / at as f64;
        sum += term;
        at += 2;
    }
    if is_odd {
        (angle + sin * sum) / std::f64::consts::FRAC_PI_2
    } else {
        sin * sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, expected) in [
            (1, 12.7062),
            (2, 4.3027),
            (3, 3.1824),
            (4, 2.7764),
            (5, 2.5706),
            (9, 2.2622),
            (10, 2.2281),
            (19, 2.0930),
            (30, 2.0423),
            (1000, 1.9623),
        ] {
            let found = student(freedom);
            assert!((found - expected).abs() < 1e-4, "{freedom}: {found}");
        }
    }

    #[test]
    fn intervals_of_shares_are_those_of_the_tables() {
        for (passes, count, low, high) in [
            (0, 10, 0.0, 0.3085),
            (10, 10, 0.6915, 1.0),
            (6, 20, 0.1189, 0.5428),
            (4, 5, 0.2836, 0.9949),
        ] {
            let (found_low, found_high) = share_interval(passes, count);
            assert!(
                (found_low - low).abs() < 1e-4,
                "{passes}/{count}: {found_low}"
            );
            assert!(
                (found_high - high).abs() < 1e-4,
                "{passes}/{count}: {found_high}"
            );
        }
    }

    #[test]
    fn one_score_and_equal_scores_have_no_deviation() {
        let one = Summary::new(&[0.5]).unwrap();
        assert_eq!((one.deviation, one.interval), (0.0, (0.5, 0.5)));
        assert_eq!(one.to_string(), "0.50");
        assert_eq!(Summary::new(&[]), None);
    }
}
