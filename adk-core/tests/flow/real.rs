//! What happens when a workflow really runs: its tree is wired by hand and run by the runtime, with agents that follow
//! a script. All that is left open (who comes first, who exits, which arm, how many elements, what is written of what
//! is written perhaps) is chosen, and everything that goes wrong is seen.

mod agent;
mod choices;
mod drive;
mod person;
mod stage;
mod wired;

use crate::judge::accepts;
use crate::reference::{EXACT, Found, look};
use crate::tree::{Flow, Kind, Node};
use choices::Choices;
use drive::play;
use std::collections::BTreeSet;

/// What goes wrong in an execution.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    /// An agent, or a block, reads a key that is not there; `None` where an error does not say which key.
    Unwritten { step: String, key: Option<String> },
    /// Two branches, or two elements, touch a key, and one of them writes.
    Race { key: String },
    /// An output is not there at the end.
    Output { key: String },
    /// An exit that no loop takes.
    Outside,
    /// A read gives something else than what was written last, by the rules of where keys are stored.
    Value { what: String },
    /// Any other error.
    Failed { error: String },
}

/// What was seen in some executions of a tree.
#[derive(Debug, Default)]
pub struct Seen {
    pub is_accepted: bool,
    /// There are no other executions than those that were run.
    pub is_whole: bool,
    pub wrong: BTreeSet<Wrong>,
    /// Loops that were given up, and those that ended.
    given_up: BTreeSet<String>,
    ended: BTreeSet<String>,
    /// How many of them may only have had no element, or no error, to end them.
    pub by_elements: usize,
    pub executions: usize,
    /// How many turns of agents there were.
    pub turns: usize,
    /// How many `await` were answered, and how many were not in time.
    pub answered: usize,
    pub expired: usize,
}

/// Runs a tree so many times one by one and as many by chance, and one that is rejected less often; an error is something that
/// goes wrong although the checker has accepted it, or that the reference has not foreseen.
pub fn run(flow: &Flow, seed: u64, times: u64) -> Result<Seen, String> {
    let is_accepted = accepts(flow) && flow.definitions().iter().all(|inner| accepts(inner));
    let mut seen = play(flow, seed, if is_accepted { times } else { times.div_ceil(3) });
    seen.is_accepted = is_accepted;
    if is_accepted {
        if let Some(wrong) = seen.wrong.first() {
            return Err(format!("it is accepted, but `{wrong:?}`"));
        }
        // By chance none of the executions may have left the loop.
        if seen.given_up.is_subset(&seen.ended) {
            return Ok(seen);
        }
        let more = play(flow, seed + 1, 300);
        let (by_elements, endless): (Vec<_>, Vec<_>) =
            more.given_up.difference(&more.ended).partition(|name| ends_by_elements(&flow.body, name));
        seen.by_elements = by_elements.len();
        return match endless.first() {
            Some(name) => Err(format!("it is accepted, but `{name}` never ends")),
            None => Ok(seen),
        };
    }
    let found = look(flow, EXACT);
    match seen.wrong.iter().find(|wrong| !is_foreseen(flow, wrong, &found)) {
        Some(wrong) => Err(format!("the reference has not foreseen `{wrong:?}`")),
        None => Ok(seen),
    }
}

/// Whether nothing ends a loop but what is in an `each` or an `else`: the checker knows neither how many elements a list has nor
/// what fails, and a list that is always empty ends no loop, nor does the `else` of what never fails.
fn ends_by_elements(nodes: &[Node], name: &str) -> bool {
    nodes.iter().any(|node| match node {
        Node::Block(block) if block.name == name => !ends(&block.inside, name, true),
        Node::Block(block) => ends_by_elements(&block.inside, name),
        _ => false,
    })
}

/// Whether something outside of any `each` and `else` may end the loop of that name, which is the innermost one or not.
fn ends(nodes: &[Node], name: &str, innermost: bool) -> bool {
    nodes.iter().any(|node| match node {
        Node::Run(agent) => agent.exit && innermost || agent.leaves.iter().any(|left| left == name),
        Node::Break(target) => target.as_ref().map_or(innermost, |target| target == name),
        Node::Block(block) => match block.kind {
            Kind::Each { .. } | Kind::Else => false,
            Kind::Loop { .. } => ends(&block.inside, name, false),
            _ => ends(&block.inside, name, innermost),
        },
        Node::Nested(_) | Node::Nothing => false,
    })
}

/// Whether the reference knows that it can happen.
fn is_foreseen(flow: &Flow, wrong: &Wrong, found: &Found) -> bool {
    let is_inside = |key: &str| found.inside.iter().any(|(of, _)| *of == key);
    // A block that discards a write restores the value before it, and so removes a write that races with it.
    let is_raced = |key: &str| found.races.iter().any(|(of, ..)| *of == key);
    let may_be_undone = |key: &str| is_raced(key) && discards(flow);
    match wrong {
        Wrong::Unwritten { key: Some(key), .. } | Wrong::Output { key } if may_be_undone(key) => true,
        Wrong::Unwritten { step, .. } if !is_own(flow, step) => !found.inside.is_empty(),
        Wrong::Unwritten { step, key } => found
            .unwritten
            .keys()
            .any(|(reader, read)| reader == step && key.as_ref().is_none_or(|key| key == read)),
        Wrong::Race { key } => is_raced(key) || is_inside(key),
        Wrong::Output { key } => found.outputs.contains(key.as_str()),
        Wrong::Outside => !found.outside.is_empty(),
        // A key of two types, or two that race: what is read is anybody's guess.
        Wrong::Value { .. } => true,
        Wrong::Failed { error } => !error.contains("panicked") && !error.contains("nobody goes on"),
    }
}

/// Whether a block discards what parts of it have written.
fn discards(flow: &Flow) -> bool {
    let mut found = false;
    flow.each(&mut |node| {
        let Node::Block(block) = node else { return };
        found |= block.skip || matches!(block.kind, Kind::Parallel { first: true, .. });
    });
    found
}

/// Whether a step stands in the workflow itself.
fn is_own(flow: &Flow, step: &str) -> bool {
    let mut found = false;
    flow.each(&mut |node| {
        found = found
            || match node {
                Node::Run(agent) => agent.name == step,
                Node::Nested(nested) => nested.name == step,
                Node::Block(block) => block.name == step,
                Node::Break(_) | Node::Nothing => false,
            };
    });
    found
}
