//! The machine: what each step does to all executions at once. Blocks are in [`super::blocks`].

use super::super::tree::{Agent, Block, Flow, Key, Kind, Nested, Node};
use super::Relaxed;
use super::cells::{SESSION, Scope, Storage};
use super::states::{Cell, States};
use std::collections::{BTreeMap, BTreeSet};

/// What goes wrong in some execution. Steps are called by their names; what happens inside of a nested workflow is
/// told of the step that it is.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Reads of a key that may be unwritten, and whether it may be written as well.
    pub unwritten: BTreeMap<(String, Key), bool>,
    /// Two steps that touch one key at the same time, one of them writing.
    pub races: BTreeSet<(Key, String, String)>,
    /// Reads of a key that a sibling writes.
    pub contested: BTreeSet<(Key, String)>,
    /// Outputs that may be unwritten at the end.
    pub outputs: BTreeSet<Key>,
    /// Loops of which no execution gets out.
    pub endless: BTreeSet<String>,
    /// Exits that no loop takes.
    pub outside: BTreeSet<(String, Option<String>)>,
    /// What went wrong inside of a nested workflow, with the key as it is called around.
    pub inside: BTreeSet<(Key, String)>,
}

/// Looks at all executions of a workflow.
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
    let Machine { ended, mut found, .. } = machine;
    found.endless = ended.into_iter().filter(|(_, ended)| !ended).map(|(name, _)| name.to_owned()).collect();
    found
}

/// A step that touched a cell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Touch<'f> {
    pub(super) cell: Cell,
    pub(super) writes: bool,
    pub(super) step: &'f str,
}

/// How executions leave some steps.
pub(super) struct Ways {
    pub(super) through: States,
    /// On the way to a loop, by its number among those around.
    pub(super) exits: Vec<(usize, States)>,
    /// At any moment in between: where a sibling may stop them.
    pub(super) between: States,
}

impl Ways {
    pub(super) fn at(states: States) -> Self {
        Self { through: states, exits: Vec::new(), between: states }
    }
}

pub(super) struct Machine<'f> {
    pub(super) relaxed: Relaxed,
    pub(super) storage: Storage,
    pub(super) found: Found,
    /// What was touched, for each branch around.
    pub(super) touched: Vec<BTreeSet<Touch<'f>>>,
    pub(super) loops: Vec<&'f str>,
    /// Loops that were reached, and whether some execution got out.
    pub(super) ended: BTreeMap<&'f str, bool>,
    /// The step of the workflow that is looked at, inside of a nested one.
    pub(super) step: Option<&'f str>,
    /// The keys that the workflow declares and that something in it writes.
    written: BTreeSet<Key>,
}

impl<'f> Machine<'f> {
    /// The keys that are there from the start.
    fn begin(&mut self, flow: &'f Flow, scope: Scope, states: &mut States) {
        let inputs = flow.inputs.iter().map(|(key, _)| key);
        for key in inputs.chain(&flow.lets).chain(&flow.states) {
            states.write(self.storage.cell(scope, key));
        }
        // A run does not start without the keys that any workflow in it needs.
        for inner in flow.definitions().iter().filter(|_| !self.relaxed.states_inside) {
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
                    // The loop that was meant may be any of those around: one mistake, one message.
                    self.ended.extend(self.loops.iter().map(|name| (*name, true)));
                    self.found.outside.insert((step.to_owned(), target.map(str::to_owned)));
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
                let ever = self.found.unwritten.entry((step.to_owned(), key)).or_default();
                *ever = *ever || states.may_have(cell);
            }
            Some(inner) => self.wrong_inside(Some(cell), format!("{inner}: {step} reads {key}")),
        }
    }

    /// Whether a key that nothing in the workflow writes is said to be there by a renaming.
    fn is_claimed(&mut self, scope: Scope, key: Key, renamed: bool) -> bool {
        let counts = self.relaxed.renamings_count && self.step.is_none() && renamed;
        counts && !self.written.contains(key) && self.storage.stored(scope, key).inside.is_empty()
    }

    fn agent(&mut self, agent: &'f Agent, scope: Scope, states: States) -> Ways {
        let below = agent.below();
        for read in [agent].into_iter().chain(below).flat_map(|agent| &agent.reads) {
            if read.optional && !self.is_claimed(scope, read.key, read.own.is_some()) {
                self.touch(&agent.name, scope, read.key, false);
            } else {
                self.read(&agent.name, scope, read.key, &states)
            }
        }
        let behind = self.answers(&agent.name, agent, scope, states);
        let mut ways = Ways { through: behind, exits: Vec::new(), between: states.or(behind) };
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

    /// When an agent has answered, or one of its targets in its place, perhaps after calls of its tools.
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

    /// A workflow, as the step of that name or as a tool of it.
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
                // What it is asked for.
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
                // It is a key of the session in there, and an output as well.
                let to = self.touch(step, scope, key, true);
                ways.through.copy(from, to);
            }
        }
        ways.between = ways.between.or(ways.through);
        ways
    }
}
