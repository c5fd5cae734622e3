//! [`Machine`]: the effects of each step on all executions at once. Blocks are in
//! [`super::blocks`].

use super::super::tree::{Agent, Block, Flow, Key, Kind, Nested, Node};
use super::Relaxed;
use super::cells::{SESSION, Scope, Storage};
use super::states::{Cell, States};
use std::collections::{BTreeMap, BTreeSet};

/// Failures of some execution, by step name. A failure inside a nested workflow names the step of
/// that workflow.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Reads of a key that may be unwritten, and whether it may also be written.
    pub unwritten: BTreeMap<(String, Key), bool>,
    /// Pairs of steps that access one key concurrently, at least one of them writing.
    pub races: BTreeSet<(Key, String, String)>,
    /// Reads of a key that a sibling writes.
    pub contested: BTreeSet<(Key, String)>,
    /// Outputs that may be unwritten at the end.
    pub outputs: BTreeSet<Key>,
    /// Loops that no execution leaves.
    pub endless: BTreeSet<String>,
    /// Exits without a loop.
    pub outside: BTreeSet<(String, Option<String>)>,
    /// Failures inside a nested workflow, with the outer name of the key.
    pub inside: BTreeSet<(Key, String)>,
}

/// Explores all executions of a workflow.
pub fn look(flow: &Flow, relaxed: Relaxed) -> Found {
    let mut machine = Machine {
        relaxed,
        storage: Storage::new(),
        found: Found::default(),
        touched: Vec::new(),
        loops: Vec::new(),
        ended: BTreeMap::new(),
        step: None,
        written: flow.written(),
    };
    let mut start = States::START;
    machine.begin(flow, SESSION, &mut start);
    let end = machine.nodes(&flow.body, SESSION, start).through;
    machine.end(flow, SESSION, end);
    let Machine {
        ended, mut found, ..
    } = machine;
    found.endless = ended
        .into_iter()
        .filter(|(_, ended)| !ended)
        .map(|(name, _)| name.to_owned())
        .collect();
    found
}

/// A step that accessed a cell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Touch<'f> {
    pub(super) cell: Cell,
    pub(super) writes: bool,
    pub(super) step: &'f str,
}

/// The states in which executions leave some steps.
pub(super) struct Ways {
    pub(super) through: States,
    /// States on the way to a loop, by the number of that loop among the enclosing ones.
    pub(super) exits: Vec<(usize, States)>,
    /// States at any moment in between, at which a sibling may stop the steps.
    pub(super) between: States,
}

impl Ways {
    pub(super) fn at(states: States) -> Self {
        Self {
            through: states,
            exits: Vec::new(),
            between: states,
        }
    }
}

pub(super) struct Machine<'f> {
    pub(super) relaxed: Relaxed,
    pub(super) storage: Storage,
    pub(super) found: Found,
    /// Accesses, for each enclosing branch.
    pub(super) touched: Vec<BTreeSet<Touch<'f>>>,
    pub(super) loops: Vec<&'f str>,
    /// Loops that were reached, and whether some execution left them.
    pub(super) ended: BTreeMap<&'f str, bool>,
    /// The step of the examined workflow that encloses the current nested workflow.
    pub(super) step: Option<&'f str>,
    /// The keys that the workflow declares or writes.
    written: BTreeSet<Key>,
}

impl<'f> Machine<'f> {
    /// Writes the keys that exist from the start.
    fn begin(&mut self, flow: &'f Flow, scope: Scope, states: &mut States) {
        let inputs = flow.inputs.iter().map(|(key, _)| key);
        for key in inputs.chain(&flow.lets).chain(&flow.states) {
            states.write(self.storage.cell(scope, key));
        }
        // A run does not start without the `state` keys of all its workflows.
        for inner in flow
            .definitions()
            .iter()
            .filter(|_| !self.relaxed.states_inside)
        {
            for key in &inner.states {
                states.write(self.storage.cell(SESSION, key));
            }
        }
    }

    fn end(&mut self, flow: &'f Flow, scope: Scope, states: States) {
        for key in &flow.outputs {
            let cell = self.storage.cell(scope, key);
            if states.may_lack(cell) {
                match self.step {
                    None => drop(self.found.outputs.insert(key)),
                    Some(step) => self.wrong_inside(Some(cell), format!("{step} lacks {key}")),
                }
            }
        }
    }

    pub(super) fn wrong_inside(&mut self, cell: Option<Cell>, what: String) {
        let key = cell.map_or("", |cell| self.storage.name(cell));
        self.found.inside.insert((key, what));
    }

    pub(super) fn nodes(&mut self, nodes: &'f [Node], scope: Scope, states: States) -> Ways {
        let mut ways = Ways::at(states);
        for node in nodes.iter() {
            if !ways.through.is_reached() {
                break;
            }
            let more = self.node(node, scope, ways.through);
            ways.through = more.through;
            ways.between = ways.between.or(more.between);
            ways.exits.extend(more.exits);
        }
        ways
    }

    pub(super) fn node(&mut self, node: &'f Node, scope: Scope, states: States) -> Ways {
        match node {
            Node::Run(agent) => self.agent(agent, scope, states),
            Node::Nested(nested) => self.nested(&nested.name, nested, scope, states, false),
            Node::Nothing => Ways::at(states),
            Node::Break(target) => {
                let mut ways = Ways::at(states);
                self.exit("", target.as_deref(), states, &mut ways);
                if !self.relaxed.dead_code {
                    ways.through = States::NONE;
                }
                ways
            }
            Node::Block(block) => {
                let mut ways = self.block(block, scope, states);
                if block.skippable {
                    ways.through = ways.through.or(states);
                }
                ways
            }
        }
    }

    fn block(&mut self, block: &'f Block, scope: Scope, states: States) -> Ways {
        match block.kind {
            Kind::Sequence => self.nodes(&block.inside, scope, states),
            Kind::Parallel { first, .. } => self.parallel(block, first, scope, states),
            Kind::Try { most } => self.attempts(block, most, scope, states),
            Kind::Else => self.nodes(&block.inside, scope, states),
            Kind::Match { key } => self.arms(block, key, scope, states),
            Kind::Each { item, list, .. } => self.elements(block, item, list, scope, states),
            Kind::Loop { max, until } => self.rounds(block, max, until, scope, states),
        }
    }

    fn exit(&mut self, step: &'f str, target: Option<&'f str>, states: States, ways: &mut Ways) {
        let at = match target {
            None => self.loops.len().checked_sub(1),
            Some(target) => self.loops.iter().position(|name| *name == target),
        };
        match at {
            Some(at) => ways.exits.push((at, states)),
            None => match self.step {
                None => {
                    // The checker reports the wrong target once. The intended target may be any
                    // enclosing loop, so none of them is reported as endless too.
                    self.ended
                        .extend(self.loops.iter().map(|name| (*name, true)));
                    self.found
                        .outside
                        .insert((step.to_owned(), target.map(str::to_owned)));
                }
                Some(inner) => self.wrong_inside(None, format!("{inner}: {step} exits outside")),
            },
        }
    }

    pub(super) fn touch(&mut self, step: &'f str, scope: Scope, key: Key, writes: bool) -> Cell {
        let cell = self.storage.cell(scope, key);
        let step = self.step.unwrap_or(step);
        if let Some(touched) = self.touched.last_mut() {
            touched.insert(Touch { cell, writes, step });
        }
        cell
    }

    pub(super) fn read(&mut self, step: &'f str, scope: Scope, key: Key, states: &States) {
        let cell = self.touch(step, scope, key, false);
        if !states.may_lack(cell) {
            return;
        }
        match self.step {
            None => {
                let ever = self
                    .found
                    .unwritten
                    .entry((step.to_owned(), key))
                    .or_default();
                *ever = *ever || states.may_have(cell);
            }
            Some(inner) => self.wrong_inside(Some(cell), format!("{inner}: {step} reads {key}")),
        }
    }

    /// Whether a renaming claims a key that no step of the workflow writes.
    fn is_claimed(&mut self, scope: Scope, key: Key, renamed: bool) -> bool {
        let counts = self.relaxed.renamings_count && self.step.is_none() && renamed;
        counts && !self.written.contains(key) && self.storage.stored(scope, key).inside.is_empty()
    }

    fn agent(&mut self, agent: &'f Agent, scope: Scope, states: States) -> Ways {
        let below = agent.below();
        for read in [agent]
            .into_iter()
            .chain(below)
            .flat_map(|agent| &agent.reads)
        {
            if read.optional && !self.is_claimed(scope, read.key, read.own.is_some()) {
                self.touch(&agent.name, scope, read.key, false);
            } else {
                self.read(&agent.name, scope, read.key, &states)
            }
        }
        let behind = self.answers(&agent.name, agent, scope, states);
        let mut ways = Ways {
            through: behind,
            exits: Vec::new(),
            between: states.or(behind),
        };
        for who in agent.targets.iter().chain([agent]) {
            let early = self.relaxed.early_exits || !who.writes_first;
            let left = if early { states.or(behind) } else { behind };
            if who.exit {
                self.exit(&agent.name, None, left, &mut ways);
            }
            for target in &who.leaves {
                self.exit(&agent.name, Some(target), left, &mut ways);
            }
        }
        ways
    }

    /// Returns the states after the answer of an agent or of one of its targets, possibly after
    /// tool calls.
    fn answers(&mut self, step: &'f str, agent: &'f Agent, scope: Scope, start: States) -> States {
        let mut states = start;
        for write in &agent.tools {
            self.write(step, scope, write.key, true, &mut states);
        }
        for helper in &agent.helpers {
            states = states.or(self.answers(step, helper, scope, start));
        }
        for nested in &agent.flows {
            states = states.or(self.nested(step, nested, scope, start, true).through);
        }
        let mut behind = states;
        for write in &agent.writes {
            self.write(step, scope, write.key, write.perhaps, &mut behind);
        }
        for target in &agent.targets {
            behind = behind.or(self.answers(step, target, scope, start));
        }
        behind
    }

    fn write(&mut self, step: &'f str, scope: Scope, key: Key, perhaps: bool, states: &mut States) {
        let cell = self.touch(step, scope, key, true);
        let told_so = self.relaxed.session_perhaps && self.step.is_some();
        if perhaps || (told_so && self.storage.is_session(scope, key)) {
            states.write_perhaps(cell)
        } else {
            states.write(cell)
        }
    }

    /// Executes a workflow as a step of that name or as a tool of it.
    fn nested(
        &mut self,
        step: &'f str,
        nested: &'f Nested,
        scope: Scope,
        mut states: States,
        is_tool: bool,
    ) -> Ways {
        let flow = &*nested.flow;
        let inside = self.storage.nested(nested, scope);
        let (before, loops) = (states, std::mem::take(&mut self.loops));
        for (own, default) in &flow.inputs {
            let key = nested.read(own);
            let renamed = nested.reads.iter().any(|(inside, _)| inside == own);
            if is_tool && nested.is_requested() {
                // The request is the value of this input.
            } else if *default && !self.is_claimed(scope, key, renamed) {
                self.touch(step, scope, key, false);
            } else {
                self.read(step, scope, key, &states)
            }
        }
        let outer = self.step.replace(self.step.unwrap_or(step));
        for (own, default) in &flow.inputs {
            let from = self.storage.cell(scope, nested.read(own));
            let to = self.storage.cell(inside, own);
            let told_so = self.relaxed.session_perhaps && outer.is_some();
            if from == to && !default && told_so && self.storage.is_session(inside, own) {
                states.write_perhaps(to)
            } else if from == to && !default {
                states.assume(to)
            } else {
                self.write(step, inside, own, false, &mut states)
            }
        }
        for key in &flow.lets {
            self.write(step, inside, key, false, &mut states);
        }
        let read = self.relaxed.states_are_read;
        for key in flow.states.iter().filter(|_| read) {
            self.touch(step, inside, key, false);
        }
        let mut ways = self.nodes(&flow.body, inside, states);
        self.end(flow, inside, ways.through);
        ways.exits.clear();
        ways.between = ways.between.or(before);
        (self.step, self.loops) = (outer, loops);
        for own in &flow.outputs {
            let (from, key) = (self.storage.cell(inside, own), nested.written(own));
            if self.relaxed.outputs_are_written {
                self.write(step, scope, key, false, &mut ways.through);
            } else if from != self.storage.cell(scope, key) {
                // The key is both a session key of the nested workflow and an output.
                let to = self.touch(step, scope, key, true);
                ways.through.copy(from, to);
            }
        }
        ways.between = ways.between.or(ways.through);
        ways
    }
}
