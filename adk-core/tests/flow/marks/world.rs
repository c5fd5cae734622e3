//! [`World`]: a session of a workflow with real marks on each value and message, and the sinks that
//! marked text has reached. Models obey and repeat everything; what else can happen is random.

use super::label::at;
use crate::random::Random;
use crate::reference::{SESSION, Scope, Storage};
use crate::tree::*;
use adk_build::__private::check::SEES_MEMORY;
use adk_build::spec::Labels;
use std::collections::{BTreeMap, BTreeSet};

/// Text that strangers wrote.
pub const UNTRUSTED: u8 = 1;
/// Data that must not leave.
pub const PRIVATE: u8 = 2;
pub const BOTH: u8 = UNTRUSTED | PRIVATE;

/// A sink that marked text has reached.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reached {
    pub check: &'static str,
    /// The step of the root workflow.
    pub step: String,
    pub agent: String,
    /// The tool; empty for a function.
    pub tool: String,
}

/// A stored value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    pub marks: u8,
    pub exists: bool,
    /// The default of an `await`, if the value is one.
    pub default: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub struct Message {
    pub author: String,
    pub marks: u8,
}

/// The end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Through,
    /// An exit to the loop with this number among the enclosing ones.
    Exit(usize),
    /// The marks of the error, which may quote what the failed agent has seen.
    Failed(u8),
    /// The run takes too long.
    Cut,
}

pub struct World<'f> {
    flow: &'f Flow,
    pub(super) random: Random,
    pub(super) storage: Storage,
    pub(super) cells: Vec<Cell>,
    /// The visible part of the conversation.
    pub(super) talk: Vec<Message>,
    pub(super) artifacts: u8,
    pub(super) loops: Vec<&'f str>,
    /// The key names of the running instance for its writes, and the cells it has written.
    pub(super) writes: Vec<(Key, Key)>,
    pub(super) written: BTreeSet<usize>,
    /// The members that spoke last, by the name of the first one.
    pub(super) last: BTreeMap<String, String>,
    pub(super) depth: usize,
    step: String,
    /// One in `fails` steps fails; 0 for none.
    fails: u64,
    pub(super) fuel: u32,
    /// Whether the error that a `try` keeps may quote anything.
    pub(super) quotes_all: bool,
    pub reached: BTreeSet<Reached>,
}

/// Runs the sessions of a workflow and returns the reached sinks. `quotes_all` says whether the
/// error that a `try` keeps may quote anything.
pub fn explore(flow: &Flow, seed: u64, sessions: u64, quotes_all: bool) -> BTreeSet<Reached> {
    let mut reached = BTreeSet::new();
    for session in 0..sessions {
        let mut random = at(seed, &format!("session {session}"));
        let fails = [0, 4, 10, 30][random.below(4) as usize];
        let mut world = World {
            flow,
            random,
            storage: Storage::new(),
            cells: Vec::new(),
            talk: Vec::new(),
            artifacts: 0,
            loops: Vec::new(),
            writes: Vec::new(),
            written: BTreeSet::new(),
            last: BTreeMap::new(),
            depth: 0,
            step: String::new(),
            fails,
            fuel: 0,
            quotes_all,
            reached: std::mem::take(&mut reached),
        };
        for _ in 0..3 {
            world.run();
        }
        reached = world.reached;
    }
    reached
}

impl<'f> World<'f> {
    /// Runs the workflow once.
    fn run(&mut self) {
        let flow = self.flow;
        let is_fresh = flow.guards.as_ref().is_some_and(|guards| guards.fresh);
        let mut states: BTreeSet<Key> = flow.states.iter().copied().collect();
        states.extend(
            flow.definitions()
                .iter()
                .flat_map(|inner| inner.states.clone()),
        );
        let mut old = BTreeMap::new();
        for key in PREFIXED.iter().chain(&states).copied() {
            let cell = self.cell(SESSION, key);
            if !key.starts_with("temp:") && (has_prefix(key) || !is_fresh) {
                old.insert(cell, self.cells[cell]);
            }
        }
        self.cells.fill(Cell::default());
        old.into_iter().for_each(|(at, cell)| self.cells[at] = cell);
        if is_fresh {
            self.talk.clear();
            self.last.clear();
        }
        for key in states {
            let cell = self.cell(SESSION, key);
            self.cells[cell].exists = true;
        }
        let guarded = flow.guards.clone().unwrap_or_default();
        for key in guarded.untrusted.iter().chain(&guarded.private) {
            if *key != "user" {
                let (marks, cell) = (self.guard(key), self.cell(SESSION, key));
                self.cells[cell].marks |= marks;
            }
        }
        let mut message = self.guard("user");
        if let [(key, _)] = &flow.inputs[..]
            && type_of(key) == "String"
        {
            message |= self.guard(key);
        }
        for (key, _) in &flow.inputs {
            let is_message = flow.inputs.len() == 1 && type_of(key) == "String";
            let marks = if is_message { message } else { self.guard(key) };
            self.set(SESSION, key, marks);
        }
        for key in &flow.lets {
            self.set(SESSION, key, 0);
        }
        self.talk.push(Message {
            author: "user".to_owned(),
            marks: message,
        });
        (self.depth, self.fuel) = (0, 600);
        self.loops.clear();
        let before = self.talk.len();
        let ended = self.nodes(&flow.body, SESSION);
        if ended == Ended::Cut {
            // What happens behind an endless loop is unknown.
            self.talk.truncate(before);
        }
    }

    /// Returns the marks that the guards give to a key.
    fn guard(&self, key: Key) -> u8 {
        let Some(guards) = &self.flow.guards else {
            return 0;
        };
        let mark = |keys: &[Key], mark| if keys.contains(&key) { mark } else { 0 };
        let marks = mark(&guards.untrusted, UNTRUSTED) | mark(&guards.private, PRIVATE);
        cleaned_by_type(key, marks)
    }

    /// Returns the labels that count.
    pub(super) fn labels(&self, labels: Labels) -> Labels {
        let is_strict = self
            .flow
            .guards
            .as_ref()
            .is_some_and(|guards| guards.strict);
        if is_strict && labels.is_empty() && !labels.has(Labels::LOCAL) {
            let all = Labels::UNTRUSTED.and(Labels::PRIVATE);
            return labels.and(all).and(Labels::ACTS).and(Labels::SENDS);
        }
        labels
    }

    /// Returns the marks of what a tool or function with these labels returns.
    pub(super) fn brought(&self, labels: Labels) -> u8 {
        let labels = self.labels(labels);
        let mark = |label, mark| if labels.has(label) { mark } else { 0 };
        let has_memory = labels.has(SEES_MEMORY) && self.flow.guards.is_some();
        mark(Labels::UNTRUSTED, UNTRUSTED)
            | mark(Labels::PRIVATE, PRIVATE)
            | if has_memory { UNTRUSTED } else { 0 }
    }

    /// Records a sink that is called in this context.
    pub(super) fn sink(&mut self, agent: &Agent, tool: &str, labels: Labels, context: u8) {
        let labels = self.labels(labels);
        let check = if labels.has(Labels::ACTS) && context & UNTRUSTED != 0 {
            "untrusted-action"
        } else if labels.has(Labels::SENDS) && context == BOTH && !labels.has(Labels::ACTS) {
            "lethal-trifecta"
        } else {
            return;
        };
        self.reached.insert(Reached {
            check,
            step: self.step.clone(),
            agent: agent.name.clone(),
            tool: tool.to_owned(),
        });
    }

    /// Whether this call needs no consent of a person.
    pub(super) fn is_free(&self, tool: &MarkedTool) -> bool {
        let is_strict = self
            .flow
            .guards
            .as_ref()
            .is_some_and(|guards| guards.strict);
        match tool.consent {
            Consent::No => true,
            Consent::Each => false,
            Consent::Some => is_strict,
        }
    }

    pub(super) fn cell(&mut self, scope: Scope, key: Key) -> usize {
        let cell = self.storage.cell(scope, key);
        if self.cells.len() <= cell {
            self.cells.resize(cell + 1, Cell::default());
        }
        cell
    }

    /// Writes a new value.
    pub(super) fn set(&mut self, scope: Scope, key: Key, marks: u8) -> usize {
        let cell = self.cell(scope, key);
        self.cells[cell] = Cell {
            marks: cleaned_by_type(key, marks),
            exists: true,
            default: None,
        };
        self.written.insert(cell);
        cell
    }

    /// Returns the cell that an agent reads: that of the input key until the first write, then that
    /// of the output key.
    pub(super) fn source(&mut self, scope: Scope, own: Key, key: Key) -> usize {
        let written = self.writes.iter().find(|(name, _)| *name == own);
        let written = written.map_or(own, |(_, key)| key);
        let written = self.cell(scope, written);
        if self.written.contains(&written) {
            written
        } else {
            self.cell(scope, key)
        }
    }

    pub(super) fn read(&mut self, scope: Scope, read: &Read) -> u8 {
        let cell = self.source(scope, read.own(), read.key);
        self.cells[cell].marks
    }

    /// Returns the marks of all keys and of the conversation.
    pub(super) fn everything(&self) -> u8 {
        let keys = self.cells.iter().map(|cell| cell.marks);
        let talk = self.talk.iter().map(|message| message.marks);
        keys.chain(talk).fold(0, |all, marks| all | marks)
    }

    pub(super) fn says(&mut self, author: &str, marks: u8) {
        self.talk.push(Message {
            author: author.to_owned(),
            marks,
        });
    }

    pub(super) fn may_fail(&mut self) -> bool {
        self.fails > 0 && self.random.one_in(self.fails)
    }

    pub(super) fn nodes(&mut self, nodes: &'f [Node], scope: Scope) -> Ended {
        for node in nodes {
            let ended = self.node(node, scope);
            if ended != Ended::Through {
                return ended;
            }
        }
        Ended::Through
    }

    pub(super) fn node(&mut self, node: &'f Node, scope: Scope) -> Ended {
        if self.fuel == 0 {
            return Ended::Cut;
        }
        self.fuel -= 1;
        match node {
            Node::Run(agent) => {
                self.at_step(&agent.name);
                self.written.clear();
                let writes = agent.writes.iter();
                self.writes = writes.map(|write| (write.own(), write.key)).collect();
                self.agent(agent, scope)
            }
            Node::Nested(nested) => {
                self.at_step(&nested.name);
                self.depth += 1;
                let loops = std::mem::take(&mut self.loops);
                let ended = self.nested(nested, scope, None);
                self.loops = loops;
                self.depth -= 1;
                ended
            }
            Node::Break(target) => self.exit(target.as_deref()),
            Node::Nothing => Ended::Through,
            Node::Block(block) => self.block(block, scope),
        }
    }

    fn at_step(&mut self, name: &str) {
        if self.depth == 0 {
            self.step = name.to_owned();
        }
    }

    pub(super) fn exit(&mut self, target: Option<&str>) -> Ended {
        let at = match target {
            None => self.loops.len().checked_sub(1),
            Some(target) => self.loops.iter().position(|name| *name == target),
        };
        at.map_or(Ended::Through, Ended::Exit)
    }

    /// Runs a workflow as a step, or as a tool with the marks of its request.
    pub(super) fn nested(
        &mut self,
        nested: &'f Nested,
        scope: Scope,
        request: Option<u8>,
    ) -> Ended {
        let flow = &*nested.flow;
        let inside = self.storage.nested(nested, scope);
        for (own, _) in &flow.inputs {
            let to = self.cell(inside, own);
            if let Some(marks) = request.filter(|_| nested.is_requested()) {
                self.set(inside, own, marks);
                continue;
            }
            let from = match request {
                Some(_) => self.source(scope, own, nested.read(own)),
                None => self.cell(scope, nested.read(own)),
            };
            if from != to {
                let found = self.cells[from];
                self.set(inside, own, 0);
                if found.exists {
                    self.cells[to] = found;
                }
            }
        }
        for key in &flow.lets {
            self.set(inside, key, 0);
        }
        let ended = self.nodes(&flow.body, inside);
        if ended != Ended::Through {
            return ended;
        }
        for own in flow.outputs.iter().filter(|own| flow.states.contains(own)) {
            let (from, to) = (
                self.cell(inside, own),
                self.cell(scope, nested.written(own)),
            );
            self.cells[to] = self.cells[from];
        }
        Ended::Through
    }
}

/// Returns the marks that a value of the type of a key can carry.
pub fn cleaned_by_type(key: Key, marks: u8) -> u8 {
    if type_of(key) == "bool" {
        marks & !UNTRUSTED
    } else {
        marks
    }
}
