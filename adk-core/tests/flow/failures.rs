//! [`Failures`]: disagreements between checker and execution, one example of each kind with its
//! smallest tree.

use super::judge::accepts;
use super::shrink::shrink;
use super::tree::Flow;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The maximum number of kinds. Later failures show nothing new.
const MOST: usize = 200;

#[derive(Default)]
pub struct Failures {
    count: usize,
    kinds: BTreeMap<String, Failure>,
}

struct Failure {
    count: usize,
    why: String,
    seed: u64,
    text: String,
}

impl Failures {
    /// Shrinks a failing tree and adds it.
    pub fn add(
        &mut self,
        flow: Flow,
        why: String,
        seed: u64,
        fails: impl Fn(&Flow) -> Option<String>,
    ) {
        self.count += 1;
        if self.count > MOST {
            return;
        }
        // Nested workflows stay free of faults, as in grown trees.
        let fails = |flow: &Flow| {
            fails(flow).filter(|_| flow.definitions().iter().all(|inner| accepts(inner)))
        };
        let (flow, why) = shrink(flow, why, fails);
        let text = flow.to_string();
        let kind = why.split('`').step_by(2).collect();
        let failure = self.kinds.entry(kind).or_insert_with(|| Failure {
            count: 0,
            why: String::new(),
            seed,
            text: String::new(),
        });
        failure.count += 1;
        if failure.text.is_empty() || text.len() < failure.text.len() {
            (failure.why, failure.seed, failure.text) = (why, seed, text);
        }
    }

    /// Panics if there is any failure.
    pub fn none(self) {
        let mut all = String::new();
        for Failure {
            count,
            why,
            seed,
            text,
        } in self.kinds.values()
        {
            writeln!(
                all,
                "{count} times: {why}\n{text}repeat with ADK_SEED={seed} ADK_TREES=1\n"
            )
            .unwrap();
        }
        assert!(self.count == 0, "{} trees fail\n\n{all}", self.count);
    }
}
