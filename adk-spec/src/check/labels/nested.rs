//! Nested workflows: their keys are those of the workflow around them under other names, or their
//! own.

use super::agents::Place;
use super::always_writes;
use super::marks::Marks;
use super::state::{EVER, Level, NOW};
use super::walk::{DEEPEST, LabelWalk};
use crate::check::flow::count;
use crate::effects::{Act, Effects, contains, is_session_key};
use crate::hash::hash;
use crate::spec::AgentMeta;

impl<'a> LabelWalk<'_, 'a> {
    /// Walks the steps of a workflow inside the current one. Returns the marks of its result as a
    /// tool.
    pub(super) const fn workflow(&mut self, place: &Place<'a>, request: Option<Marks>) -> Marks {
        if self.now.nested == DEEPEST {
            self.now.is_too_deep = true;
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
        let (around, repeats) = (self.states.everything(NOW), self.may_repeat());
        let is_in_branch = self.is_in_branch();
        self.states
            .enter(meta.steps, meta.name, count(meta.steps) + own + outer.count);
        if self.is_over() {
            return Marks::NONE;
        }
        let level = &mut self.states.at;
        level.outputs = meta.writes;
        level.around = around.or(outer.around);
        (level.blocks.repeats, level.blocks.is_in_branch) = (repeats, is_in_branch);
        self.now.nested += 1;
        self.states.set_speech(speech.0, speech.1, speech.2);
        self.states.head_mut(NOW).speaker = speaker;
        self.enter_keys(place, &outer, request);
        self.steps();
        if self.is_over() {
            return Marks::NONE;
        }
        self.now.nested -= 1;
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
        self.enter_own_keys(place, outer);
        each!(key in meta.lets => {
            let is_own = !is_session_key(meta, key.name);
            self.states.write(key.name, Marks::NONE, is_own, false);
        });
        if let (Some(input), Some(request)) = (meta.request_input(), request) {
            self.states.write(input, request, true, false);
        }
        let mut all = place.effects();
        while let Some(effect) = all.next() {
            if let Act::Read { spec, .. } = effect.act {
                self.now.reads_absent = self.now.reads_absent || spec.optional;
                let marks = self.states.read_at(outer, hash(effect.key), NOW);
                let marks = if spec.is_closed() {
                    marks.without_text()
                } else {
                    marks
                };
                let is_own = !is_session_key(meta, spec.name);
                self.states.write(spec.name, marks, is_own, false);
            }
        }
        // The guards of the workflow itself also mark keys of the session here.
        if let Some(guards) = meta.guards {
            self.is_guarded = true;
            self.guard_session(meta, guards.untrusted, true);
            self.guard_session(meta, guards.private, false);
        }
    }

    /// Gives a nested workflow what its keys hold before it begins: an output is a key of the
    /// workflow around it, and any other key has its value of an earlier execution.
    const fn enter_own_keys(&mut self, place: &Place<'a>, outer: &Level<'a>) {
        if self.states.at.blocks.repeats {
            let (id, mut from) = (self.states.at.id, 0);
            while let Some((at, key)) = self.kept.next(id, from) {
                if key.name.is_empty() {
                    self.states.add_aside(key.marks);
                } else {
                    self.states.write(key.name, key.marks, false, false);
                }
                from = at + 1;
            }
        }
        let mut all = place.effects().only_writes();
        while let Some(effect) = all.next() {
            if let Act::Write { spec, .. } | Act::May(spec) = effect.act
                && !is_session_key(place.agent, spec.name)
            {
                let marks = self.states.read_at(outer, hash(effect.key), NOW);
                self.states.write(spec.name, marks, false, false);
            }
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

    /// Ends the effect of questions whose answers a nested workflow may have written. A write of
    /// clean text leaves no other trace.
    const fn forget_answers(&mut self, place: &Place<'a>) {
        if self.states.head(NOW).has_questions() {
            let mut all = Effects::writes(place.step, place.renames);
            while let Some(effect) = all.next() {
                if effect.act.is_write() {
                    self.forget_questions(effect.key);
                }
            }
        }
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
        // As a tool, a workflow returns its last text if it writes none of its outputs.
        let mut result = if always_writes(meta) {
            Marks::NONE
        } else {
            speech.0
        };
        let mut aside = self.states.aside(state);
        if inner.blocks.repeats {
            self.kept.add(inner.id, "", aside, self.now.reads_all);
        }
        let left = if inner.blocks.is_weak_around {
            EVER
        } else {
            state
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
                self.states.note(key.name, ever, true);
            } else if !contains(meta.writes, key.name) {
                let (_, marks) = self.states.key_at(&inner, i, left);
                aside = aside.or(marks);
                let is_set = contains(meta.reads, key.name) || contains(meta.lets, key.name);
                if inner.blocks.repeats && !is_set {
                    let is_read = self.now.reads_all || self.now.reads_absent;
                    self.kept.add(inner.id, key.name, marks, is_read);
                }
            }
            i += 1;
        }
        self.forget_answers(place);
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
            if !is_session_key(meta, spec.name) {
                let ever = self.states.read_at(&inner, hash(spec.name), EVER);
                self.states.note(effect.key, ever, false);
            }
        }
        self.states.add_aside(aside);
        result
    }
}
