//! Exact probabilities of counts.

/// Returns pass^k: the probability that `k` runs all pass, where `passes` of `runs` passed. It is
/// the share of the choices of `k` runs that have passes only. `None` if `k` is larger than `runs`.
///
/// ```
/// # use adk_eval::pass_hat;
/// assert_eq!(pass_hat(5, 4, 1), Some(0.8));
/// assert_eq!(pass_hat(5, 4, 2), Some(0.6));
/// assert_eq!(pass_hat(5, 4, 5), Some(0.0));
/// ```
pub fn pass_hat(runs: usize, passes: usize, k: usize) -> Option<f64> {
    if k > runs {
        return None;
    }
    if k > passes {
        return Some(0.0);
    }
    // The products are exact in integers as long as they fit.
    let factor = |all: usize| (0..k).map(|at| (all - at) as f64).product::<f64>();
    let share = factor(passes) / factor(runs);
    if share.is_finite() {
        Some(share)
    } else {
        Some(
            (0..k)
                .map(|at| (passes - at) as f64 / (runs - at) as f64)
                .product(),
        )
    }
}

/// Returns the probability of at most `passes` passes, if a run passes with this share.
pub(super) fn binomial_at_most(passes: usize, count: usize, share: f64) -> f64 {
    (0..=passes)
        .map(|at| binomial(at, count, share))
        .sum::<f64>()
        .min(1.0)
}

/// Returns the probability of at least `passes` passes.
pub(super) fn binomial_at_least(passes: usize, count: usize, share: f64) -> f64 {
    (passes..=count)
        .map(|at| binomial(at, count, share))
        .sum::<f64>()
        .min(1.0)
}

fn binomial(passes: usize, count: usize, share: f64) -> f64 {
    let fails = count - passes;
    if share <= 0.0 {
        return f64::from(u8::from(passes == 0));
    }
    if share >= 1.0 {
        return f64::from(u8::from(fails == 0));
    }
    let log =
        log_choose(count, passes) + passes as f64 * share.ln() + fails as f64 * (-share).ln_1p();
    log.exp()
}

/// Returns the p-value of Fisher's exact test on one side: the probability of at most `passes` of
/// `runs`, if the runs pass like those of the baseline.
///
/// ```
/// # use adk_eval::fisher_p;
/// let p = fisher_p(2, 5, 5, 5);
/// assert!((p - 0.0833).abs() < 1e-4);
/// ```
pub fn fisher_p(passes: usize, runs: usize, base_passes: usize, base_runs: usize) -> f64 {
    let (all, all_passes) = (
        runs + base_runs,
        passes.min(runs) + base_passes.min(base_runs),
    );
    // Fewer passes than this do not fit, because the baseline has no room for the others.
    let least = all_passes.saturating_sub(base_runs);
    let log_all = log_choose(all, all_passes);
    let probability =
        |at: usize| (log_choose(runs, at) + log_choose(base_runs, all_passes - at) - log_all).exp();
    (least..=passes.min(runs))
        .map(probability)
        .sum::<f64>()
        .min(1.0)
}

/// Returns the logarithm of the number of choices.
fn log_choose(all: usize, chosen: usize) -> f64 {
    let chosen = chosen.min(all - chosen.min(all));
    let factor = |at: usize| ((all - at) as f64).ln() - ((at + 1) as f64).ln();
    (0..chosen).map(factor).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_are_those_of_exact_fractions() {
        for (row, expected) in [
            ((2, 5, 5, 5), 0.08333333333333333),
            ((30, 50, 50, 50), 8.79303628551999e-08),
            ((5, 5, 5, 5), 1.0),
            ((0, 5, 5, 5), 0.003968253968253968),
            ((40, 50, 42, 50), 0.39764718463266685),
            ((0, 0, 5, 5), 1.0),
            ((5, 5, 0, 5), 1.0),
        ] {
            let p = fisher_p(row.0, row.1, row.2, row.3);
            assert!((p - expected).abs() < 1e-9 * expected, "{row:?}: {p}");
        }
    }

    #[test]
    fn pass_hat_is_a_share_of_choices() {
        for (runs, passes, k, expected) in [
            (5, 5, 5, Some(1.0)),
            (5, 0, 1, Some(0.0)),
            (5, 3, 2, Some(0.3)),
            (3, 2, 4, None),
            (400, 399, 399, Some(0.0025)),
        ] {
            let found = pass_hat(runs, passes, k);
            let is_near = match (found, expected) {
                (Some(found), Some(expected)) => f64::abs(found - expected) < 1e-9,
                (found, expected) => found == expected,
            };
            assert!(is_near, "{runs} {passes} {k}: {found:?}");
        }
    }
}
