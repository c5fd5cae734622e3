//! [`count`]: an upper bound of the number of keys.

use crate::effects::{Effects, is_alone};
use crate::spec::{Step, StepKind};

/// Returns an upper bound of the number of written keys: each write counts as a key of its own,
/// once more for each `each` around it.
pub(in crate::check) const fn count(steps: &[Step<'_>]) -> usize {
    let (mut keys, mut deep, mut around, mut at) = (0, 0, 0, 0);
    while at < steps.len() {
        let step = &steps[at];
        if deep > 0 && at == steps[around].end {
            deep -= 1;
            around = if deep > 0 {
                each_around(steps, around)
            } else {
                0
            };
        }
        match step.kind {
            StepKind::Agent { meta, .. } => {
                let mut own = 0;
                if is_alone(meta) {
                    let mut writes = meta.writes;
                    while let [_, rest @ ..] = writes {
                        (writes, own) = (rest, own + 1);
                    }
                } else {
                    let mut all = Effects::writes(meta, &step.renames);
                    while all.next().is_some() {
                        own += 1;
                    }
                }
                // A write inside an `each` also writes a list outside of the `each`.
                keys += own * (1 + deep);
            }
            // The key `error` of the `else`.
            StepKind::Else => keys += 1,
            StepKind::Each { .. } => {
                (around, deep) = (at, deep + 1);
                keys += 1;
            }
            _ => {}
        }
        at += 1;
    }
    keys
}

/// Returns the innermost `each` around the `each` at `inner`. There must be one.
const fn each_around(steps: &[Step<'_>], inner: usize) -> usize {
    let is_each = rfind!(at below inner => {
        matches!(steps[at].kind, StepKind::Each { .. }) && steps[at].end > steps[inner].end
    });
    match is_each {
        Some(each) => each,
        None => 0,
    }
}
