//! [`Notes`]: the facts of a walk that an audit prints: who gets text and data first hand, who
//! holds sinks, and what cleans.
//!
//! The walk notes facts where it applies its rules, so an audit and the checks have one analysis.
//! Const evaluation keeps no notes.

use super::agents::Place;
use super::marks::{Cause, How, Marks};
use super::state::NOW;
use super::walk::LabelWalk;
use crate::effects::Act;
use crate::hash::hash;
use crate::spec::{AgentMeta, KeySpec, Labels, ToolMeta};
use crate::text::same;

/// A fact of a walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Note<'a> {
    pub(crate) kind: NoteKind,
    /// The step of the audited workflow.
    pub(crate) root: usize,
    /// The nested workflow around the agent; empty for none.
    pub(crate) inside: &'a str,
    /// The agent that sees the source, holds the sink or cleans; empty for a source that no agent
    /// sees first hand.
    pub(crate) agent: &'a str,
    /// The source, the sink, or the cleaned key. Empty for tools that only the run knows.
    pub(crate) name: &'a str,
    /// The labels of the source or sink.
    pub(crate) labels: Labels,
    /// Whether the labels count because the author has set none.
    pub(crate) is_unlabelled: bool,
    /// The marks that reach the sink or cleaner.
    pub(crate) marks: Labels,
    /// The type that cleans.
    pub(crate) ty: &'a str,
    /// The function or `await` that cleans.
    pub(crate) meta: Option<&'a AgentMeta<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoteKind {
    /// A key that guards name, or the message of the run.
    Guarded,
    /// A tool, a function or an `impl Agent` that returns text or data.
    Source,
    Sink,
    /// A tool that acts or sends, and asks a person before each call.
    ConfirmedSink,
    /// The same for a tool that selects the calls about which it asks.
    SelectingSink,
    /// A value without text.
    ByType,
    /// The result of a function on the word of its author.
    ByTrust,
    /// A question that shows the key to a person.
    ByAwait,
}

impl Note<'_> {
    pub(super) const NONE: Self = Self {
        kind: NoteKind::Guarded,
        root: usize::MAX,
        inside: "",
        agent: "",
        name: "",
        labels: Labels::NONE,
        is_unlabelled: false,
        marks: Labels::NONE,
        ty: "",
        meta: None,
    };

    const fn is_about(&self, other: &Self) -> bool {
        self.kind as u8 == other.kind as u8
            && self.root == other.root
            && same(self.name, other.name)
            && same(self.agent, other.agent)
            && same(self.inside, other.inside)
    }
}

/// The notes of a walk, each once.
pub(super) struct Notes<'t, 'a> {
    all: &'t mut [Note<'a>],
    len: usize,
    pub(super) is_full: bool,
    /// Whether there is room for notes. A field, because const evaluation reads it at each step.
    pub(super) are_kept: bool,
}

impl<'t, 'a> Notes<'t, 'a> {
    /// Creates an empty list; a slice without room keeps nothing.
    pub(super) const fn new(all: &'t mut [Note<'a>]) -> Self {
        let are_kept = !all.is_empty();
        Self {
            all,
            len: 0,
            is_full: false,
            are_kept,
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Note<'a>> {
        self.all.iter().take(self.len)
    }

    const fn add(&mut self, note: Note<'a>) {
        let known = find!(i in 0, self.len => self.all[i].is_about(&note));
        if let Some(known) = known {
            let known = &mut self.all[known];
            known.marks = known.marks.and(note.marks);
            known.labels = known.labels.and(note.labels);
        } else if self.len < self.all.len() {
            self.all[self.len] = note;
            self.len += 1;
        } else {
            self.is_full = true;
        }
    }

    /// Returns whether a tool, function or `impl Agent` is a source with a label.
    const fn is_source(&self, name: &str, label: Labels) -> bool {
        find!(i in 0, self.len => {
            let note = &self.all[i];
            note.kind as u8 == NoteKind::Source as u8
                && note.labels.has(label)
                && same(note.name, name)
        })
        .is_some()
    }
}

impl<'a> LabelWalk<'_, 'a> {
    const fn note(&mut self, kind: NoteKind, agent: &'a str, name: &'a str, rest: Note<'a>) {
        let (root, inside) = (self.now.root, self.states.at.name);
        self.notes.add(Note {
            kind,
            root,
            inside,
            agent,
            name,
            ..rest
        });
    }

    /// Returns the marks that an agent sees, and notes the sources that it sees first hand: guarded
    /// keys, and what a source itself wrote or said.
    pub(super) const fn seen(&mut self, marks: Marks, agent: &'a str) -> Marks {
        if self.notes.are_kept {
            self.note_cause(self.causes.get(marks.untrusted), Labels::UNTRUSTED, agent);
            self.note_cause(self.causes.get(marks.private), Labels::PRIVATE, agent);
        }
        marks
    }

    const fn note_cause(&mut self, cause: Option<Cause<'a>>, labels: Labels, agent: &'a str) {
        let Some(cause) = cause else { return };
        let rest = Note {
            labels,
            ..Note::NONE
        };
        match cause.how {
            How::Guard => self.note(NoteKind::Guarded, agent, cause.name, rest),
            How::Write | How::Speech | How::Result if self.notes.is_source(cause.agent, labels) => {
                self.note(NoteKind::Source, agent, cause.agent, rest);
            }
            _ => {}
        }
    }

    /// Notes what an agent sees that may read each key and the conversation.
    pub(super) const fn note_everything(&mut self, agent: &'a str) {
        if !self.notes.are_kept {
            return;
        }
        let (level, mut i) = (self.states.at, 0);
        while i < level.count {
            let (_, marks) = self.states.key_at(&level, i, NOW);
            self.seen(marks, agent);
            i += 1;
        }
        self.seen(self.states.heard(NOW), agent);
    }

    /// Notes a source. A tool shows its result to its agent, others write or say it.
    pub(super) const fn note_source(
        &mut self,
        labels: Labels,
        how: How,
        agent: &'a str,
        tool: &'a str,
    ) {
        if !self.notes.are_kept || !labels.has(Labels::UNTRUSTED.and(Labels::PRIVATE)) {
            return;
        }
        let rest = Note {
            labels: labels.only(Labels::UNTRUSTED.and(Labels::PRIVATE)),
            is_unlabelled: matches!(
                how,
                How::UnlabelledTool | How::UnlabelledFunction | How::UnlabelledAgent
            ),
            ..Note::NONE
        };
        match how {
            How::Tool | How::UnlabelledTool | How::UnknownTool => {
                self.note(NoteKind::Source, agent, tool, rest);
            }
            _ => self.note(NoteKind::Source, "", agent, rest),
        }
    }

    /// Notes a sink with the labels that count.
    pub(super) const fn note_sink(
        &mut self,
        labels: Labels,
        own: Labels,
        marks: Marks,
        agent: &'a str,
        tool: &'a str,
        kind: NoteKind,
    ) {
        if !self.notes.are_kept || !labels.has(Labels::ACTS.and(Labels::SENDS)) {
            return;
        }
        let rest = Note {
            labels: labels.only(Labels::ACTS.and(Labels::SENDS)),
            is_unlabelled: !own.is_known(),
            marks: marks.labels(),
            ..Note::NONE
        };
        self.note(kind, agent, tool, rest);
    }

    /// Notes a tool about whose calls a person is asked.
    pub(super) const fn note_confirmed(
        &mut self,
        marks: Marks,
        agent: &'a str,
        tool: &'a ToolMeta<'a>,
    ) {
        let kind = if tool.selects {
            NoteKind::SelectingSink
        } else {
            NoteKind::ConfirmedSink
        };
        let labels = self.counted(tool.labels);
        self.note_sink(labels, tool.labels, marks, agent, tool.name, kind);
    }

    /// Notes a written value without text.
    pub(super) const fn note_type(
        &mut self,
        marks: Marks,
        agent: &'a str,
        key: &'a str,
        spec: KeySpec<'a>,
    ) {
        if self.notes.are_kept && marks.untrusted != 0 {
            let rest = Note {
                marks: marks.labels(),
                ty: spec.ty,
                ..Note::NONE
            };
            self.note(NoteKind::ByType, agent, key, rest);
        }
    }

    /// Notes the keys of a function with `trusts`.
    pub(super) const fn note_trust(&mut self, marks: Marks, place: &Place<'a>) {
        if !self.notes.are_kept || marks.is_none() {
            return;
        }
        let rest = Note {
            marks: marks.labels(),
            meta: Some(place.agent),
            ..Note::NONE
        };
        let mut all = place.effects().only_writes();
        while let Some(effect) = all.next() {
            if let Act::Write { .. } | Act::May(_) = effect.act {
                self.note(NoteKind::ByTrust, place.agent.name, effect.key, rest);
            }
        }
    }

    /// Notes a key that a question shows, if it had marks `before` and has none now.
    pub(super) const fn note_shown(
        &mut self,
        before: Marks,
        meta: &'a AgentMeta<'a>,
        key: &'a str,
    ) {
        let now = self.states.read(hash(key));
        if self.notes.are_kept && !before.is_none() && now.is_none() {
            let rest = Note {
                marks: before.labels(),
                meta: Some(meta),
                ..Note::NONE
            };
            self.note(NoteKind::ByAwait, meta.name, key, rest);
        }
    }
}
