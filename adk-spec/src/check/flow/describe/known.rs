//! The keys that there are at a step.

use super::{Effects, apart, common_loop, holds, same, writes};
use crate::spec::{Spec, StepKind};

/// The keys that are declared, the elements around a step, and what the steps up to `end` write.
pub(super) struct Known<'s, 'a> {
    spec: &'s Spec<'a>,
    at: usize,
    end: usize,
    /// Whether each is given once. To look for that among all keys costs a look at all steps for each of them.
    once: bool,
    place: usize,
    effects: Option<Effects<'a>>,
}

impl<'s, 'a> Known<'s, 'a> {
    /// What is written up to that step, each key once.
    pub(super) const fn up_to(spec: &'s Spec<'a>, at: usize, end: usize) -> Self {
        Self { spec, at, end, once: true, place: 0, effects: None }
    }

    /// What is written anywhere, as often as it is, but not by that step itself: only in a loop it might read that.
    pub(super) const fn written(spec: &'s Spec<'a>, at: usize) -> Self {
        Self { spec, at, end: spec.steps.len(), once: false, place: 0, effects: None }
    }

    pub(super) const fn next(&mut self) -> Option<&'a str> {
        let spec = self.spec;
        let steps = spec.inputs.len() + spec.lets.len() + spec.states.len();
        loop {
            let i = self.place;
            if let Some(effects) = &mut self.effects {
                if let Some(effect) = effects.next() {
                    if !(self.once && self.is_repeated(effect.key, i - 1 - steps)) {
                        return Some(effect.key);
                    }
                    continue;
                }
                self.effects = None;
            }
            let i = self.place;
            self.place += 1;
            if i < steps {
                let key = declared(spec, i);
                // One that is declared twice has a message of its own.
                if self.once && is_declared(spec, key, i) {
                    continue;
                }
                return Some(key);
            }
            let step = i - steps;
            if step >= self.end || step >= spec.steps.len() {
                return None;
            }
            let is_part = self.end < spec.steps.len();
            match spec.steps[step].kind {
                StepKind::Each { item, .. } if self.at < spec.steps.len() && holds(spec, step, self.at) => {
                    return Some(item);
                }
                StepKind::Agent { .. }
                    if !self.once && step == self.at && common_loop(spec, step, step).is_none() => {}
                StepKind::Agent { meta, .. } if !(is_part && apart(spec, step, self.at)) => {
                    self.effects = Some(Effects::writes(meta, spec.steps[step].renames));
                }
                _ => {}
            }
        }
    }

    /// Whether it was given before.
    const fn is_repeated(&self, key: &str, step: usize) -> bool {
        let spec = self.spec;
        if is_declared(spec, key, spec.inputs.len() + spec.lets.len() + spec.states.len()) {
            return true;
        }
        let mut i = 0;
        while i < step {
            if writes(spec, i, key) {
                return true;
            }
            i += 1;
        }
        false
    }
}

/// A key that is declared: the inputs, then each `let`, then each `state`.
const fn declared<'a>(spec: &Spec<'a>, i: usize) -> &'a str {
    let (lets, states) = (spec.inputs.len(), spec.inputs.len() + spec.lets.len());
    if i < lets {
        spec.inputs[i].name
    } else if i < states {
        spec.lets[i - lets].name
    } else {
        spec.states[i - states].name
    }
}

/// Whether one of the first of them is that key.
const fn is_declared(spec: &Spec<'_>, key: &str, end: usize) -> bool {
    let mut i = 0;
    while i < end {
        if same(declared(spec, i), key) {
            return true;
        }
        i += 1;
    }
    false
}
