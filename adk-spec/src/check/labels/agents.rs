//! The agents of steps: what they read and write, and which of their tools marks reach.
//!
//! The turn of an LLM agent has one context, which its transfer targets share.

use super::answers_closed;
use super::marks::{How, Marks};
use super::state::{EVER, Level, NOW};
use super::walk::{DEEPEST, LabelWalk, SinkKind, Ways};
use crate::check::flow::count;
use crate::effects::{self, Act, Effects, is_session_key, may_exit};
use crate::hash::hash;
use crate::spec::placeholder::{Placeholders, Source};
use crate::spec::{AgentKind, AgentMeta, Conversation, Labels, Renames, ToolMeta};
use crate::text::starts_with;

/// An agent in the workflow around it: the agent of a step, or one that belongs to that agent.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    step: &'a AgentMeta<'a>,
    renames: &'a Renames<'a>,
    agent: &'a AgentMeta<'a>,
    role: PlaceRole,
}

#[derive(Clone, Copy)]
enum PlaceRole {
    Step,
    Target,
    Tool,
}

impl<'a> Place<'a> {
    /// Returns the accesses of the agent and its transfer targets.
    const fn effects(&self) -> Effects<'a> {
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
        crate::__private::counted(labels, self.guards.strict)
    }

    /// Returns the labels of the tools of an LLM agent that only the run knows.
    const fn unknown_tools(&self, meta: &AgentMeta<'_>) -> Labels {
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
        let repeats = repeats(place);
        let (mut context, mut called) = (Marks::NONE, "");
        loop {
            let mut next = context.or(self.gather(place, request));
            if repeats {
                let results = self.call_agents(place, next);
                if let Some(cause) = self.causes.get(results.untrusted) {
                    called = cause.agent;
                }
                next = next.or(results);
                next = next.or(self.hand_over(place, next));
                self.write_all(place, next, true);
            }
            if self.is_over() || next.is_within(context) {
                break;
            }
            context = next;
            if !repeats {
                break;
            }
        }
        if context.untrusted != 0 {
            self.sinks(place, context, called);
        }
        self.write_all(place, context, false);
        context
    }

    /// Returns the marks that prompts, keys, the conversation and plain tools bring into a turn.
    const fn gather(&mut self, place: &Place<'a>, request: Option<Marks>) -> Marks {
        let mut marks = self.reads(place);
        if let Some(request) = request {
            marks = marks.or(request);
        }
        let mut members = place.effects();
        while let Some(member) = members.next_agent() {
            if request.is_none() {
                marks = marks.or(self.visible(member));
            }
            marks = marks.or(self.artifacts(member));
            if sees_all(member) {
                marks = marks.or(self.states.everything(NOW));
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

    const fn tool(
        &mut self,
        mut marks: Marks,
        member: &'a AgentMeta<'a>,
        tool: &'a ToolMeta<'a>,
    ) -> Marks {
        let mut labels = tool.labels;
        if labels.has(Labels::MEMORY) && self.is_guarded {
            labels = labels.and(Labels::UNTRUSTED);
        }
        if labels.has(Labels::CONTEXT) {
            self.earlier.reads_shelf = true;
            marks = marks.or(self.states.heard(NOW)).or(self.earlier.shelf);
        }
        self.source(marks, labels, How::Tool, member.name, tool.name)
    }

    /// Adds the marks of a result with labels.
    const fn source(
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
        if labels.has(Labels::UNTRUSTED) && marks.untrusted == 0 {
            marks.untrusted = self.causes.add(how, agent, name, 0, 1);
        }
        if labels.has(Labels::PRIVATE) && marks.private == 0 {
            marks.private = self.causes.add(how, agent, name, 0, 2);
        }
        marks
    }

    /// Returns the marks of the keys that an agent and its transfer targets read.
    const fn reads(&self, place: &Place<'a>) -> Marks {
        let (mut all, mut marks) = (place.effects(), Marks::NONE);
        while let Some(effect) = all.next() {
            match effect.act {
                Act::Prompt { .. } => marks = marks.or(self.states.read(hash(effect.key))),
                Act::Read { spec, .. } => {
                    let read = self.states.read(hash(effect.key));
                    marks = marks.or(if spec.is_closed() {
                        read.without_text()
                    } else {
                        read
                    });
                }
                _ => {}
            }
        }
        marks
    }

    /// Returns the marks of the artifacts that the prompts of an agent show. All artifacts count as
    /// one, which holds what anybody has said.
    const fn artifacts(&mut self, meta: &AgentMeta<'a>) -> Marks {
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
    const fn visible(&self, meta: &AgentMeta<'a>) -> Marks {
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
                    let result = self.call_agent(&place.below(agent, PlaceRole::Tool), context);
                    let known = self.causes.extend(result, How::Result, agent.name, "");
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
        self.close_call();
        self.nested -= 1;
        if self.is_over() {
            return Marks::NONE;
        }
        if answers_closed(agent) {
            result.without_text()
        } else {
            result
        }
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

    /// Reports each tool and function of a turn that acts or sends, if the marks of the context
    /// allow none.
    const fn sinks(&mut self, place: &Place<'a>, context: Marks, called: &'a str) {
        let (mut members, mut ways) = (place.effects(), Ways::NONE);
        self.add_keys(place, &mut ways);
        ways.requested = match place.role {
            PlaceRole::Tool => self.states.heard(NOW).untrusted != 0,
            _ => false,
        };
        ways.called = called;
        while let Some(member) = members.next_agent() {
            ways.heard = ways.heard || self.visible(member).untrusted != 0 || sees_all(member);
            let unknown = self.unknown_tools(member).has(Labels::UNTRUSTED);
            let own = any!(tool in member.tools => {
                self.tool(Marks::NONE, member, tool).untrusted != 0
            });
            ways.own = ways.own || own || unknown;
            ways.artifacts = ways.artifacts || self.artifacts(member).untrusted != 0;
        }
        members = place.effects();
        while let Some(member) = members.next_agent() {
            each!(tool in member.tools => {
                let asks = tool.confirm && !(tool.selects && self.guards.strict);
                if tool.agent.is_none() && !asks {
                    let kind = if tool.confirm { SinkKind::SelectingTool } else { SinkKind::Tool };
                    self.sink(context, tool.labels, kind, member.name, tool.name, &ways);
                }
            });
            match member.kind {
                AgentKind::Llm => {
                    let labels = self.unknown_tools(member);
                    self.sink(
                        context,
                        labels,
                        SinkKind::UnknownTool,
                        member.name,
                        "",
                        &ways,
                    );
                }
                AgentKind::Function => self.function_sink(context, member, &ways),
                AgentKind::Custom => {
                    self.sink(
                        context,
                        member.labels,
                        SinkKind::Custom,
                        member.name,
                        "",
                        &ways,
                    );
                }
                AgentKind::Workflow | AgentKind::Await => {}
            }
        }
    }

    /// Adds the keys with text of strangers that an agent reads.
    const fn add_keys(&self, place: &Place<'a>, ways: &mut Ways<'a>) {
        let mut all = place.effects();
        while let Some(effect) = all.next() {
            let reads_text = match effect.act {
                Act::Prompt { .. } => true,
                Act::Read { spec, .. } => !spec.is_closed(),
                _ => false,
            };
            if reads_text && self.states.read(hash(effect.key)).untrusted != 0 {
                ways.add_key(effect.key);
                ways.asked = ways.asked || self.has_asked_about(effect.key);
            }
        }
    }

    const fn function_sink(&mut self, marks: Marks, meta: &'a AgentMeta<'a>, ways: &Ways<'a>) {
        let kind = if meta.labels.has(Labels::CONTEXT) {
            SinkKind::ContextFunction
        } else {
            SinkKind::Function
        };
        self.sink(marks, meta.labels, kind, meta.name, "", ways);
    }

    /// Writes the keys of an agent, its transfer targets and their tools; `only_tools` leaves out
    /// the keys of the agents.
    const fn write_all(&mut self, place: &Place<'a>, marks: Marks, only_tools: bool) {
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
                marks.without_text()
            } else {
                marks
            };
            let marks = self.causes.extend(marks, How::Write, writer, effect.key);
            self.write(effect.key, marks, sure, false);
        }
    }

    /// Adds the turn of an agent to the conversation.
    const fn speak(&mut self, meta: &'a AgentMeta<'a>, context: Marks) {
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
            marks = marks.or(self.states.everything(NOW));
        }
        if marks.untrusted != 0 {
            let mut ways = Ways::NONE;
            self.add_keys(place, &mut ways);
            self.function_sink(marks, meta, &ways);
        }
        marks = self.source(marks, meta.labels, How::Function, meta.name, "");
        if meta.labels.has(Labels::TRUSTS) {
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
                self.clean(effect.key);
            }
        }
    }

    /// Walks the steps of a workflow inside the current one. Returns the marks of its result as a
    /// tool.
    const fn workflow(&mut self, place: &Place<'a>, request: Option<Marks>) -> Marks {
        if self.nested == DEEPEST {
            self.is_too_deep = true;
            return Marks::NONE;
        }
        let (meta, outer, was_guarded) = (place.agent, self.states.at, self.is_guarded);
        let speech = (
            self.states.heard(NOW),
            self.states.last(NOW),
            self.states.before(NOW),
        );
        let speaker = self.states.head(NOW).speaker;
        let own = meta.reads.len() + meta.writes.len() + meta.lets.len() + meta.states.len();
        self.states
            .enter(meta.steps, meta.name, count(meta.steps) + own + outer.count);
        if self.is_over() {
            return Marks::NONE;
        }
        self.nested += 1;
        self.states.set_speech(speech.0, speech.1, speech.2);
        self.states.head_mut(NOW).speaker = speaker;
        self.enter_keys(place, &outer, request);
        self.steps();
        if self.is_over() {
            return Marks::NONE;
        }
        self.nested -= 1;
        self.is_guarded = was_guarded;
        self.exit_workflow(place, outer, request.is_some())
    }

    /// Gives a nested workflow its inputs and the keys of the session.
    const fn enter_keys(&mut self, place: &Place<'a>, outer: &Level<'a>, request: Option<Marks>) {
        let meta = place.agent;
        let mut i = 0;
        while i < outer.count {
            let (key, marks) = self.states.key_at(outer, i, NOW);
            if !marks.is_none() && is_session_key(meta, key.name) {
                self.states.write(key.name, marks, false, true);
            }
            i += 1;
        }
        if let (Some(input), Some(request)) = (meta.request_input(), request) {
            self.states.write(input, request, false, false);
        }
        let mut all = place.effects();
        while let Some(effect) = all.next() {
            if let Act::Read { spec, .. } = effect.act {
                let marks = self.states.read_at(outer, hash(effect.key), NOW);
                let marks = if spec.is_closed() {
                    marks.without_text()
                } else {
                    marks
                };
                self.states.write(spec.name, marks, false, false);
            }
        }
        // The guards of the workflow itself also mark keys of the session here.
        if let Some(guards) = meta.guards {
            self.is_guarded = true;
            self.guard_session(meta, guards.untrusted, true);
            self.guard_session(meta, guards.private, false);
        }
    }

    const fn guard_session(
        &mut self,
        meta: &'a AgentMeta<'a>,
        keys: &'a [&'a str],
        is_untrusted: bool,
    ) {
        each!(key in keys => {
            if is_session_key(meta, key) {
                let marks = self.causes.guard(key, is_untrusted);
                self.states.write(key, marks, false, true);
            }
        });
    }

    /// Ends a nested workflow: its outputs and the keys of the session have their marks in the
    /// workflow around it. Returns the marks of its result as a tool.
    const fn exit_workflow(&mut self, place: &Place<'a>, outer: Level<'a>, is_tool: bool) -> Marks {
        let (meta, inner, end) = (place.agent, self.states.at, self.states.head(NOW));
        let state = if end.dead { EVER } else { NOW };
        let ever = self.states.heard(EVER);
        let speech = (
            self.states.heard(state),
            self.states.last(NOW),
            self.states.before(NOW),
        );
        let mut result = if matches!(meta.writes, []) {
            speech.0
        } else {
            Marks::NONE
        };
        self.states.at = outer;
        self.states.note_heard(ever);
        if end.dead {
            self.states.set_speech(ever, ever, ever);
        } else {
            self.states.set_speech(speech.0, speech.1, speech.2);
        }
        self.states.head_mut(NOW).speaker = if end.dead { 0 } else { end.speaker };
        let mut i = 0;
        while i < inner.count {
            let (key, marks) = self.states.key_at(&inner, i, state);
            if is_session_key(meta, key.name) {
                let (_, ever) = self.states.key_at(&inner, i, EVER);
                self.write(key.name, marks, false, true);
                if !ever.is_none() {
                    self.states.note(key.name, ever);
                }
            }
            i += 1;
        }
        // A write of clean text has left no trace, but it may be the answer of a question.
        if self.states.head(NOW).has_questions() {
            let mut all = Effects::writes(place.step, place.renames);
            while let Some(effect) = all.next() {
                if effect.act.is_write() {
                    self.forget_questions(effect.key);
                }
            }
        }
        let mut all = place.effects().only_writes();
        while let Some(effect) = all.next() {
            let (spec, sure) = match effect.act {
                Act::Write { spec, sure, .. } => (spec, sure),
                Act::May(spec) => (spec, false),
                _ => continue,
            };
            let marks = self.states.read_at(&inner, hash(spec.name), state);
            let marks = if spec.is_closed() {
                marks.without_text()
            } else {
                marks
            };
            result = result.or(marks);
            self.write(effect.key, marks, sure && !is_tool, false);
        }
        result
    }
}

/// Returns whether an agent may read each key and the conversation.
const fn sees_all(meta: &AgentMeta<'_>) -> bool {
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
