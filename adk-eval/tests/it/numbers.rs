//! Numbers over repeated runs can be trusted: intervals cover the truth, noise is not a regression.

use adk::eval::{Baseline, BaselineCase, Summary};
use fastrand::Rng;

const TRIES: usize = 1000;

fn verdict(random: &mut Rng, share: f64) -> f64 {
    f64::from(u8::from(random.f64() < share))
}

/// Counts the tries in which the interval covers the truth.
fn covered(random: &mut Rng, truth: f64, mut score: impl FnMut(&mut Rng) -> f64) -> usize {
    let is_covered = |_: &usize| {
        let scores: Vec<_> = (0..20).map(|_| score(random)).collect();
        let (low, high) = Summary::new(&scores).unwrap().interval;
        (low..=high).contains(&truth)
    };
    (0..TRIES).filter(is_covered).count()
}

#[test]
fn the_interval_of_a_coin_covers_the_truth() {
    let mut random = Rng::with_seed(7);
    for share in [0.5, 0.1, 0.8, 0.95, 0.99] {
        let count = covered(&mut random, share, |random| verdict(random, share));
        println!("share {share}: {count} of {TRIES}");
        assert!(count >= 950, "share {share}: only {count} of {TRIES}");
    }
}

#[test]
fn the_interval_of_scores_covers_the_truth() {
    let mut random = Rng::with_seed(8);
    let count = covered(&mut random, 0.8, |random| 0.7 + 0.2 * random.f64());
    println!("{count} of {TRIES}");
    assert!((935..=970).contains(&count), "{count} of {TRIES}");
}

/// Runs ten cases five times each, where a case passes with its share.
fn set(random: &mut Rng, shares: &[f64; 10]) -> Baseline {
    let case = |(place, share): (usize, &f64)| {
        let scores: Vec<_> = (0..5).map(|_| verdict(random, *share)).collect();
        let case = BaselineCase {
            runs: 5,
            passes: scores.iter().filter(|score| **score == 1.0).count(),
            scores: [("quality".to_owned(), scores)].into(),
        };
        (format!("case_{place}"), case)
    };
    Baseline {
        eval_set_id: "coins".to_owned(),
        cases: shares.iter().enumerate().map(case).collect(),
    }
}

/// Counts the tries in which a change of the shares is reported.
fn reported(random: &mut Rng, tries: usize, before: &[f64; 10], after: &[f64; 10]) -> usize {
    let is_reported = |_: &usize| {
        let baseline = set(random, before);
        baseline.compare(&set(random, after)).is_regression()
    };
    (0..tries).filter(is_reported).count()
}

#[test]
fn a_drop_is_reported_and_noise_is_not() {
    let mut random = Rng::with_seed(9);
    let found = reported(&mut random, TRIES, &[1.0; 10], &[0.6; 10]);
    println!("drop from 1.0 to 0.6: {found} of {TRIES}");
    assert!(found >= 990);
    let mixed = [1.0, 1.0, 1.0, 0.9, 0.9, 0.7, 0.5, 0.5, 0.2, 0.0];
    for shares in [[0.6; 10], [0.8; 10], [0.95; 10], [1.0; 10], mixed] {
        let found = reported(&mut random, 10 * TRIES, &shares, &shares);
        println!("noise at {shares:?}: {found} of {}", 10 * TRIES);
        assert!(found <= TRIES / 10);
    }
}

#[test]
fn a_baseline_compares_the_cases_that_both_have() {
    let case = |passes| BaselineCase {
        runs: 5,
        passes,
        ..BaselineCase::default()
    };
    let set = |cases: &[(&str, usize)]| Baseline {
        eval_set_id: "desk".to_owned(),
        cases: (cases
            .iter()
            .map(|(id, passes)| ((*id).to_owned(), case(*passes))))
        .collect(),
    };
    let before = set(&[("refund", 5), ("wrong_order", 5), ("removed", 0)]);
    let after = set(&[("refund", 5), ("wrong_order", 2), ("added", 0)]);
    let comparison = before.compare(&after);
    assert_eq!(
        (comparison.passes, comparison.base_passes),
        ((7, 10), (10, 10))
    );
    assert_eq!(comparison.cases.len(), 2);
    let change = comparison.cases["wrong_order"];
    assert_eq!(
        (change.passes, format!("{:.2}", change.p)),
        (-3.0, "0.08".to_owned())
    );
    assert!(!comparison.is_regression());

    let path = std::env::temp_dir().join(format!("adk-baseline-{}.json", std::process::id()));
    before.write(&path).unwrap();
    assert_eq!(Baseline::read(&path).unwrap(), before);
    std::fs::write(&path, "{}").unwrap();
    let error = Baseline::read(&path).unwrap_err().to_string();
    std::fs::remove_file(&path).unwrap();
    assert!(
        error.contains("is not a baseline: missing field `eval_set_id`"),
        "{error}"
    );
}
