//! [`rouge_1`]: the overlap of the words of two texts.

use super::tokens::tokens;
use std::collections::HashMap;

/// The ROUGE-1 scores of a text against a reference, each from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rouge {
    /// The share of the candidate's words that the reference has.
    pub precision: f64,
    /// The share of the reference's words that the candidate has.
    pub recall: f64,
    /// The harmonic mean of both: the score of `response_match_score`.
    pub fmeasure: f64,
}

/// Compares a text with its reference as google-adk does, to the last bit.
///
/// ```
/// # use adk_eval::rouge_1;
/// let score = rouge_1(
///     "The cats are sleeping on the mats today.",
///     "The cat is sleeping on the mat.",
/// );
/// assert_eq!(score.fmeasure, 0.7999999999999999);
/// ```
pub fn rouge_1(candidate: &str, reference: &str) -> Rouge {
    let (candidate, reference) = (count(candidate), count(reference));
    let common = |(token, wanted): (&String, &u32)| {
        let found = candidate.get(token).copied().unwrap_or_default();
        found.min(*wanted)
    };
    let overlap: u32 = reference.iter().map(common).sum();
    let precision = share(overlap, &candidate);
    let recall = share(overlap, &reference);
    let sum = precision + recall;
    // Python computes from left to right. Another order gives other last bits.
    let fmeasure = if sum > 0.0 {
        2.0 * precision * recall / sum
    } else {
        0.0
    };
    Rouge {
        precision,
        recall,
        fmeasure,
    }
}

fn count(text: &str) -> HashMap<String, u32> {
    let mut counts = HashMap::new();
    for token in tokens(text) {
        *counts.entry(token).or_default() += 1;
    }
    counts
}

fn share(overlap: u32, counts: &HashMap<String, u32>) -> f64 {
    let all: u32 = counts.values().sum();
    f64::from(overlap) / f64::from(all.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that google-adk 2.13.0 printed: candidate, reference, precision, recall, F.
    const ROWS: &[(&str, &str, f64, f64, f64)] = &[
        (
            "The cats are sleeping on the mats today.",
            "The cat is sleeping on the mat.",
            0.75,
            0.8571428571428571,
            0.7999999999999999,
        ),
        ("", "a", 0.0, 0.0, 0.0),
        ("a", "", 0.0, 0.0, 0.0),
        ("", "", 0.0, 0.0, 0.0),
        ("same", "same", 1.0, 1.0, 1.0),
        (
            "Generalizations of dying flies.",
            "generalization die fly",
            0.5,
            0.6666666666666666,
            0.5714285714285715,
        ),
        ("東京タワー", "東京", 0.4, 1.0, 0.5714285714285715),
        (
            "สวัสดี",
            "สวัสดีครับ",
            1.0,
            0.5714285714285714,
            0.7272727272727273,
        ),
        ("Füße, naïve café!", "fusse naive cafe", 0.0, 0.0, 0.0),
        (
            "1,000.50 USD",
            "1000.50 usd",
            0.5,
            0.6666666666666666,
            0.5714285714285715,
        ),
        ("don't stop", "dont stop", 0.3333333333333333, 0.5, 0.4),
        (
            "a a a b",
            "a b b",
            0.5,
            0.6666666666666666,
            0.5714285714285715,
        ),
        ("the_quick", "the quick", 1.0, 1.0, 1.0),
        ("ＡＢＣ ①", "abc 1", 1.0, 1.0, 1.0),
        ("Straße", "strasse", 0.0, 0.0, 0.0),
    ];

    #[test]
    fn scores_equal_those_of_google_adk_to_the_last_bit() {
        for &(candidate, reference, precision, recall, fmeasure) in ROWS {
            let expected = Rouge {
                precision,
                recall,
                fmeasure,
            };
            let score = rouge_1(candidate, reference);
            assert_eq!(score, expected, "{candidate:?} against {reference:?}");
        }
    }
}
