//! [`KnownKeys`]: the keys that exist at a step.

use super::{are_in_siblings, common_loop, holds};
use crate::effects::Effects;
use crate::spec::{ERROR_KEY, Spec, StepKind};

/// An iterator over the keys that exist at a step: the declared keys, the items of the `each`
/// blocks around the step, and the keys that other steps write. A key may occur several times.
///
/// Writes of the step itself are included only if the step runs again in a loop.
pub(super) struct KnownKeys<'s, 'a> {
    spec: &'s Spec<'a>,
    at: usize,
    end: usize,
    place: usize,
    effects: Option<Effects<'a>>,
}

impl<'s, 'a> KnownKeys<'s, 'a> {
    /// Creates the iterator over the keys that steps before `end` write.
    pub(super) const fn up_to(spec: &'s Spec<'a>, at: usize, end: usize) -> Self {
        Self {
            spec,
            at,
            end,
            place: 0,
            effects: None,
        }
    }

    pub(super) const fn next(&mut self) -> Option<&'a str> {
        let spec = self.spec;
        loop {
            if let Some(effects) = &mut self.effects {
                if let Some(effect) = effects.next() {
                    return Some(effect.key);
                }
                self.effects = None;
            }
            let i = self.place;
            self.place += 1;
            if let Some(key) = spec.declared_key(i) {
                return Some(key.name);
            }
            let i = i - spec.declared_count();
            if i >= self.end || i >= spec.steps.len() {
                return None;
            }
            let is_before = self.end < spec.steps.len();
            match spec.steps[i].kind {
                StepKind::Each { item, .. } if holds(spec, i, self.at) => return Some(item),
                StepKind::Else if holds(spec, i, self.at) => return Some(ERROR_KEY),
                StepKind::Agent { meta, .. } => {
                    let runs_once = i == self.at && common_loop(spec, i, i).is_none();
                    let is_apart = is_before && are_in_siblings(spec, i, self.at);
                    if !runs_once && !is_apart {
                        self.effects =
                            Some(Effects::writes(meta, &spec.steps[i].renames).outside());
                    }
                }
                _ => {}
            }
        }
    }
}
