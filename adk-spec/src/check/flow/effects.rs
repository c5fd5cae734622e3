//! What a step reads and writes, one by one, with the keys of its instance.
//!
//! There are no iterators in const evaluation: [`Effects`] is one by hand.

use super::keys::NONE;
pub(in crate::check) use crate::spec::has_prefix;
use crate::spec::placeholder::{Placeholders, Source};
use crate::spec::{AgentMeta, KeySpec, Module, Renames, ToolMeta};
use crate::text::same;

#[derive(Clone, Copy, Debug)]
pub(super) struct Effect<'a> {
    /// The key, as the workflow knows it.
    pub(super) key: &'a str,
    pub(super) act: Act<'a>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Act<'a> {
    /// A prompt reads it.
    Prompt {
        optional: bool,
        /// Where the prompt was written; empty for a literal.
        source: &'a str,
        renamed: Option<usize>,
        /// The transfer target whose prompt it is, if it is not that of the agent itself.
        target: Option<&'a str>,
    },
    /// A parameter or an input reads it; that of a tool has no slot.
    Read { spec: KeySpec<'a>, slot: usize, renamed: Option<usize>, target: Option<&'a str> },
    /// The agent writes it; `sure` says whether it has done so whenever it ends.
    Write { spec: KeySpec<'a>, slot: usize, sure: bool },
    /// A tool or a transfer target may write it.
    May(KeySpec<'a>),
}

/// Transfer targets inside transfer targets; what lies deeper is not looked at.
pub(super) const DEEPEST: usize = 16;

/// All that the agent of a step does to keys, in the order in which it counts: reads, then writes.
pub(super) struct Effects<'a> {
    renames: Renames<'a>,
    /// The agent of the step.
    own: &'a AgentMeta<'a>,
    /// The one that is looked at, and how many below it have been: the agent itself, then its transfer targets and the
    /// agents that are its tools, depth first.
    meta: &'a AgentMeta<'a>,
    child: usize,
    /// Those around it. Most agents are alone, and references that nobody needs would cost const evaluation time.
    stack: [Option<(&'a AgentMeta<'a>, usize)>; DEEPEST],
    depth: usize,
    phase: Phase,
    i: usize,
    j: usize,
    scan: Option<Placeholders<'a>>,
    /// Whether reads are asked for at all.
    reads: bool,
}

#[derive(Clone, Copy)]
enum Phase {
    Prompts,
    Reads,
    ToolReads,
    Next,
    Writes,
    Tools,
    Done,
}

impl<'a> Effects<'a> {
    /// Reads and writes of an agent.
    pub(super) const fn of(meta: &'a AgentMeta<'a>, renames: Renames<'a>) -> Self {
        Self {
            renames,
            own: meta,
            meta,
            child: 0,
            stack: [None; DEEPEST],
            depth: 1,
            phase: Phase::Prompts,
            i: 0,
            j: 0,
            scan: None,
            reads: true,
        }
    }

    /// Its writes alone.
    pub(super) const fn writes(meta: &'a AgentMeta<'a>, renames: Renames<'a>) -> Self {
        let mut all = Self::of(meta, renames);
        all.reads = false;
        if is_alone(meta) {
            all.phase = Phase::Writes;
        }
        all
    }

    const fn renamed_read(&self, key: &'a str) -> (&'a str, Option<usize>) {
        let mut i = 0;
        // A transfer target is no part of the instance.
        while self.depth == 1 && i < self.renames.reads.len() {
            if same(self.renames.reads[i].0, key) {
                return (self.renames.reads[i].1, Some(i));
            }
            i += 1;
        }
        (key, None)
    }

    /// A key that a tool writes is the agent's own when it is one that the agent writes.
    const fn renamed_write(&self, key: &'a str) -> &'a str {
        let meta = self.own;
        let mut i = 0;
        while self.depth == 1 && i < self.renames.writes.len() && i < meta.writes.len() {
            if same(meta.writes[i].name, key) {
                return self.renames.writes[i];
            }
            i += 1;
        }
        key
    }

    /// Whether it is a tool whose only input is what it is asked for.
    const fn is_requested(&self, meta: &AgentMeta<'a>) -> bool {
        if self.depth < 2 || meta.request_input().is_none() {
            return false;
        }
        match self.stack[self.depth - 2] {
            Some((outer, next)) => next > outer.transfer.len(),
            None => false,
        }
    }

    /// Who writes what the last one writes, when it is not the agent of the step itself: what it may transfer to, or an agent or
    /// a function that is its tool.
    pub(super) const fn writer(&self) -> Option<&'a str> {
        if self.depth > 1 {
            return Some(self.meta.name);
        }
        match self.phase {
            Phase::Tools => Some(self.meta.tools[self.i].name),
            _ => None,
        }
    }

    /// Whether the agent of the step or one of its tools does the last one.
    pub(super) const fn is_own(&self) -> bool {
        self.depth == 1
    }

    /// Its module, if it is not the agent of the step itself.
    pub(super) const fn module(&self) -> Option<Module<'a>> {
        match self.phase {
            Phase::Tools | Phase::ToolReads => Some(self.meta.tools[self.i].module),
            _ if self.depth > 1 => Some(self.meta.module()),
            _ => None,
        }
    }

    pub(super) const fn next(&mut self) -> Option<Effect<'a>> {
        loop {
            let found = match self.phase {
                Phase::Prompts => self.next_in_prompt(),
                Phase::Reads => self.next_read(),
                Phase::ToolReads => self.next_read_in_tool(),
                Phase::Next => {
                    self.descend();
                    None
                }
                Phase::Writes => self.next_write(),
                Phase::Tools => self.next_in_tool(),
                Phase::Done => return None,
            };
            if found.is_some() {
                return found;
            }
        }
    }

    /// The name of the agent, if it is not that of the step itself.
    const fn target(&self) -> Option<&'a str> {
        if self.depth > 1 { Some(self.meta.name) } else { None }
    }

    const fn next_in_prompt(&mut self) -> Option<Effect<'a>> {
        let meta = self.meta;
        if let Some(scan) = &mut self.scan {
            if let Some(found) = scan.next() {
                let Source::Key(key) = found.source else { return None };
                let source = if self.i < meta.sources.len() { meta.sources[self.i] } else { "" };
                let (key, renamed) = self.renamed_read(key);
                let act = Act::Prompt { optional: found.optional, source, renamed, target: self.target() };
                return Some(Effect { key, act });
            }
            self.scan = None;
            self.i += 1;
        } else if self.reads && self.i < meta.prompts.len() {
            self.scan = Some(Placeholders::new(meta.prompts[self.i]));
        } else {
            (self.phase, self.i) = (Phase::Reads, 0);
        }
        None
    }

    const fn next_read(&mut self) -> Option<Effect<'a>> {
        let (meta, slot) = (self.meta, self.i);
        if self.reads && slot < meta.reads.len() && !self.is_requested(meta) {
            self.i += 1;
            let spec = meta.reads[slot];
            let (key, renamed) = self.renamed_read(spec.name);
            return Some(Effect { key, act: Act::Read { spec, slot, renamed, target: self.target() } });
        }
        (self.phase, self.i, self.j) = (Phase::ToolReads, 0, 0);
        None
    }

    /// The next read of a tool.
    const fn next_read_in_tool(&mut self) -> Option<Effect<'a>> {
        let tools = self.meta.tools;
        if !self.reads || self.i == tools.len() {
            self.phase = Phase::Next;
        } else if self.j < tools[self.i].reads.len() {
            let spec = tools[self.i].reads[self.j];
            self.j += 1;
            let (key, renamed) = self.renamed_read(spec.name);
            let target = Some(if self.depth > 1 { self.meta.name } else { tools[self.i].name });
            return Some(Effect { key, act: Act::Read { spec, slot: NONE, renamed, target } });
        } else {
            (self.i, self.j) = (self.i + 1, 0);
        }
        None
    }

    /// Goes on with the next agent below, or with the writes of this one.
    const fn descend(&mut self) {
        if let Some(inner) = below(self.meta, self.child)
            && self.depth < DEEPEST
        {
            self.stack[self.depth - 1] = Some((self.meta, self.child + 1));
            (self.meta, self.child) = (inner, 0);
            self.depth += 1;
            (self.phase, self.i) = (Phase::Prompts, 0);
        } else {
            (self.phase, self.i, self.j) = (Phase::Writes, 0, 0);
        }
    }

    const fn next_write(&mut self) -> Option<Effect<'a>> {
        let (meta, slot) = (self.meta, self.i);
        if slot >= meta.writes.len() {
            (self.phase, self.i, self.j) = (Phase::Tools, 0, 0);
            return None;
        }
        self.i += 1;
        let spec = meta.writes[slot];
        if self.depth > 1 {
            return Some(Effect { key: spec.name, act: Act::May(spec) });
        }
        let renamed = self.renames.writes;
        let key = if slot < renamed.len() { renamed[slot] } else { spec.name };
        // A target is no part of the instance, so it has to write the key that the instance has.
        let sure = !spec.optional && targets_write(meta, key, DEEPEST);
        Some(Effect { key, act: Act::Write { spec, slot, sure } })
    }

    /// The next write of a tool. After the last one it goes on with the agent around this one.
    const fn next_in_tool(&mut self) -> Option<Effect<'a>> {
        let tools = self.meta.tools;
        if self.i < tools.len() {
            if self.j < tools[self.i].writes.len() {
                let spec = tools[self.i].writes[self.j];
                self.j += 1;
                return Some(Effect { key: self.renamed_write(spec.name), act: Act::May(spec) });
            }
            (self.i, self.j) = (self.i + 1, 0);
        } else if self.depth > 1
            && let Some(outer) = self.stack[self.depth - 2]
        {
            (self.meta, self.child) = outer;
            self.depth -= 1;
            self.phase = Phase::Next;
        } else {
            self.phase = Phase::Done;
        }
        None
    }
}

/// Whether an agent has neither tools nor transfer targets: then what it writes is what its description says.
pub(super) const fn is_alone(meta: &AgentMeta<'_>) -> bool {
    matches!(meta.transfer, []) && matches!(meta.tools, [])
}

/// An agent below another: first its transfer targets, then the agents that are its tools.
pub(super) const fn below<'a>(meta: &AgentMeta<'a>, number: usize) -> Option<&'a AgentMeta<'a>> {
    if number < meta.transfer.len() {
        return Some(meta.transfer[number]);
    }
    let mut left = number - meta.transfer.len();
    each!(tool in meta.tools => {
        if let Some(agent) = tool.agent {
            if left == 0 {
                return Some(agent);
            }
            left -= 1;
        }
    });
    None
}

pub(super) const fn tool<'a>(meta: &AgentMeta<'a>, name: &str) -> Option<&'a ToolMeta<'a>> {
    first!(tool in meta.tools => if same(tool.name, name) { Some(tool) } else { None })
}

/// Rule 6: an agent that may transfer has written its key only when each of its targets writes it too.
const fn targets_write(meta: &AgentMeta<'_>, key: &str, deepest: usize) -> bool {
    each!(target in meta.transfer => {
        let writes = any!(own in target.writes => !own.optional && same(own.name, key));
        if !writes || deepest == 0 || !targets_write(target, key, deepest - 1) {
            return false;
        }
    });
    true
}

/// Whether the agent or one of its transfer targets may end a loop.
pub(super) const fn may_exit(meta: &AgentMeta<'_>, deepest: usize) -> bool {
    meta.may_exit || deepest > 0 && any!(target in meta.transfer => may_exit(target, deepest - 1))
}

pub(super) const fn contains(keys: &[KeySpec<'_>], key: &str) -> bool {
    any!(known in keys => same(known.name, key))
}
