//! [`Effects`]: the reads and writes of a step, with the key names of the workflow that contains
//! the step.
//!
//! Only this module knows what belongs to a step: the agent, its transfer targets, the agents and
//! workflows that are its tools, the tools of all of them, and what steps inside of workflows do to
//! keys of the session. The checker, `each`, the defaults of nested inputs and the lints use this
//! module.
//!
//! Const evaluation has no iterators, so [`Effects`] has its own `next` method. At run time it is
//! an [`Iterator`] too.

mod below;
mod footprint;
mod scope;

use self::below::{agent_below, start_count, start_key};
pub(crate) use self::below::{
    contains, find_tool, is_alone, is_session_key, may_exit, runs_together,
};
pub use self::footprint::Footprint;
use self::scope::KeyScope;
pub(crate) use self::scope::output_name;
use crate::spec::placeholder::{Placeholders, Source};
use crate::spec::{AgentKind, AgentMeta, KeySpec, Module, Renames, StepKind, ToolMeta};

/// The index of a key that the agent of the step does not declare itself.
pub(crate) const NO_SLOT: usize = usize::MAX;

/// One effect of a step.
#[derive(Clone, Copy, Debug)]
pub struct Effect<'a> {
    /// The key, by its name in the workflow around the step.
    pub key: &'a str,
    /// The kind of access.
    pub act: Act<'a>,
    /// Whether the access happens inside a nested workflow, to a key of the session.
    pub is_inside: bool,
}

/// An access to a key.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Act<'a> {
    /// A read in a prompt.
    Prompt {
        /// Whether the key may be absent.
        optional: bool,
        /// The source of the prompt, such as the name of a const; empty for a literal.
        source: &'a str,
        /// The index of the renaming that gives the key its name, if there is one.
        renamed: Option<usize>,
        /// The agent that has the prompt, if it is not the agent of the step.
        target: Option<&'a str>,
    },
    /// A read by a parameter or an input.
    Read {
        /// The key as its reader declares it.
        spec: KeySpec<'a>,
        /// The index among the keys that the reader declares. Keys of tools have no index.
        slot: usize,
        /// The index of the renaming that gives the key its name, if there is one.
        renamed: Option<usize>,
        /// The agent or tool that reads the key, if it is not the agent of the step.
        target: Option<&'a str>,
    },
    /// A key of the session that a workflow needs.
    State(KeySpec<'a>),
    /// A write of a session key by a workflow when it starts.
    Start,
    /// A write by the agent of the step.
    Write {
        /// The key as the agent declares it.
        spec: KeySpec<'a>,
        /// The index among the keys that the agent declares.
        slot: usize,
        /// Whether the agent has always written the key when it ends.
        sure: bool,
    },
    /// A possible write by an agent or tool that belongs to the step.
    May(KeySpec<'a>),
}

impl Act<'_> {
    /// Returns whether the key may have another value after the access.
    pub const fn is_write(&self) -> bool {
        matches!(self, Self::Start | Self::Write { .. } | Self::May(_))
    }
}

/// The largest depth of agents below a step: transfer targets, agents as tools and steps of
/// workflows. Deeper agents are rejected.
pub(crate) const DEEPEST: usize = 128;

/// An iterator over all accesses of a step's agent to keys: first the agent's reads, then the
/// accesses of the agents that belong to it, then the agent's writes.
#[derive(Debug)]
pub struct Effects<'a> {
    /// The cursor of the agent with which the iterator begins.
    top: AgentCursor<'a>,
    /// The current agent.
    at: AgentCursor<'a>,
    /// The path from the agent of the step to the current agent. The path holds only indices,
    /// because an array of cursors takes 6 KB and each move copies it.
    path: [ChildIndex; DEEPEST],
    depth: usize,
    is_too_deep: bool,
    phase: Phase,
    i: usize,
    j: usize,
    scan: Option<Placeholders<'a>>,
    /// Whether the iterator includes reads.
    reads: bool,
    /// Whether the iterator includes the steps inside of workflows.
    inside: bool,
    /// Whether the iterator includes the agents that are tools.
    tools: bool,
}

/// An agent on the path from the agent of the step to the current agent.
#[derive(Clone, Copy, Debug)]
struct AgentCursor<'a> {
    meta: &'a AgentMeta<'a>,
    role: Role,
    /// The number of visited agents below this agent, or of visited steps inside it.
    next: usize,
    scope: KeyScope<'a>,
}

impl<'a> AgentCursor<'a> {
    const fn of_step(
        meta: &'a AgentMeta<'a>,
        renames: &'a Renames<'a>,
        workflow: Option<&'a AgentMeta<'a>>,
    ) -> Self {
        Self {
            meta,
            role: Role::Step,
            next: 0,
            scope: KeyScope {
                own: meta,
                renames,
                workflow,
            },
        }
    }

    const fn child_below(&self, number: usize) -> Option<Self> {
        let role = if number < self.meta.transfer.len() {
            Role::Target
        } else {
            Role::Tool
        };
        match agent_below(self.meta, number) {
            Some(meta) => Some(Self {
                meta,
                role,
                next: 0,
                scope: self.scope,
            }),
            None => None,
        }
    }

    /// Returns the cursor of the agent of a step in this workflow; `None` if the step has no agent.
    const fn child_inside(&self, number: usize) -> Option<Self> {
        let step = &self.meta.steps[number];
        match step.kind {
            StepKind::Agent { meta, .. } => {
                Some(Self::of_step(meta, &step.renames, Some(self.meta)))
            }
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

/// One step of the path from an agent to an agent below it.
#[derive(Clone, Copy, Debug)]
enum ChildIndex {
    /// The index among the agents below.
    Below(u32),
    /// The index of the step inside a workflow.
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
    /// Creates an iterator over the reads and writes of an agent that is placed with `renames`.
    pub const fn of(meta: &'a AgentMeta<'a>, renames: &'a Renames<'a>) -> Self {
        let top = AgentCursor::of_step(meta, renames, None);
        Self {
            top,
            at: top,
            path: [ChildIndex::Below(0); DEEPEST],
            depth: 0,
            is_too_deep: false,
            phase: Phase::Prompts,
            i: 0,
            j: 0,
            scan: None,
            reads: true,
            inside: true,
            tools: true,
        }
    }

    /// Creates an iterator over the reads and writes of a transfer target or an agent as a tool,
    /// below the agent of the step.
    pub(crate) const fn below(
        step: &'a AgentMeta<'a>,
        renames: &'a Renames<'a>,
        agent: &'a AgentMeta<'a>,
        is_tool: bool,
    ) -> Self {
        let mut all = Self::of(step, renames);
        all.at.meta = agent;
        all.at.role = if is_tool { Role::Tool } else { Role::Target };
        all.top = all.at;
        all
    }

    /// Creates an iterator over only the writes of an agent, and the session keys that workflows
    /// need.
    pub const fn writes(meta: &'a AgentMeta<'a>, renames: &'a Renames<'a>) -> Self {
        Self::of(meta, renames).only_writes()
    }

    /// Leaves out the steps inside of workflows.
    #[must_use]
    pub const fn outside(mut self) -> Self {
        self.inside = false;
        self
    }

    /// Leaves out the agents that are tools.
    #[must_use]
    pub(crate) const fn without_agent_tools(mut self) -> Self {
        self.tools = false;
        self
    }

    /// Leaves out reads.
    #[must_use]
    pub(crate) const fn only_writes(mut self) -> Self {
        self.reads = false;
        self.phase = self.first_phase();
        self
    }

    /// Returns the next agent: first the agent of the step, then each agent that belongs to it. The
    /// caller calls either this method or [`next`](Self::next).
    pub(crate) const fn next_agent(&mut self) -> Option<&'a AgentMeta<'a>> {
        loop {
            match self.phase {
                Phase::Prompts | Phase::Reads | Phase::ToolReads => {
                    self.go_to(Phase::Below);
                    return Some(self.at.meta);
                }
                Phase::Below => self.descend(),
                Phase::States | Phase::Starts | Phase::Inside => {
                    self.phase = Phase::Inside;
                    self.step_inside()
                }
                Phase::Writes | Phase::Tools => {
                    (self.phase, self.i) = (Phase::Tools, self.at.meta.tools.len());
                    self.next_in_tool()
                }
                Phase::Done => return None,
            };
        }
    }

    /// Returns the agent of the last effect.
    pub const fn agent(&self) -> &'a AgentMeta<'a> {
        self.at.meta
    }

    /// Returns the tool of the last effect, if a tool of [`agent`](Self::agent) has the effect.
    pub const fn tool(&self) -> Option<&'a ToolMeta<'a>> {
        match self.phase {
            Phase::Tools | Phase::ToolReads => Some(&self.at.meta.tools[self.i]),
            _ => None,
        }
    }

    /// Returns whether the last effect is one of the step's agent or of its tools.
    pub const fn is_own(&self) -> bool {
        self.depth == 0
    }

    /// Returns whether the last effect is one of a tool, or of an agent below a tool.
    pub fn is_of_tool(&self) -> bool {
        self.tool().is_some()
            || (0..=self.depth).any(|depth| matches!(self.cursor_at(depth).role, Role::Tool))
    }

    /// Returns whether agents are nested deeper than the iterator follows.
    pub const fn is_too_deep(&self) -> bool {
        self.is_too_deep
    }

    /// Returns the name of the agent or tool that has the last effect, if it is not the agent of
    /// the step.
    pub(crate) const fn actor_name(&self) -> Option<&'a str> {
        match self.tool() {
            Some(tool) if self.depth == 0 => Some(tool.name),
            _ => self.target(),
        }
    }

    /// Returns the module of the agent or tool that has the last effect, if it is not the agent of
    /// the step.
    pub(crate) const fn module(&self) -> Option<Module<'a>> {
        match (self.tool(), self.phase) {
            (Some(tool), _) => Some(tool.module),
            (None, Phase::Prompts | Phase::Reads | Phase::Writes) if self.depth == 0 => None,
            _ => Some(self.at.meta.module()),
        }
    }

    /// Returns the next effect.
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

    /// Returns the first phase of the current agent.
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

    /// Creates an effect if the key exists in the workflow around the step. Of the keys inside a
    /// nested workflow, only keys of the session do.
    const fn effect(&self, key: &'a str, act: Act<'a>) -> Option<Effect<'a>> {
        match self.at.scope.workflow {
            None => Some(Effect {
                key,
                act,
                is_inside: false,
            }),
            Some(workflow) if is_session_key(workflow, key) => Some(Effect {
                key,
                act,
                is_inside: true,
            }),
            Some(_) => None,
        }
    }

    /// Returns the name of the current agent; `None` for the agent of the step.
    const fn target(&self) -> Option<&'a str> {
        if self.depth > 0 {
            Some(self.at.meta.name)
        } else {
            None
        }
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
                let Source::Key(key) = found.source else {
                    return None;
                };
                let source = if self.i < meta.sources.len() {
                    meta.sources[self.i]
                } else {
                    ""
                };
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
        self.effect(
            key,
            Act::Prompt {
                optional,
                source,
                renamed,
                target: self.target(),
            },
        )
    }

    const fn next_read(&mut self) -> Option<Effect<'a>> {
        let (meta, slot) = (self.at.meta, self.i);
        // A workflow as a tool with one `String` input receives the request of the model as that
        // input, so the input does not read a key.
        let is_requested = matches!(self.at.role, Role::Tool) && meta.request_input().is_some();
        if slot >= meta.reads.len() || is_requested {
            return self.go_to(Phase::ToolReads);
        }
        self.i += 1;
        let spec = meta.reads[slot];
        let (key, renamed) = self.at.scope.read_key(spec.name);
        self.effect(
            key,
            Act::Read {
                spec,
                slot,
                renamed,
                target: self.target(),
            },
        )
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
        let target = Some(if self.depth > 0 {
            self.at.meta.name
        } else {
            tool.name
        });
        self.effect(
            key,
            Act::Read {
                spec,
                slot: NO_SLOT,
                renamed,
                target,
            },
        )
    }

    /// Continues with the next agent that belongs to the current agent, or with the steps inside
    /// it.
    const fn descend(&mut self) -> Option<Effect<'a>> {
        let AgentCursor { meta, next, .. } = self.at;
        let below = if self.tools || next < meta.transfer.len() {
            self.at.child_below(next)
        } else {
            None
        };
        let Some(inner) = below else {
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
        Some(Effect {
            key: spec.name,
            act: Act::State(spec),
            is_inside: true,
        })
    }

    const fn next_start(&mut self) -> Option<Effect<'a>> {
        let meta = self.at.meta;
        if self.i == start_count(meta) {
            return self.go_to(Phase::Inside);
        }
        self.i += 1;
        match start_key(meta, &self.at.scope, self.i - 1) {
            Some(key) => Some(Effect {
                key,
                act: Act::Start,
                is_inside: true,
            }),
            None => None,
        }
    }

    /// Continues with the next step of a workflow, or with the writes of the workflow.
    const fn step_inside(&mut self) -> Option<Effect<'a>> {
        let AgentCursor {
            meta: workflow,
            next,
            ..
        } = self.at;
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
        let AgentCursor {
            meta, role, scope, ..
        } = self.at;
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

    /// Returns the next write of a tool. After the last tool, continues with the agent that calls
    /// the tools.
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

    /// Returns the cursor of the agent at a depth of the path, before any agent below it was
    /// visited.
    const fn cursor_at(&self, depth: usize) -> AgentCursor<'a> {
        let (mut cursor, mut i) = (self.top, 0);
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
