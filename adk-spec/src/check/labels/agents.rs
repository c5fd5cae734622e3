//! The agents of steps: what they read and write, and which of their tools marks reach.
//!
//! The turn of an LLM agent has one context, which its transfer targets share.

use super::answers_closed;
use super::findings::Ways;
use super::marks::{How, Marks};
use super::state::NOW;
use super::walk::{DEEPEST, LabelWalk};
use crate::effects::{self, Act, Effects, may_exit};
use crate::hash::hash;
use crate::spec::placeholder::{Placeholders, Source};
use crate::spec::{AgentKind, AgentMeta, Conversation, Labels, Renames, ToolMeta};
use crate::text::starts_with;

/// An agent in the workflow around it: the agent of a step, or one that belongs to that agent.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) step: &'a AgentMeta<'a>,
    pub(super) renames: &'a Renames<'a>,
    pub(super) agent: &'a AgentMeta<'a>,
    pub(super) role: PlaceRole,
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

    const fn below(&self, agent: &'a AgentMeta<'a>, role: PlaceRole) -> Self {
        Self {
            agent,
            role,
            ..*self
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
        };
        // An agent may end a loop before or after it writes its keys.
        self.exits(&place);
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
                self.speak(meta, context);
            }
        }
        if !self.is_over() {
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
        let mut members = place.effects();
        while let Some(member) = members.next_agent() {
            each!(target in member.exits => { self.leave(Some(target)) });
        }
    }

    /// Returns the labels that count, in a workflow with `strict` for something without labels too.
    pub(super) const fn counted(&self, labels: Labels) -> Labels {
        if self.guards.strict && !labels.is_known() {
            labels.and(Labels::ALL)
        } else {
            labels
        }
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
        self.errors = self.errors.or(context);
        if context.untrusted != 0 || self.notes.are_kept() {
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
        let mut members = place.effects();
        while let Some(member) = members.next_agent() {
            if request.is_none() {
                marks = marks.or(self.seen(self.visible(member), member.name));
            }
            let shown = self.artifacts(member);
            marks = marks.or(self.seen(shown, member.name));
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
                AgentKind::Llm => {
                    let labels = self.unknown_tools(member);
                    marks = self.source(marks, labels, How::UnknownTool, member.name, "");
                }
                AgentKind::Workflow | AgentKind::Await => {}
            }
            each!(tool in member.tools => {
                if tool.agent.is_none() {
                    marks = self.tool(marks, member, tool);
                }
            });
        }
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
        let (mut all, mut marks) = (place.effects(), Marks::NONE);
        while let Some(effect) = all.next() {
            let read = match effect.act {
                Act::Prompt { optional, .. } => {
                    self.reads_absent = self.reads_absent || optional;
                    self.states.read(hash(effect.key))
                }
                Act::Read { spec, .. } => {
                    self.reads_absent = self.reads_absent || spec.optional;
                    let read = self.states.read(hash(effect.key));
                    if spec.is_closed() {
                        read.without_text()
                    } else {
                        read
                    }
                }
                _ => continue,
            };
            marks = marks.or(self.seen(read, all.agent().name));
        }
        marks
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
                    marks = marks.or(self.states.heard(NOW));
                    if starts_with(name, "user:") {
                        self.earlier.reads_shelf = true;
                        marks = marks.or(self.earlier.shelf);
                    }
                }
            }
        });
        marks
    }

    /// Returns the marks of the conversation that an agent sees.
    pub(super) const fn visible(&self, meta: &AgentMeta<'a>) -> Marks {
        let speaker = self.states.head(NOW).speaker;
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
        let (mut members, mut back) = (place.effects(), Marks::NONE);
        while let Some(member) = members.next_agent() {
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
        if self.nested == DEEPEST {
            self.is_too_deep = true;
            return Marks::NONE;
        }
        let agent = place.agent;
        self.nested += 1;
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
        let errors = self.errors;
        self.errors = Marks::NONE;
        self.close_call();
        self.nested -= 1;
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
        let (mut members, mut back) = (place.effects(), Marks::NONE);
        while let Some(member) = members.next_agent() {
            if matches!(member.kind, AgentKind::Workflow) && !self.is_over() {
                self.open_call();
                self.speak(place.agent, context);
                self.workflow(&place.below(member, PlaceRole::Target), None);
                if self.is_over() {
                    return back;
                }
                let heard = self.states.heard(NOW);
                self.close_call();
                self.speak(place.agent, heard);
                self.states.unsettle(NOW);
                back = back.or(heard);
            }
        }
        back
    }

    /// Writes the keys of an agent, its transfer targets and their tools; `only_tools` leaves out
    /// the keys of the agents.
    pub(super) const fn write_all(&mut self, place: &Place<'a>, marks: Marks, only_tools: bool) {
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
            let marks = if spec.is_closed() {
                self.note_type(marks, writer, effect.key, spec);
                marks.without_text()
            } else {
                marks
            };
            let marks = self.causes.extend(marks, How::Write, writer, effect.key);
            self.write(effect.key, marks, sure, false);
        }
    }

    /// Adds the turn of an agent to the conversation.
    pub(super) const fn speak(&mut self, meta: &'a AgentMeta<'a>, context: Marks) {
        if self.is_over() {
            return;
        }
        let said = self.causes.extend(context, How::Speech, meta.name, "");
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
        let answer = if answers_closed(meta) {
            said.without_text()
        } else {
            said
        };
        let (speaker, known) = (hash(meta.name), self.states.head(NOW).speaker);
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
        if marks.untrusted != 0 || self.notes.are_kept() {
            let mut ways = Ways::NONE;
            self.add_keys(place, &mut ways);
            self.function_sink(marks, meta, &ways);
        }
        marks = self.source(marks, meta.labels, How::Function, meta.name, "");
        self.errors = self.errors.or(marks);
        if meta.labels.has(Labels::TRUSTS) {
            self.note_trust(marks, place);
            marks = Marks::NONE;
        }
        if has_context {
            self.speak(meta, marks);
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
    if effects::is_alone(place.agent) {
        return false;
    }
    let mut members = place.effects();
    while let Some(member) = members.next_agent() {
        let calls = any!(tool in member.tools => {
            tool.agent.is_some() || !matches!(tool.writes, [])
        });
        if calls || matches!(member.kind, AgentKind::Workflow) {
            return true;
        }
    }
    false
}
