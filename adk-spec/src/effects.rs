//! What a step reads and writes, one effect after the other, under the keys that it has at the place of the step.
//!
//! This is the only place that knows what belongs to a step: its agent, the agents to which it may transfer, the agents and
//! workflows that are its tools, the tools of all of them, and what the steps inside of workflows do to keys of the
//! session. The checker, `each`, the defaults of nested inputs and the lints all ask it.
//!
//! There are no iterators in const evaluation: [`Effects`] is one by hand, and at run time a real one.

mod below;
mod scope;

use self::below::{agent_below, start_count, start_key};
pub(crate) use self::below::{contains, find_tool, is_alone, is_session_key, may_exit, runs_together};
use self::scope::KeyScope;
pub(crate) use self::scope::output_name;
use crate::spec::placeholder::{Placeholders, Source};
use crate::spec::{AgentKind, AgentMeta, KeySpec, Module, Renames, StepKind, ToolMeta};

/// The slot of what is not one of the agent's own keys.
pub(crate) const NO_SLOT: usize = usize::MAX;

/// One effect of a step.
#[derive(Clone, Copy, Debug)]
pub struct Effect<'a> {
    /// The key, as the workflow around the step calls it.
    pub key: &'a str,
    /// What is done to it.
    pub act: Act<'a>,
    /// It is done inside of a workflow, to a key of the session.
    pub is_inside: bool,
}

/// What is done to a key.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Act<'a> {
    /// A prompt reads it.
    Prompt {
        /// Only where it is there.
        optional: bool,
        /// Where the prompt was written; empty for a literal.
        source: &'a str,
        /// The renaming of the instance by which it has this key.
        renamed: Option<usize>,
        /// The agent whose prompt it is, if it is not the agent of the step.
        target: Option<&'a str>,
    },
    /// A parameter or an input reads it.
    Read {
        /// The key as its reader declares it.
        spec: KeySpec<'a>,
        /// Which of the reader's keys it is; those of tools have none.
        slot: usize,
        /// The renaming of the instance by which it has this key.
        renamed: Option<usize>,
        /// The agent or tool that reads it, if it is not the agent of the step.
        target: Option<&'a str>,
    },
    /// A workflow needs this key of the session.
    State(KeySpec<'a>),
    /// A workflow sets this key of the session when it starts.
    Start,
    /// The agent of the step writes it.
    Write {
        /// The key as the agent declares it.
        spec: KeySpec<'a>,
        /// Which of its keys it is.
        slot: usize,
        /// Whether it has written it whenever it ends.
        sure: bool,
    },
    /// Something that belongs to the step may write it.
    May(KeySpec<'a>),
}

impl Act<'_> {
    /// Whether the key may have another value after it.
    pub const fn is_write(&self) -> bool {
        matches!(self, Self::Start | Self::Write { .. } | Self::May(_))
    }
}

/// How deep agents may be nested below a step: transfer targets, agents as tools and steps of workflows. A deeper one is
/// refused.
pub(crate) const DEEPEST: usize = 128;

/// All that the agent of a step does to keys: reads, then what is below it, then writes.
#[derive(Debug)]
pub struct Effects<'a> {
    /// The agent of the step.
    step: &'a AgentMeta<'a>,
    renames: &'a Renames<'a>,
    /// The agent that is looked at.
    at: AgentCursor<'a>,
    /// The way from the agent of the step to that one. Numbers alone: an array of frames takes 6 KB, and each move copies it.
    path: [ChildIndex; DEEPEST],
    depth: usize,
    is_too_deep: bool,
    phase: Phase,
    i: usize,
    j: usize,
    scan: Option<Placeholders<'a>>,
    /// Whether reads are asked for at all.
    reads: bool,
    /// Whether what is inside of workflows is.
    inside: bool,
}

/// An agent on the way down.
#[derive(Clone, Copy, Debug)]
struct AgentCursor<'a> {
    meta: &'a AgentMeta<'a>,
    role: Role,
    /// How many agents below it, or how many steps inside, were looked at.
    next: usize,
    scope: KeyScope<'a>,
}

impl<'a> AgentCursor<'a> {
    const fn of_step(
        meta: &'a AgentMeta<'a>,
        renames: &'a Renames<'a>,
        workflow: Option<&'a AgentMeta<'a>>,
    ) -> Self {
        Self { meta, role: Role::Step, next: 0, scope: KeyScope { own: meta, renames, workflow } }
    }

    const fn child_below(&self, number: usize) -> Option<Self> {
        let role = if number < self.meta.transfer.len() { Role::Target } else { Role::Tool };
        match agent_below(self.meta, number) {
            Some(meta) => Some(Self { meta, role, next: 0, scope: self.scope }),
            None => None,
        }
    }

    /// The agent of a step of this workflow, if that step is one of an agent.
    const fn child_inside(&self, number: usize) -> Option<Self> {
        let step = &self.meta.steps[number];
        match step.kind {
            StepKind::Agent { meta, .. } => Some(Self::of_step(meta, &step.renames, Some(self.meta))),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Role {
    /// The agent of a step.
    Step,
    Target,
    Tool,
}

/// One level of the way down.
#[derive(Clone, Copy, Debug)]
enum ChildIndex {
    /// The agent of that number among those below.
    Below(u32),
    /// The step of that number inside of a workflow.
    Inside(u32),
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Prompts,
    Reads,
    ToolReads,
    Below,
    States,
    Starts,
    Inside,
    Writes,
    Tools,
    Done,
}

impl<'a> Effects<'a> {
    /// Reads and writes of an agent, as an instance with these keys.
    pub const fn of(meta: &'a AgentMeta<'a>, renames: &'a Renames<'a>) -> Self {
        Self {
            step: meta,
            renames,
            at: AgentCursor::of_step(meta, renames, None),
            path: [ChildIndex::Below(0); DEEPEST],
            depth: 0,
            is_too_deep: false,
            phase: Phase::Prompts,
            i: 0,
            j: 0,
            scan: None,
            reads: true,
            inside: true,
        }
    }

    /// Its writes alone, with the keys that workflows need of the session.
    pub const fn writes(meta: &'a AgentMeta<'a>, renames: &'a Renames<'a>) -> Self {
        let mut all = Self::of(meta, renames);
        all.reads = false;
        all.phase = all.first_phase();
        all
    }

    /// The same without what is inside of workflows.
    #[must_use]
    pub const fn outside(mut self) -> Self {
        self.inside = false;
        self
    }

    /// The agent that the last effect is of.
    pub const fn agent(&self) -> &'a AgentMeta<'a> {
        self.at.meta
    }

    /// The tool of that agent that the last effect is of.
    pub const fn tool(&self) -> Option<&'a ToolMeta<'a>> {
        match self.phase {
            Phase::Tools | Phase::ToolReads => Some(&self.at.meta.tools[self.i]),
            _ => None,
        }
    }

    /// Whether the agent of the step does the last effect, or a tool of it.
    pub const fn is_own(&self) -> bool {
        self.depth == 0
    }

    /// Whether the last effect is one of a tool, or of what is below one.
    pub fn is_of_tool(&self) -> bool {
        self.tool().is_some()
            || (0..=self.depth).any(|depth| matches!(self.cursor_at(depth).role, Role::Tool))
    }

    /// Whether agents are nested deeper than is looked at.
    pub const fn is_too_deep(&self) -> bool {
        self.is_too_deep
    }

    /// The name of who the last effect is of, if it is not the agent of the step: an agent or a tool.
    pub(crate) const fn actor_name(&self) -> Option<&'a str> {
        match self.tool() {
            Some(tool) if self.depth == 0 => Some(tool.name),
            _ => self.target(),
        }
    }

    /// The module of who the last effect is of, if it is not the agent of the step.
    pub(crate) const fn module(&self) -> Option<Module<'a>> {
        match (self.tool(), self.phase) {
            (Some(tool), _) => Some(tool.module),
            (None, Phase::Prompts | Phase::Reads | Phase::Writes) if self.depth == 0 => None,
            _ => Some(self.at.meta.module()),
        }
    }

    /// The next effect.
    pub const fn next(&mut self) -> Option<Effect<'a>> {
        loop {
            let found = match self.phase {
                Phase::Prompts => self.next_in_prompt(),
                Phase::Reads => self.next_read(),
                Phase::ToolReads => self.next_read_in_tool(),
                Phase::Below => self.descend(),
                Phase::States => self.next_state(),
                Phase::Starts => self.next_start(),
                Phase::Inside => self.step_inside(),
                Phase::Writes => self.next_write(),
                Phase::Tools => self.next_in_tool(),
                Phase::Done => return None,
            };
            if found.is_some() {
                return found;
            }
        }
    }

    /// Where to begin with an agent.
    const fn first_phase(&self) -> Phase {
        match (self.reads, is_alone(self.at.meta)) {
            (true, _) => Phase::Prompts,
            (false, true) => Phase::Writes,
            (false, false) => Phase::Below,
        }
    }

    const fn go_to(&mut self, phase: Phase) -> Option<Effect<'a>> {
        (self.phase, self.i, self.j) = (phase, 0, 0);
        None
    }

    /// An effect, if the workflow around the step knows its key: of what is inside of a workflow only the session's.
    const fn effect(&self, key: &'a str, act: Act<'a>) -> Option<Effect<'a>> {
        match self.at.scope.workflow {
            None => Some(Effect { key, act, is_inside: false }),
            Some(workflow) if is_session_key(workflow, key) => Some(Effect { key, act, is_inside: true }),
            Some(_) => None,
        }
    }

    /// The name of the agent, if it is not that of the step.
    const fn target(&self) -> Option<&'a str> {
        if self.depth > 0 { Some(self.at.meta.name) } else { None }
    }

    const fn next_in_prompt(&mut self) -> Option<Effect<'a>> {
        let meta = self.at.meta;
        if let Some(keys) = meta.prompt_keys {
            if self.i == keys.len() {
                return self.go_to(Phase::Reads);
            }
            let (key, _, optional) = keys[self.i];
            self.i += 1;
            return self.prompt(key, optional, "");
        }
        if let Some(scan) = &mut self.scan {
            if let Some(found) = scan.next() {
                let Source::Key(key) = found.source else { return None };
                let source = if self.i < meta.sources.len() { meta.sources[self.i] } else { "" };
                return self.prompt(key, found.optional, source);
            }
            self.scan = None;
            self.i += 1;
        } else if self.i < meta.prompts.len() {
            self.scan = Some(Placeholders::new(meta.prompts[self.i]));
        } else {
            return self.go_to(Phase::Reads);
        }
        None
    }

    const fn prompt(&self, key: &'a str, optional: bool, source: &'a str) -> Option<Effect<'a>> {
        let (key, renamed) = self.at.scope.read_key(key);
        self.effect(key, Act::Prompt { optional, source, renamed, target: self.target() })
    }

    const fn next_read(&mut self) -> Option<Effect<'a>> {
        let (meta, slot) = (self.at.meta, self.i);
        // The only input of a tool is what it is asked for.
        let is_requested = matches!(self.at.role, Role::Tool) && meta.request_input().is_some();
        if slot >= meta.reads.len() || is_requested {
            return self.go_to(Phase::ToolReads);
        }
        self.i += 1;
        let spec = meta.reads[slot];
        let (key, renamed) = self.at.scope.read_key(spec.name);
        self.effect(key, Act::Read { spec, slot, renamed, target: self.target() })
    }

    const fn next_read_in_tool(&mut self) -> Option<Effect<'a>> {
        let tools = self.at.meta.tools;
        if self.i == tools.len() {
            return self.go_to(Phase::Below);
        }
        let tool = &tools[self.i];
        if self.j == tool.reads.len() {
            (self.i, self.j) = (self.i + 1, 0);
            return None;
        }
        let spec = tool.reads[self.j];
        self.j += 1;
        let (key, renamed) = self.at.scope.read_key(spec.name);
        let target = Some(if self.depth > 0 { self.at.meta.name } else { tool.name });
        self.effect(key, Act::Read { spec, slot: NO_SLOT, renamed, target })
    }

    /// Goes on with the next agent below, or with what is inside of this one.
    const fn descend(&mut self) -> Option<Effect<'a>> {
        let AgentCursor { meta, next, .. } = self.at;
        let Some(inner) = self.at.child_below(next) else {
            if !self.inside || !matches!(meta.kind, AgentKind::Workflow) {
                return self.go_to(Phase::Writes);
            }
            self.at.next = 0;
            return self.go_to(Phase::States);
        };
        self.push(ChildIndex::Below(next as u32), inner);
        None
    }

    const fn next_state(&mut self) -> Option<Effect<'a>> {
        let states = self.at.meta.states;
        if self.i == states.len() {
            return self.go_to(Phase::Starts);
        }
        let spec = states[self.i];
        self.i += 1;
        Some(Effect { key: spec.name, act: Act::State(spec), is_inside: true })
    }

    const fn next_start(&mut self) -> Option<Effect<'a>> {
        let meta = self.at.meta;
        if self.i == start_count(meta) {
            return self.go_to(Phase::Inside);
        }
        self.i += 1;
        match start_key(meta, &self.at.scope, self.i - 1) {
            Some(key) => Some(Effect { key, act: Act::Start, is_inside: true }),
            None => None,
        }
    }

    /// Goes on with the next step of a workflow, or with what the workflow writes.
    const fn step_inside(&mut self) -> Option<Effect<'a>> {
        let AgentCursor { meta: workflow, next, .. } = self.at;
        if next == workflow.steps.len() {
            return self.go_to(Phase::Writes);
        }
        match self.at.child_inside(next) {
            Some(inner) => self.push(ChildIndex::Inside(next as u32), inner),
            None => self.at.next += 1,
        }
        None
    }

    const fn push(&mut self, child: ChildIndex, inner: AgentCursor<'a>) {
        self.at.next += 1;
        if self.depth == DEEPEST {
            self.is_too_deep = true;
            return;
        }
        self.path[self.depth] = child;
        self.depth += 1;
        self.at = inner;
        self.go_to(self.first_phase());
    }

    const fn next_write(&mut self) -> Option<Effect<'a>> {
        let AgentCursor { meta, role, scope, .. } = self.at;
        let slot = self.i;
        if slot >= meta.writes.len() {
            return self.go_to(Phase::Tools);
        }
        self.i += 1;
        let spec = meta.writes[slot];
        if let Role::Target | Role::Tool = role {
            return self.effect(scope.written_key(spec.name), Act::May(spec));
        }
        let key = output_name(meta, scope.renames, slot);
        if scope.workflow.is_some() {
            return self.effect(key, Act::May(spec));
        }
        let sure = !spec.optional && scope.targets_write(meta, key, DEEPEST);
        self.effect(key, Act::Write { spec, slot, sure })
    }

    /// The next write of a tool. After the last one it goes on with the agent around this one.
    const fn next_in_tool(&mut self) -> Option<Effect<'a>> {
        let tools = self.at.meta.tools;
        if self.i < tools.len() {
            if self.j < tools[self.i].writes.len() {
                let spec = tools[self.i].writes[self.j];
                self.j += 1;
                return self.effect(self.at.scope.written_key(spec.name), Act::May(spec));
            }
            (self.i, self.j) = (self.i + 1, 0);
            return None;
        }
        if self.depth == 0 {
            return self.go_to(Phase::Done);
        }
        self.depth -= 1;
        self.at = self.cursor_at(self.depth);
        let (phase, last) = match self.path[self.depth] {
            ChildIndex::Below(number) => (Phase::Below, number),
            ChildIndex::Inside(number) => (Phase::Inside, number),
        };
        self.at.next = last as usize + 1;
        self.go_to(phase)
    }

    /// The frame at a depth of the way down, as it was when it was entered.
    const fn cursor_at(&self, depth: usize) -> AgentCursor<'a> {
        let (mut cursor, mut i) = (AgentCursor::of_step(self.step, self.renames, None), 0);
        while i < depth {
            let inner = match self.path[i] {
                ChildIndex::Below(number) => cursor.child_below(number as usize),
                ChildIndex::Inside(number) => cursor.child_inside(number as usize),
            };
            if let Some(inner) = inner {
                cursor = inner;
            }
            i += 1;
        }
        cursor
    }
}

impl<'a> Iterator for Effects<'a> {
    type Item = Effect<'a>;

    fn next(&mut self) -> Option<Effect<'a>> {
        Effects::next(self)
    }
}
