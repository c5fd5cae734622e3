//! Nested workflows: their keys are those of the workflow around them under other names, or their
//! own.

use super::agents::Place;
use super::marks::Marks;
use super::state::{EVER, Level, NOW};
use super::walk::{DEEPEST, LabelWalk};
use crate::check::flow::count;
use crate::effects::{Act, Effects, is_session_key};
use crate::hash::hash;
use crate::spec::AgentMeta;

impl<'a> LabelWalk<'_, 'a> {
    /// Walks the steps of a workflow inside the current one. Returns the marks of its result as a
    /// tool.
    pub(super) const fn workflow(&mut self, place: &Place<'a>, request: Option<Marks>) -> Marks {
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
