//! Real executions: the tree of a workflow is wired by hand and run by the runtime, with scripted
//! agents. All open decisions (order, exits, arms, numbers of elements, conditional writes) are
//! chosen, and every failure is recorded.

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

/// A failure of an execution.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    /// An agent or a block reads a missing key; `None` if the error does not name it.
    Unwritten { step: String, key: Option<String> },
    /// Two branches or elements access one key, and one of them writes.
    Race { key: String },
    /// An output is missing at the end.
    Output { key: String },
    /// An exit without a loop.
    Outside,
    /// A read returns another value than the last write, by the rules of key storage.
    Value { what: String },
    /// Any other error.
    Failed { error: String },
}

/// The results of some executions of a tree.
#[derive(Debug, Default)]
pub struct Seen {
    pub is_accepted: bool,
    /// Whether all possible executions ran.
    pub is_whole: bool,
    pub wrong: BTreeSet<Wrong>,
    /// Loops that some execution gave up, because they did not end in time, and loops that ended.
    given_up: BTreeSet<String>,
    ended: BTreeSet<String>,
    /// The number of loops whose only exits are in an `each` or an `else`.
    pub by_elements: usize,
    pub executions: usize,
    /// The number of turns of agents.
    pub turns: usize,
    /// The number of `await` steps that were answered, and of those that were late.
    pub answered: usize,
    pub expired: usize,
}

/// Runs a tree `times` times systematically and `times` times at random, and a rejected one less
/// often. Returns an error if an accepted tree fails, or if the reference does not predict a
/// failure.
pub fn run(flow: &Flow, seed: u64, times: u64) -> Result<Seen, String> {
    let is_accepted = accepts(flow) && flow.definitions().iter().all(|inner| accepts(inner));
    let mut seen = play(
        flow,
        seed,
        if is_accepted {
            times
        } else {
            times.div_ceil(3)
        },
    );
    seen.is_accepted = is_accepted;
    if is_accepted {
        if let Some(wrong) = seen.wrong.first() {
            return Err(format!("the tree is accepted, but `{wrong:?}`"));
        }
        // By chance, no execution may have left the loop.
        if seen.given_up.is_subset(&seen.ended) {
            return Ok(seen);
        }
        let more = play(flow, seed + 1, 300);
        let (by_elements, endless): (Vec<_>, Vec<_>) = more
            .given_up
            .difference(&more.ended)
            .partition(|name| ends_by_elements(&flow.body, name));
        seen.by_elements = by_elements.len();
        return match endless.first() {
            Some(name) => Err(format!("the tree is accepted, but `{name}` never ends")),
            None => Ok(seen),
        };
    }
    let found = look(flow, EXACT);
    match seen
        .wrong
        .iter()
        .find(|wrong| !is_foreseen(flow, wrong, &found))
    {
        Some(wrong) => Err(format!("the reference did not predict `{wrong:?}`")),
        None => Ok(seen),
    }
}

/// Whether only exits in an `each` or an `else` can end a loop. The checker knows neither the
/// length of a list nor the failures. A list that is always empty ends no loop, and neither does
/// the `else` of a `try` that never fails.
fn ends_by_elements(nodes: &[Node], name: &str) -> bool {
    nodes.iter().any(|node| match node {
        Node::Block(block) if block.name == name => !ends(&block.inside, name, true),
        Node::Block(block) => ends_by_elements(&block.inside, name),
        _ => false,
    })
}

/// Whether a step outside of any `each` and `else` may end the loop `name`. `innermost` says
/// whether that is the innermost loop.
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

/// Whether the reference predicts the failure.
fn is_foreseen(flow: &Flow, wrong: &Wrong, found: &Found) -> bool {
    let is_inside = |key: &str| found.inside.iter().any(|(name, _)| *name == key);
    // A block that discards a write restores the earlier value, and so removes a racing write.
    let is_raced = |key: &str| found.races.iter().any(|(name, ..)| *name == key);
    let may_be_undone = |key: &str| is_raced(key) && discards(flow);
    match wrong {
        Wrong::Unwritten { key: Some(key), .. } | Wrong::Output { key } if may_be_undone(key) => {
            true
        }
        Wrong::Unwritten { step, .. } if !is_own(flow, step) => !found.inside.is_empty(),
        Wrong::Unwritten { step, key } => found
            .unwritten
            .keys()
            .any(|(reader, read)| reader == step && key.as_ref().is_none_or(|key| key == read)),
        Wrong::Race { key } => is_raced(key) || is_inside(key),
        Wrong::Output { key } => found.outputs.contains(key.as_str()),
        Wrong::Outside => !found.outside.is_empty(),
        // With a key of two types, or in a race, the value of a read is undefined.
        Wrong::Value { .. } => true,
        Wrong::Failed { error } => {
            !error.contains("panicked") && !error.contains("no agent continues")
        }
    }
}

/// Whether a block discards writes of its parts.
fn discards(flow: &Flow) -> bool {
    let mut found = false;
    flow.each(&mut |node| {
        let Node::Block(block) = node else { return };
        found |= block.on_error.skips() || matches!(block.kind, Kind::Parallel { first: true, .. });
    });
    found
}

/// Whether a step belongs to the workflow itself.
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
