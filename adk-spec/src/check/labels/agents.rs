//! The agents of steps: what they read and write, and which of their tools marks reach.
//!
//! The turn of an LLM agent has one context, which its transfer targets share.

use super::answers_closed;
use super::findings::Ways;
use super::marks::{How, Marks, place as cause_place};
use super::state::NOW;
use super::walk::{DEEPEST, LabelWalk};
use crate::effects::{self, Act, Effects, may_exit};
use crate::hash::hash;
use crate::spec::placeholder::{Placeholders, Source};
use crate::spec::{AgentKind, AgentMeta, Conversation, KeySpec, Labels, Renames, ToolMeta};
use crate::text::starts_with;

const NO_NAME: u64 = hash("");

/// An agent in the workflow around it: the agent of a step, or one that belongs to that agent.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) step: &'a AgentMeta<'a>,
    pub(super) renames: &'a Renames<'a>,
    pub(super) agent: &'a AgentMeta<'a>,
    pub(super) role: PlaceRole,
    /// Whether only the agent itself accesses keys, by their own names. Const evaluation takes much
    /// longer to iterate over effects than to read the keys of such an agent.
    is_plain: bool,
    /// The hash of the agent's name.
    agent_hash: u64,
}

#[derive(Clone, Copy)]
pub(super) enum PlaceRole {
    Step,
    Target,
    Tool,
}

impl<'a> Place<'a> {
    /// Returns the accesses of the agent and its transfer targets.
    pub(super) const fn effects(&self) -> Effects<'a> {
        let all = match self.role {
            PlaceRole::Step => Effects::of(self.step, self.renames),
            PlaceRole::Target => Effects::below(self.step, self.renames, self.agent, false),
            PlaceRole::Tool => Effects::below(self.step, self.renames, self.agent, true),
        };
        all.outside().without_agent_tools()
    }

    /// Returns the agent and its transfer targets.
    pub(super) const fn members(&self) -> Members<'a> {
        // Const evaluation takes long to make an iterator over effects, and most agents are alone.
        let has_targets = !matches!(self.agent.transfer, []);
        Members {
            alone: if has_targets { None } else { Some(self.agent) },
            all: if has_targets {
                Some(self.effects())
            } else {
                None
            },
        }
    }

    const fn below(&self, agent: &'a AgentMeta<'a>, role: PlaceRole) -> Self {
        Self {
            agent,
            role,
            is_plain: false,
            agent_hash: hash(agent.name),
            ..*self
        }
    }
}

/// An agent and its transfer targets.
pub(super) struct Members<'a> {
    /// The next agent, if it has no targets.
    alone: Option<&'a AgentMeta<'a>>,
    all: Option<Effects<'a>>,
}

impl<'a> Members<'a> {
    pub(super) const fn next(&mut self) -> Option<&'a AgentMeta<'a>> {
        match &mut self.all {
            Some(all) => all.next_agent(),
            None => self.alone.take(),
        }
    }
}

impl<'a> LabelWalk<'_, 'a> {
    /// Walks the agent of a step.
    pub(super) const fn agent(
        &mut self,
        at: usize,
        meta: &'a AgentMeta<'a>,
        renames: &'a Renames<'a>,
    ) {
        let place = Place {
            step: meta,
            renames,
            agent: meta,
            role: PlaceRole::Step,
            is_plain: is_plain(meta, renames) && !self.notes.are_kept,
            agent_hash: hash(meta.name),
        };
        // An agent may end a loop before or after it writes its keys.
        let may_leave = meta.may_exit || !matches!(meta.exits, []) || !matches!(meta.transfer, []);
        if may_leave {
            self.exits(&place);
        }
        match meta.kind {
            AgentKind::Workflow => {
                self.workflow(&place, None);
            }
            AgentKind::Function => {
                self.function(&place);
            }
            AgentKind::Await => self.wait(at, meta),
            AgentKind::Llm | AgentKind::Custom => {
                let context = self.turn(&place, None);
                self.speak(&place, context);
            }
        }
        if may_leave && !self.is_over() {
            self.exits(&place);
        }
    }

    const fn exits(&mut self, place: &Place<'a>) {
        let meta = place.agent;
        if may_exit(meta, effects::DEEPEST) {
            self.leave(None);
        }
        if matches!(meta.transfer, []) {
            each!(target in meta.exits => { self.leave(Some(target)) });
            return;
        }
        let mut members = place.members();
        while let Some(member) = members.next() {
            each!(target in member.exits => { self.leave(Some(target)) });
        }
    }

    /// Returns the labels that count, in a workflow with `strict` for something without labels too.
    pub(super) const fn counted(&self, labels: Labels) -> Labels {
        crate::__private::counted(labels, self.guards.strict)
    }

    /// Returns the labels of the tools of an LLM agent that only the run knows.
    pub(super) const fn unknown_tools(&self, meta: &AgentMeta<'_>) -> Labels {
        if !meta.more_tools {
            Labels::LOCAL
        } else if self.guards.strict && !meta.labels.has(Labels::LOCAL) {
            meta.labels.and(Labels::ALL)
        } else {
            meta.labels.and(Labels::LOCAL)
        }
    }

    /// Walks the turn of an LLM agent, or an `impl Agent`. Returns its context. `request` is what
    /// an agent as a tool is asked.
    const fn turn(&mut self, place: &Place<'a>, request: Option<Marks>) -> Marks {
        let (mut context, mut called) = (self.gather(place, request), "");
        let mut repeats = repeats(place);
        while repeats {
            self.write_all(place, context, true);
            let (before, marked) = (context, self.states.count_marks());
            let results = self.call_agents(place, context);
            if let Some(cause) = self.causes.get(results.untrusted) {
                called = cause.agent;
            }
            context = context.or(results);
            context = context.or(self.hand_over(place, context));
            context = context.or(self.gather(place, request));
            // Calls may read what later calls have written.
            let is_new = !context.is_within(before) || self.states.count_marks() != marked;
            repeats = is_new && !self.is_over();
        }
        self.now.errors = self.now.errors.or(context);
        let agent = place.agent;
        let has_nothing = place.is_plain
            && matches!(
                (agent.kind, agent.tools, agent.more_tools),
                (AgentKind::Llm, [], false)
            );
        if self.notes.are_kept || context.untrusted != 0 && !has_nothing {
            self.sinks(place, context, called);
        }
        self.write_all(place, context, false);
        context
    }

    /// Returns the marks that prompts, keys, the conversation and plain tools bring into a turn.
    const fn gather(&mut self, place: &Place<'a>, request: Option<Marks>) -> Marks {
        let mut marks = self.reads(place);
        if let Some(request) = request {
            marks = marks.or(self.seen(request, place.agent.name));
        }
        if place.is_plain {
            return self.member(marks, place, place.agent, request.is_none());
        }
        let mut members = place.members();
        while let Some(member) = members.next() {
            marks = self.member(marks, place, member, request.is_none());
        }
        marks
    }

    /// Adds the marks that the conversation, artifacts and tools bring into the turn of one agent.
    const fn member(
        &mut self,
        mut marks: Marks,
        place: &Place<'a>,
        member: &'a AgentMeta<'a>,
        hears: bool,
    ) -> Marks {
        if hears {
            let heard = self.visible(member);
            marks = marks.or(self.seen(heard, member.name));
        }
        // A plain agent has read its artifacts with its prompts.
        if !place.is_plain {
            let shown = self.artifacts(member);
            marks = marks.or(self.seen(shown, member.name));
        }
        if sees_all(member) {
            self.note_everything(member.name);
            marks = marks.or(self.everything());
        }
        match member.kind {
            AgentKind::Custom => {
                marks = self.source(marks, member.labels, How::Agent, member.name, "");
            }
            AgentKind::Function => {
                marks = self.source(marks, member.labels, How::Function, member.name, "");
            }
            AgentKind::Llm if member.more_tools => {
                let labels = self.unknown_tools(member);
                marks = self.source(marks, labels, How::UnknownTool, member.name, "");
            }
            _ => {}
        }
        each!(tool in member.tools => {
            if tool.agent.is_none() {
                marks = self.tool(marks, member, tool);
            }
        });
        marks
    }

    pub(super) const fn tool(
        &mut self,
        mut marks: Marks,
        member: &'a AgentMeta<'a>,
        tool: &'a ToolMeta<'a>,
    ) -> Marks {
        let mut labels = tool.labels;
        if labels.has(Labels::MEMORY) && self.is_guarded {
            labels = self.counted(labels).and(Labels::UNTRUSTED);
        }
        if labels.has(Labels::CONTEXT) {
            self.earlier.reads_shelf = true;
            marks = marks.or(self.states.heard(NOW)).or(self.earlier.shelf);
        }
        self.source(marks, labels, How::Tool, member.name, tool.name)
    }

    /// Adds the marks of a result with labels.
    pub(super) const fn source(
        &mut self,
        mut marks: Marks,
        own: Labels,
        how: How,
        agent: &'a str,
        name: &'a str,
    ) -> Marks {
        let labels = self.counted(own);
        let how = match how {
            How::Tool if !own.is_known() => How::UnlabelledTool,
            How::Function if !own.is_known() => How::UnlabelledFunction,
            How::Agent if !own.is_known() => How::UnlabelledAgent,
            how => how,
        };
        self.note_source(labels, how, agent, name);
        if labels.has(Labels::UNTRUSTED) && marks.untrusted == 0 {
            marks.untrusted = self.causes.add(how, agent, name, 0, 1);
        }
        if labels.has(Labels::PRIVATE) && marks.private == 0 {
            marks.private = self.causes.add(how, agent, name, 0, 2);
        }
        marks
    }

    /// Returns the marks of the keys that an agent and its transfer targets read.
    pub(super) const fn reads(&mut self, place: &Place<'a>) -> Marks {
        let mut marks = Marks::NONE;
        if place.is_plain {
            marks = self.prompts(place.agent);
            let mut specs = place.agent.reads;
            while let [spec, more @ ..] = specs {
                marks = marks.or(self.key(spec.hash(), spec.optional, spec.is_closed()));
                specs = more;
            }
            return marks;
        }
        let mut all = place.effects();
        while let Some(effect) = all.next() {
            let read = match effect.act {
                Act::Prompt { optional, .. } => self.key(hash(effect.key), optional, false),
                Act::Read { spec, .. } => {
                    let (optional, is_closed) = (spec.optional, spec.is_closed());
                    self.key(hash(effect.key), optional, is_closed)
                }
                _ => continue,
            };
            marks = marks.or(self.seen(read, all.agent().name));
        }
        marks
    }

    /// Returns the marks of the keys and artifacts that the prompts of a plain agent show.
    const fn prompts(&mut self, meta: &AgentMeta<'a>) -> Marks {
        let mut marks = Marks::NONE;
        if let Some(mut keys) = meta.prompt_keys {
            while let [(_, hash, optional), more @ ..] = keys {
                marks = marks.or(self.key(*hash, *optional, false));
                keys = more;
            }
            return marks;
        }
        each!(prompt in meta.prompts => {
            let mut scan = Placeholders::new(prompt);
            while let Some(span) = scan.next_span() {
                if let Some((hash, optional)) = span.plain {
                    marks = marks.or(self.key(hash, optional, false));
                } else if let Some((source, optional)) = scan.parse(&span) {
                    marks = match source {
                        Source::Key(key) => marks.or(self.key(hash(key), optional, false)),
                        Source::Artifact(name) => marks.or(self.artifact(name)),
                    };
                }
            }
        });
        marks
    }

    /// Returns the marks of an artifact. All artifacts count as one, which holds what anybody has
    /// said.
    const fn artifact(&mut self, name: &str) -> Marks {
        let heard = self.states.heard(NOW);
        if starts_with(name, "user:") {
            self.earlier.reads_shelf = true;
            heard.or(self.earlier.shelf)
        } else {
            heard
        }
    }

    /// Returns the marks of a key that an agent reads.
    const fn key(&mut self, hash: u64, optional: bool, is_closed: bool) -> Marks {
        self.now.reads_absent = self.now.reads_absent || optional;
        let mut read = self.states.read(hash);
        if is_closed {
            read.untrusted = 0;
        }
        read
    }

    /// Returns the marks of the artifacts that the prompts of an agent show. All artifacts count as
    /// one, which holds what anybody has said.
    pub(super) const fn artifacts(&mut self, meta: &AgentMeta<'a>) -> Marks {
        let mut marks = Marks::NONE;
        if meta.prompt_keys.is_some() {
            return marks;
        }
        each!(prompt in meta.prompts => {
            let mut all = Placeholders::new(prompt);
            while let Some(found) = all.next() {
                if let Source::Artifact(name) = found.source {
                    marks = marks.or(self.artifact(name));
                }
            }
        });
        marks
    }

    /// Returns the marks of the conversation that an agent sees.
    pub(super) const fn visible(&self, meta: &AgentMeta<'a>) -> Marks {
        let speaker = self.states.speaker();
        match meta.conversation {
            _ if matches!(meta.kind, AgentKind::Workflow | AgentKind::Function) => Marks::NONE,
            Conversation::Shown => self.states.heard(NOW),
            Conversation::Hidden => Marks::NONE,
            Conversation::CurrentTurn if speaker != 0 && speaker != hash(meta.name) => {
                self.states.last(NOW)
            }
            Conversation::CurrentTurn => self.states.last(NOW).or(self.states.before(NOW)),
        }
    }

    /// Walks the agents that are tools. Returns the marks of their results.
    const fn call_agents(&mut self, place: &Place<'a>, context: Marks) -> Marks {
        let (mut members, mut back) = (place.members(), Marks::NONE);
        while let Some(member) = members.next() {
            each!(tool in member.tools => {
                if let Some(agent) = tool.agent
                    && !self.is_over()
                {
                    let known = self.call_agent(&place.below(agent, PlaceRole::Tool), context);
                    self.seen(known, member.name);
                    // The agent knows its request from its caller.
                    back = back.or(Marks {
                        untrusted: if context.untrusted == 0 { known.untrusted } else { 0 },
                        private: if context.private == 0 { known.private } else { 0 },
                    });
                }
            });
        }
        back
    }

    const fn call_agent(&mut self, place: &Place<'a>, context: Marks) -> Marks {
        if self.now.nested == DEEPEST {
            self.now.is_too_deep = true;
            return Marks::NONE;
        }
        let agent = place.agent;
        self.now.nested += 1;
        self.open_call();
        if self.is_over() {
            return Marks::NONE;
        }
        self.states.set_speech(context, context, context);
        self.states.head_mut(NOW).speaker = 0;
        let result = match agent.kind {
            AgentKind::Workflow => self.workflow(place, Some(context)),
            AgentKind::Function => self.function(place),
            AgentKind::Llm | AgentKind::Custom => self.turn(place, Some(context)),
            AgentKind::Await => Marks::NONE,
        };
        // The caller reads the error of a failed call, and no later step does.
        let errors = self.now.errors;
        self.now.errors = Marks::NONE;
        self.close_call();
        self.now.nested -= 1;
        if self.is_over() {
            return Marks::NONE;
        }
        // The error of an agent with a closed answer quotes nothing.
        let is_closed = answers_closed(agent);
        let result = if is_closed {
            result.without_text()
        } else {
            result
        };
        let result = self.causes.extend(result, How::Result, agent.name, "");
        if is_closed || errors.is_within(result) {
            return result;
        }
        result.or(self.causes.extend(errors, How::Failure, agent.name, ""))
    }

    /// Walks the workflows that an agent may hand over to. Returns the marks of what they say.
    const fn hand_over(&mut self, place: &Place<'a>, context: Marks) -> Marks {
        let (mut members, mut back) = (place.members(), Marks::NONE);
        while let Some(member) = members.next() {
            if matches!(member.kind, AgentKind::Workflow) && !self.is_over() {
                self.open_call();
                self.speak(place, context);
                self.workflow(&place.below(member, PlaceRole::Target), None);
                if self.is_over() {
                    return back;
                }
                let heard = self.states.heard(NOW);
                self.close_call();
                self.speak(place, heard);
                self.states.unsettle(NOW);
                back = back.or(heard);
            }
        }
        back
    }

    /// Writes the keys of an agent, its transfer targets and their tools; `only_tools` leaves out
    /// the keys of the agents.
    pub(super) const fn write_all(&mut self, place: &Place<'a>, marks: Marks, only_tools: bool) {
        if place.is_plain {
            let mut specs = place.agent.writes;
            while let [spec, more @ ..] = specs {
                let names = (place.agent.name, spec.name);
                let hashes = (place.agent_hash, spec.hash());
                self.write_key(spec, names, hashes, marks, !spec.optional);
                specs = more;
            }
            return;
        }
        let mut all = place.effects().only_writes();
        while let Some(effect) = all.next() {
            let (spec, sure) = match effect.act {
                Act::Write { spec, sure, .. } => (spec, sure),
                Act::May(spec) => (spec, false),
                _ => continue,
            };
            let tool = all.tool();
            if only_tools && tool.is_none() {
                continue;
            }
            let writer = match tool {
                Some(tool) => tool.name,
                None => all.agent().name,
            };
            if spec.is_closed() {
                self.note_type(marks, writer, effect.key, spec);
            }
            let hashes = (hash(writer), hash(effect.key));
            self.write_key(&spec, (writer, effect.key), hashes, marks, sure);
        }
    }

    /// Writes a key, with the names and hashes of the writer and the key.
    const fn write_key(
        &mut self,
        spec: &KeySpec<'a>,
        (writer, key): (&'a str, &'a str),
        (writer_hash, key_hash): (u64, u64),
        mut marks: Marks,
        sure: bool,
    ) {
        if marks.untrusted != 0 && spec.is_closed() {
            marks.untrusted = 0;
        }
        if marks.untrusted != 0 || marks.private != 0 {
            let how = How::Write;
            let at = cause_place(how, writer_hash, key_hash);
            marks = self.causes.extend_at(at, marks, how, writer, key);
        }
        self.write_at(key_hash, key, marks, sure, false);
    }

    /// Adds the turn of an agent to the conversation.
    pub(super) const fn speak(&mut self, place: &Place<'a>, context: Marks) {
        if self.is_over() {
            return;
        }
        let (meta, mut said) = (place.agent, context);
        if !said.is_none() {
            let at = cause_place(How::Speech, place.agent_hash, NO_NAME);
            said = self.causes.extend_at(at, said, How::Speech, meta.name, "");
        }
        let (heard, last, before) = (
            self.states.heard(NOW).or(said),
            self.states.last(NOW),
            self.states.before(NOW),
        );
        if !matches!(meta.kind, AgentKind::Llm) {
            // It may say nothing.
            self.states
                .set_speech(heard, last.or(said), before.or(last));
            self.states.head_mut(NOW).speaker = 0;
            return;
        }
        let answer = if said.untrusted != 0 && answers_closed(meta) {
            said.without_text()
        } else {
            said
        };
        let (speaker, known) = (place.agent_hash, self.states.speaker());
        if known == speaker {
            return self.states.set_speech(heard, last.or(answer), before);
        }
        let before = if known == 0 { before.or(last) } else { last };
        self.states.set_speech(heard, answer, before);
        // After a hand-over, a transfer target has spoken last.
        self.states.head_mut(NOW).speaker = if matches!(meta.transfer, []) {
            speaker
        } else {
            0
        };
    }

    /// Walks a function: nothing steers it but its arguments. Returns the marks of its result.
    const fn function(&mut self, place: &Place<'a>) -> Marks {
        let meta = place.agent;
        let has_context = meta.labels.has(Labels::CONTEXT);
        let mut marks = self.reads(place);
        if has_context {
            self.note_everything(meta.name);
            marks = marks.or(self.everything());
        }
        if marks.untrusted != 0 || self.notes.are_kept {
            let mut ways = Ways::NONE;
            self.add_keys(place, &mut ways);
            self.function_sink(marks, meta, &ways);
        }
        marks = self.source(marks, meta.labels, How::Function, meta.name, "");
        self.now.errors = self.now.errors.or(marks);
        if meta.labels.has(Labels::TRUSTS) {
            self.note_trust(marks, place);
            marks = Marks::NONE;
        }
        if has_context {
            self.speak(place, marks);
        }
        self.write_all(place, marks, false);
        marks
    }

    /// Walks an `await`: a person who answers has seen the keys of the question.
    const fn wait(&mut self, at: usize, meta: &'a AgentMeta<'a>) {
        if meta.default.is_empty() {
            self.show(meta);
        }
        each!(key in meta.writes => { self.write(key.name, Marks::NONE, !key.optional, false) });
        if !meta.default.is_empty() {
            self.states.head_mut(NOW).ask(at);
            self.now.has_asked = true;
        }
    }

    /// Cleans the keys that the question of an `await` shows.
    pub(super) const fn show(&mut self, meta: &'a AgentMeta<'a>) {
        let mut all = Effects::of(meta, &Renames::NONE);
        while let Some(effect) = all.next() {
            if let Act::Prompt { .. } = effect.act {
                let before = self.states.read(hash(effect.key));
                self.clean(effect.key);
                self.note_shown(before, meta, effect.key);
            }
        }
    }
}

/// Returns whether an agent may read each key and the conversation.
pub(super) const fn sees_all(meta: &AgentMeta<'_>) -> bool {
    matches!(meta.kind, AgentKind::Custom) || meta.labels.has(Labels::CONTEXT)
}

/// Returns whether the turn of an agent has results that depend on its context, or that change the
/// keys of its prompts.
const fn repeats(place: &Place<'_>) -> bool {
    if place.is_plain {
        return false;
    }
    let mut members = place.members();
    while let Some(member) = members.next() {
        let calls = any!(tool in member.tools => {
            tool.agent.is_some() || !matches!(tool.writes, [])
        });
        if calls || matches!(member.kind, AgentKind::Workflow) {
            return true;
        }
    }
    false
}

/// Returns whether only an agent itself accesses keys, by their own names.
const fn is_plain(meta: &AgentMeta<'_>, renames: &Renames<'_>) -> bool {
    matches!(meta.transfer, [])
        && !matches!(meta.kind, AgentKind::Workflow)
        && matches!((renames.reads, renames.writes), ([], []))
        && !any!(tool in meta.tools => {
            !matches!((tool.agent, tool.reads, tool.writes), (None, [], []))
        })
}
