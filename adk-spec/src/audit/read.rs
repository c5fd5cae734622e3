//! [`audit`]: the notes of a walk as a report.

use super::nodes::AgentNodes;
use super::{Audit, AuditCleaner, AuditSink, AuditSource, Confirms, SourceKind, Unseen};
use crate::check::labels::{self, Note, NoteKind};
use crate::effects::Effects;
use crate::spec::{AgentKind, AgentMeta, Guards, NodePaint, Overlay, Spec, StepKind};

/// The name of tools that only the run knows.
const UNKNOWN: &str = "..";

/// Audits a workflow, as if its guards had `strict` if `is_strict` is set.
pub(super) fn audit<'a>(spec: &Spec<'a>, is_strict: bool) -> Audit<'a> {
    let guards = spec.guards.copied().unwrap_or(Guards::NONE).strict(true);
    let walked = if is_strict {
        spec.guards(Some(&guards))
    } else {
        *spec
    };
    let walked = labels::audit(&walked);
    let mut reader = NoteReader {
        spec,
        nodes: AgentNodes::new(spec),
        sources: guarded(spec),
        sinks: Vec::new(),
        cleaners: Vec::new(),
        overlay: Overlay::default(),
    };
    walked.notes.iter().for_each(|note| reader.add(note));
    // The sorts are stable.
    reader
        .sources
        .sort_by_key(|source| source.label != "untrusted");
    let order = ["type", "trusts", "await", "confirm", "predicate"];
    reader
        .cleaners
        .sort_by_key(|cleaner| order.iter().position(|by| *by == cleaner.by));
    let findings = walked.findings.iter();
    Audit {
        sources: reader.sources,
        sinks: reader.sinks,
        cleaners: reader.cleaners,
        not_seen: not_seen(spec),
        findings: findings
            .map(|message| message.as_str().to_owned())
            .collect(),
        spec: *spec,
        is_strict,
        overlay: reader.overlay,
    }
}

/// Returns the sources that the guards name.
fn guarded(spec: &Spec<'_>) -> Vec<AuditSource> {
    let guards = spec.guards.copied().unwrap_or_default();
    let untrusted = guards.untrusted.iter().map(|key| (*key, "untrusted"));
    let private = guards.private.iter().map(|key| (*key, "private"));
    let source = |(key, label): (&str, _)| AuditSource {
        name: key.to_owned(),
        label,
        seen_by: Vec::new(),
        kind: kind_of_key(spec, key),
    };
    untrusted.chain(private).map(source).collect()
}

fn kind_of_key(spec: &Spec<'_>, key: &str) -> SourceKind {
    if key == "user" {
        SourceKind::Message
    } else if spec.inputs.iter().any(|input| input.name == key) {
        SourceKind::Input
    } else {
        SourceKind::Key
    }
}

struct NoteReader<'s, 'a> {
    spec: &'s Spec<'a>,
    nodes: AgentNodes<'a>,
    sources: Vec<AuditSource>,
    sinks: Vec<AuditSink>,
    cleaners: Vec<AuditCleaner>,
    overlay: Overlay,
}

impl NoteReader<'_, '_> {
    fn add(&mut self, note: &Note<'_>) {
        match note.kind {
            NoteKind::Guarded | NoteKind::Source => self.add_source(note),
            NoteKind::Sink => self.add_sink(note, Confirms::Nothing),
            NoteKind::ConfirmedSink => self.add_sink(note, Confirms::All),
            NoteKind::SelectingSink => self.add_sink(note, Confirms::Selected),
            NoteKind::ByType => self.add_cleaner(note, "type", "no text".to_owned()),
            NoteKind::ByTrust => self.add_cleaner(note, "trusts", word_of_author(note.meta)),
            NoteKind::ByAwait => self.add_cleaner(note, "await", consent(note.meta)),
        }
    }

    fn add_source(&mut self, note: &Note<'_>) {
        let name = or_unknown(note.name);
        let seer = (!note.agent.is_empty()).then(|| self.nodes.name(note));
        for label in note.labels.words() {
            let is_same = |one: &AuditSource| one.name == name && one.label == label;
            let at = self.sources.iter().position(is_same).unwrap_or_else(|| {
                let kind = match note.kind {
                    NoteKind::Guarded => kind_of_key(self.spec, name),
                    _ if note.is_unlabelled => SourceKind::Unlabelled,
                    _ => SourceKind::Labelled,
                };
                self.sources.push(AuditSource {
                    name: name.to_owned(),
                    label,
                    seen_by: Vec::new(),
                    kind,
                });
                self.sources.len() - 1
            });
            let seen_by = &mut self.sources[at].seen_by;
            seen_by.extend(seer.clone().filter(|seer| !seen_by.contains(seer)));
        }
        if note.agent.is_empty() {
            let own = Note {
                agent: note.name,
                ..*note
            };
            self.overlay
                .paint(&self.nodes.find(&own), NodePaint::Source);
        } else if note.kind == NoteKind::Guarded || !self.nodes.has_function(name) {
            let name = if name == "user" { "message" } else { name };
            let nodes = self.nodes.find_or_step(note);
            for label in note.labels.words() {
                self.overlay.add(NodePaint::Source, name, label, &nodes);
            }
        }
    }

    fn add_sink(&mut self, note: &Note<'_>, confirms: Confirms) {
        let (name, held_by) = (or_unknown(note.name), self.nodes.name(note));
        let is_own = note.name == note.agent;
        for label in note.labels.words() {
            let sink = AuditSink {
                name: if is_own {
                    held_by.clone()
                } else {
                    name.to_owned()
                },
                label,
                held_by: held_by.clone(),
                marks: note.marks.words().collect(),
                is_unlabelled: note.is_unlabelled,
                confirms,
            };
            let nodes = self.nodes.find_or_step(note);
            if is_own {
                self.overlay.paint(&nodes, NodePaint::Sink);
            } else {
                self.overlay.add(NodePaint::Sink, name, label, &nodes);
            }
            self.sinks.push(sink);
        }
        let added = &self.sinks[self.sinks.len() - note.labels.words().count()..];
        if added.iter().any(AuditSink::is_reached) {
            match confirms {
                Confirms::Nothing => self.overlay.refuse(name),
                Confirms::All => self.add_cleaner(note, "confirm", "a person, each call".into()),
                Confirms::Selected => {
                    let why = "a person, the calls that its predicate selects";
                    self.add_cleaner(note, "predicate", why.to_owned());
                }
            }
        }
    }

    fn add_cleaner(&mut self, note: &Note<'_>, by: &'static str, why: String) {
        self.cleaners.push(AuditCleaner {
            by,
            at: self.nodes.name(note),
            key: note.name.to_owned(),
            why,
            ty: note.ty.to_owned(),
        });
        let nodes = self.nodes.find(note);
        self.overlay.paint(&nodes, NodePaint::Cleaner);
    }
}

fn or_unknown(name: &str) -> &str {
    if name.is_empty() { UNKNOWN } else { name }
}

/// Returns the description of a function with `trusts`, with its place.
fn word_of_author(meta: Option<&AgentMeta<'_>>) -> String {
    let mut text = "trusts".to_owned();
    let Some(meta) = meta else { return text };
    if let Some(line) = meta.description.lines().next() {
        text.extend([": \"", line, "\""]);
    }
    if let Some(place) = meta.place {
        text += &format!(" ({place})");
    }
    text
}

fn consent(meta: Option<&AgentMeta<'_>>) -> String {
    match meta.map_or("", |meta| meta.default) {
        "" => "a person".to_owned(),
        default => format!("a person; the default `{default}` leads elsewhere"),
    }
}

/// Returns the code that no check sees: functions, then tools, then callbacks.
fn not_seen(spec: &Spec<'_>) -> Vec<Unseen> {
    let (mut functions, mut tools, mut callbacks) = (Vec::new(), Vec::new(), Vec::new());
    let add = |list: &mut Vec<Unseen>, one: Unseen| {
        if !list.contains(&one) {
            list.push(one);
        }
    };
    for step in spec.steps {
        if step.own_code {
            add(&mut callbacks, Unseen::Callbacks(step.name.to_owned()));
        }
        let StepKind::Agent { meta, .. } = step.kind else {
            continue;
        };
        let mut all = Effects::of(meta, &step.renames);
        while let Some(agent) = all.next_agent() {
            let name = agent.name.to_owned();
            match agent.kind {
                AgentKind::Function => add(&mut functions, Unseen::Function(name.clone())),
                AgentKind::Custom => add(&mut functions, Unseen::Agent(name.clone())),
                AgentKind::Llm | AgentKind::Workflow | AgentKind::Await => {}
            }
            for tool in agent.tools.iter().filter(|tool| tool.agent.is_none()) {
                add(&mut tools, Unseen::Tool(tool.name.to_owned()));
            }
            if agent.more_tools {
                add(&mut tools, Unseen::UnknownTools(name.clone()));
            }
            if agent.own_code {
                add(&mut callbacks, Unseen::Callbacks(name));
            }
            for inner in agent.steps.iter().filter(|inner| inner.own_code) {
                add(&mut callbacks, Unseen::Callbacks(inner.name.to_owned()));
            }
        }
    }
    functions
        .into_iter()
        .chain(tools)
        .chain(callbacks)
        .collect()
}
