//! The marks of a [`Context`]: of the keys that it reads and writes, and of its agent.

use super::{Blocked, MarkCell, Marks, Shown, Stamp, allows};
use crate::runtime::run::{Context, WaitAnswer, stored_key};
use crate::spec::placeholder::{Placeholders, Source};
use crate::spec::{AgentKind, AgentMeta, Guards, KeySpec, Labels};
use crate::store::engine::CallKind;
use crate::{Error, ErrorKind, Name, Result};
use adk_spec::__private::SEES_ALL;
use std::sync::Arc;

impl Context {
    /// Returns the cell of this turn; `None` without guards.
    #[inline]
    pub(crate) fn cell(&self) -> Option<&Arc<MarkCell>> {
        self.frame.rare.as_deref()?.marks.as_ref()
    }

    /// Returns the marks for the next event of this turn; `None` without guards.
    #[inline]
    pub(crate) fn stamp(&self) -> Option<Box<Stamp>> {
        self.cell().map(|cell| self.stamp_of(cell))
    }

    fn stamp_of(&self, cell: &Arc<MarkCell>) -> Box<Stamp> {
        Box::new(Stamp {
            shown: cell.take_next(),
            run: self.run.clone(),
            cell: cell.clone(),
            scope: self.around.scope.clone(),
            announced: self.frame.announced.clone(),
        })
    }

    /// Returns the marks of a key.
    pub(crate) fn marks_of(&self, name: &str) -> Marks {
        let key = match &self.around.scope {
            Some(scope) => scope.read_key(name),
            None => Some(name.into()),
        };
        key.map_or(Marks::NONE, |key| {
            Marks::of_key(&key, Some(self.pending()), &self.run)
        })
    }

    /// Returns the marks of something that may have read anything.
    pub(crate) fn marks_of_everything(&self) -> Marks {
        let scope = self.around.scope.as_deref();
        let mut marks = Marks::of_everything(scope, self.pending(), &self.run);
        marks.join(self.marks_of_log());
        marks
    }

    /// Returns the marks of an error, which may quote anything that the failed step has read.
    pub(crate) fn marks_of_error(&self) -> Marks {
        let mut marks = self.marks_of_everything();
        if let Some(rules) = self.run.guard_rules() {
            marks.join(rules.failed.marks());
        }
        marks
    }

    /// Keeps what this turn has read, because it has failed.
    #[inline]
    pub(crate) fn note_failure(&self) {
        if let (Some(cell), Some(rules)) = (self.cell(), self.run.guard_rules()) {
            rules.failed.join(cell.marks());
        }
    }

    /// Returns the marks of the conversation.
    pub(crate) fn marks_of_log(&self) -> Marks {
        let mut marks = Marks::of_key("", None, &self.run);
        if let Some(rules) = self.run.guard_rules().filter(|rules| rules.strict) {
            for event in self.run.session().events() {
                marks.join(Marks::of_event(event, rules));
            }
        }
        marks
    }

    /// Gives a key marks of its own, in the next event.
    pub(crate) fn mark(&mut self, name: &str, marks: Marks) {
        if self.cell().is_some() {
            let key = stored_key(self.around.scope.as_deref(), name).into_owned();
            let run = self.run.clone();
            marks.write(&key, &mut self.state().overlay.state_delta, &run, true);
        }
    }

    /// Removes the marks of a key, which a person has seen.
    pub(crate) fn clean(&mut self, name: &str) {
        if self.cell().is_none() || self.marks_of(name).is_none() {
            return;
        }
        let key = match &self.around.scope {
            Some(scope) => scope.read_key(name).map(|key| key.into_owned()),
            None => Some(name.to_owned()),
        };
        if let Some(key) = key {
            let run = self.run.clone();
            Marks::NONE.write(&key, &mut self.state().overlay.state_delta, &run, true);
        }
    }

    /// Marks the keys that the guards of the run name, and says what its message shows.
    pub(crate) fn mark_inputs(&mut self, root: &AgentMeta<'_>) {
        let run = self.run.clone();
        let (Some(guards), Some(rules)) = (root.guards, run.guard_rules()) else {
            return;
        };
        if let Some(input) = root.request_input()
            && !rules.message.is_none()
        {
            for (mark, source) in rules.message.clone().of_writes(input) {
                self.state().overlay.state_delta.insert(mark, source);
            }
        }
        let declared = [root.reads, root.states, root.lets, root.writes].concat();
        self.mark_guarded(guards, &declared, |_| true);
        self.say_message();
    }

    /// Marks the keys that guards name, as far as `takes` takes them. `declared` has the types of
    /// keys.
    pub(crate) fn mark_guarded(
        &mut self,
        guards: &Guards<'_>,
        declared: &[KeySpec<'_>],
        takes: impl Fn(&str) -> bool,
    ) {
        if self.cell().is_none() {
            return;
        }
        let (untrusted, private) = (guards.untrusted, guards.private);
        let is_closed = |key: &str| {
            let found = declared.iter().find(|own| own.name == key);
            found.is_some_and(|own| own.is_closed())
        };
        let all = untrusted.iter().chain(private);
        for key in all.filter(|key| **key != "user" && takes(key)) {
            let source = Some(super::input_source(key));
            let mut marks = Marks {
                untrusted: source
                    .clone()
                    .filter(|_| untrusted.contains(key) && !is_closed(key)),
                private: source.filter(|_| private.contains(key)),
            };
            marks.join(self.marks_of(key));
            let key = stored_key(self.around.scope.as_deref(), key).into_owned();
            for (mark, source) in marks.of_writes(&key) {
                self.state().overlay.state_delta.insert(mark, source);
            }
        }
    }

    /// Adds the marks of something that a callback or a plugin has made. It has no label, so it
    /// counts only under `strict`. The marks of what it has read count in any case.
    #[inline]
    pub(crate) fn note_callback(&self) {
        if let (Some(cell), Some(rules)) = (self.cell(), self.run.guard_rules()) {
            cell.join(rules.of_unlabelled("a callback"));
        }
    }

    /// Says what the next event of this turn shows.
    pub(crate) fn show(&self, shown: Shown) {
        if let Some(cell) = self.cell() {
            cell.show(shown);
        }
    }

    /// Says that the next event is a message of the user.
    pub(crate) fn say_message(&self) {
        if let (Some(cell), Some(rules)) = (self.cell(), self.run.guard_rules()) {
            cell.show(Shown::Given(rules.message.clone()));
        }
    }

    /// Begins the turn of an agent: its labels count, and a function that acts on text of strangers
    /// does not run without the consent of a person.
    ///
    /// # Errors
    /// Fails if the run cannot ask a person, or if the person refuses.
    pub(crate) async fn begin_guarded(&mut self, meta: &AgentMeta<'_>) -> Result<()> {
        let run = self.run.clone();
        let (Some(rules), Some(cell)) = (run.guard_rules(), self.cell().cloned()) else {
            return Ok(());
        };
        if !matches!(meta.kind, AgentKind::Function | AgentKind::Custom) {
            return Ok(());
        }
        let labels = rules.counted(meta.labels);
        if labels.has(Labels::ACTS.and(Labels::SENDS)) {
            let mut context = cell.marks();
            context.join(self.marks_of_reads(meta));
            if meta.kind == AgentKind::Custom || labels.has(SEES_ALL) {
                context.join(self.marks_of_everything());
            }
            let has_run = self.is_recorded(CallKind::Function, &Name::literal("function"));
            if let Some(blocked) = Blocked::find(labels, context).filter(|_| !has_run) {
                self.ask_about(meta, &blocked).await?;
            }
        }
        if labels.has(Labels::TRUSTS) {
            cell.trust();
        } else {
            cell.join(Marks::of_labels(labels, || {
                Name::from(format!("`{}`", meta.name))
            }));
        }
        Ok(())
    }

    /// Returns the marks of the keys that the description of an agent names.
    fn marks_of_reads(&self, meta: &AgentMeta<'_>) -> Marks {
        let mut marks = Marks::NONE;
        for read in meta.reads {
            let read_marks = self.marks_of(read.name);
            marks.join(if read.is_closed() {
                read_marks.without_text()
            } else {
                read_marks
            });
        }
        for prompt in meta.prompts {
            let mut found = Placeholders::new(prompt);
            while let Some(found) = found.next() {
                marks.join(match found.source {
                    Source::Key(name) => self.marks_of(name),
                    Source::Artifact(_) => Marks::of_artifacts(&self.run),
                });
            }
        }
        marks
    }

    async fn ask_about(&mut self, meta: &AgentMeta<'_>, blocked: &Blocked) -> Result<()> {
        let name = meta.name;
        let refused = |why: String| {
            Error::new(ErrorKind::Unchecked, format!("`{name}` did not run: {why}")).with_help(
                "let a person see the text first, with an `await`, or run it in an engine that \
                 keeps runs",
            )
        };
        if !self.may_ask() {
            return Err(refused(blocked.without_person()));
        }
        let question = blocked.question(name, &format!("May `{name}` run?"));
        let answer = match self.ask(question).await? {
            WaitAnswer::There(answer) => answer,
            WaitAnswer::Open(open) => match self.run.park(vec![*open]).await {},
        };
        if allows(&answer) {
            Ok(())
        } else {
            Err(refused(blocked.refused()))
        }
    }
}
