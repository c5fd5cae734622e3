//! `bounds()` against enumerated runs of random workflows: one run reaches the bounds, and no run
//! exceeds them.
#![allow(
    clippy::unwrap_used,
    unreachable_pub,
    missing_debug_implementations,
    missing_docs,
    reason = "these are tests"
)]

#[path = "support/random_spec.rs"]
mod random_spec;

use adk_build::spec::{Spec, Step, StepKind};
use adk_build::{AgentKind, AgentMeta};
use random_spec::{Grow, Random};

/// Represents an unlimited number. It exceeds every finite bound of these trees.
const ENDLESS: u64 = 1_000_000;

/// One run with its decisions and its cost.
struct Run<'c> {
    choose: &'c mut dyn FnMut(u64) -> u64,
    /// Whether agents and `break` end loops.
    exits: bool,
    calls: u64,
    rounds: u64,
}

/// The loop that an exit targets; an empty name means the innermost one.
type Exit<'a> = Option<&'a str>;

impl Run<'_> {
    fn steps<'a>(
        &mut self,
        steps: &'a [Step<'a>],
        range: std::ops::Range<usize>,
        weight: u64,
    ) -> Exit<'a> {
        let mut at = range.start;
        while at < range.end {
            let step = &steps[at];
            let inside = at + 1..step.end;
            at = step.end + 1;
            let exit = match step.kind {
                StepKind::Agent { meta, .. } => {
                    self.agent(meta, false, weight);
                    let exits = self.exits
                        && (meta.may_exit || !meta.exits.is_empty())
                        && (self.choose)(2) == 1;
                    exits.then(|| meta.exits.first().copied().unwrap_or_default())
                }
                StepKind::Break { target } => self.exits.then(|| target.unwrap_or_default()),
                StepKind::Match { .. } => {
                    let arms: Vec<_> = children(steps, inside).collect();
                    let arm = arms[(self.choose)(arms.len() as u64) as usize];
                    self.steps(steps, arm + 1..steps[arm].end, weight)
                }
                StepKind::Loop { max, .. } => match self.repeat(steps, inside, max, weight) {
                    Some(name) if name.is_empty() || name == step.name => None,
                    exit => exit,
                },
                // Every element takes the same path, which is the worst case.
                StepKind::Each { max, .. } => {
                    let elements = max.map_or(ENDLESS, u64::from);
                    self.steps(steps, inside, weight.saturating_mul(elements))
                }
                // A cancelled branch may already have done all its work.
                StepKind::Parallel { .. } => {
                    let exits: Vec<_> = children(steps, inside)
                        .map(|at| self.steps(steps, at + 1..steps[at].end, weight))
                        .collect();
                    exits.into_iter().flatten().next()
                }
                StepKind::Sequence => self.steps(steps, inside, weight),
                _ => None,
            };
            if exit.is_some() {
                return exit;
            }
        }
        None
    }

    fn repeat<'a>(
        &mut self,
        steps: &'a [Step<'a>],
        inside: std::ops::Range<usize>,
        max: Option<u32>,
        weight: u64,
    ) -> Exit<'a> {
        let (rounds, weight) = max.map_or((1, weight.saturating_mul(ENDLESS)), |max| (max, weight));
        for _ in 0..rounds {
            self.rounds = self.rounds.saturating_add(weight);
            let exit = self.steps(steps, inside.clone(), weight);
            if exit.is_some() {
                return exit;
            }
        }
        None
    }

    /// Adds the cost of one agent. A transfer target costs all its turns, because other agents may
    /// hand over to it while it has calls left.
    fn agent(&mut self, meta: &AgentMeta<'_>, is_target: bool, weight: u64) {
        let asks_once = meta.kind == AgentKind::Llm
            && meta.tools.is_empty()
            && meta.transfer.is_empty()
            && meta.writes.iter().all(|key| key.ty == "String");
        let turns = match meta.max_turns {
            Some(turns) if is_target || !asks_once => u64::from(turns),
            _ if asks_once => 1,
            _ => ENDLESS,
        };
        if meta.steps.is_empty() {
            self.calls = self.calls.saturating_add(turns.saturating_mul(weight));
        } else {
            let exit = self.steps(meta.steps, 0..meta.steps.len(), weight);
            assert_eq!(exit, None, "an exit never leaves a workflow");
        }
        meta.transfer
            .iter()
            .for_each(|target| self.agent(target, true, weight));
    }
}

/// Returns the first steps of branches or arms.
fn children<'a>(
    steps: &'a [Step<'a>],
    inside: std::ops::Range<usize>,
) -> impl Iterator<Item = usize> + 'a {
    let next = move |at: usize| Some(at).filter(|at| *at < inside.end);
    std::iter::successors(next(inside.start), move |at| next(steps[*at].end + 1))
}

fn run(spec: &Spec<'_>, exits: bool, choose: &mut dyn FnMut(u64) -> u64) -> (u64, u64) {
    let mut run = Run {
        choose,
        exits,
        calls: 0,
        rounds: 0,
    };
    run.steps(spec.steps, 0..spec.steps.len(), 1);
    (run.calls, run.rounds)
}

/// Returns the worst case of all runs; `None` if there are too many.
fn worst(spec: &Spec<'_>) -> Option<(u64, u64)> {
    let mut worst = (0, 0);
    // The choices of a run, each with its number of options; they count up like digits of a number.
    let mut digits: Vec<(u64, u64)> = Vec::new();
    for _ in 0..20_000 {
        let mut at = 0;
        let (calls, rounds) = run(spec, false, &mut |most| {
            if at == digits.len() {
                digits.push((0, most));
            }
            at += 1;
            digits[at - 1].0
        });
        worst = (worst.0.max(calls), worst.1.max(rounds));
        while digits.pop_if(|(digit, most)| *digit + 1 == *most).is_some() {}
        match digits.last_mut() {
            Some((digit, _)) => *digit += 1,
            None => return Some(worst),
        }
    }
    None
}

fn finite_or_none(number: u64) -> Option<u64> {
    Some(number).filter(|number| *number < ENDLESS)
}

#[test]
fn the_worst_run_equals_the_bounds() {
    let (mut checked, mut finite) = (0, 0);
    for seed in 0..20_000 {
        let spec = Grow::new(seed, 10, 4, 3).spec();
        let bounds = spec.bounds();
        let Some((calls, rounds)) = worst(&spec) else {
            continue;
        };
        assert_eq!(
            (bounds.model_calls, bounds.rounds),
            (finite_or_none(calls), finite_or_none(rounds)),
            "seed {seed}:\n{spec}"
        );
        checked += 1;
        finite += u32::from(bounds.model_calls.is_some_and(|calls| calls > 3));
    }
    assert!(
        checked > 19_000 && finite > 1_000,
        "{checked} checked, {finite} finite"
    );
}

#[test]
fn no_run_exceeds_the_bounds() {
    for seed in 0..2_000 {
        let spec = Grow::new(seed, 20, 5, 4).spec();
        let bounds = spec.bounds();
        let mut random = Random(seed);
        for _ in 0..20 {
            let (calls, rounds) = run(&spec, true, &mut |most| random.below(most));
            let fits = |bound: Option<u64>, cost| bound.is_none_or(|bound| cost <= bound);
            assert!(
                fits(bounds.model_calls, calls) && fits(bounds.rounds, rounds),
                "seed {seed}:\n{spec}"
            );
        }
    }
}
