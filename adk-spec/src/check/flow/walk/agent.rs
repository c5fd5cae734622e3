//! An agent as a step: reads, renamings, exits and writes, in this order.

use super::super::describe::reads;
use super::super::keys::{EVERY, Key, KeyName, NONE};
use super::super::{DiagnosticKind, FlowDiagnostic, Reader, StepPart};
use super::Walk;
use super::blocks::SURE;
use crate::effects::{Act, DEEPEST, Effects, is_alone, is_session_key, may_exit};
use crate::number::{NONE as NO_NUMBER, is_secret};
use crate::spec::placeholder::{Placeholders, Source, key_of_part};
use crate::spec::{AgentKind, AgentMeta, KeySpec, Renames, Spec, StepKind};
use crate::text::same;

impl<'a> Walk<'_, 'a> {
    pub(super) const fn agent(
        &mut self,
        at: usize,
        meta: &'a AgentMeta<'a>,
        renames: &'a Renames<'a>,
    ) {
        self.parts(at, meta, renames, DEEPEST);
        if is_alone(meta) && matches!(renames.reads, []) && matches!(renames.writes, []) {
            return self.check_plain_agent(at, meta);
        }
        if matches!(meta.kind, AgentKind::Workflow) {
            self.same_inside(at, meta, renames);
        }
        let (exits_last, mut left) = (writes_first(meta), false);
        let mut all = Effects::of(meta, renames);
        while let Some(effect) = all.next() {
            match effect.act {
                _ if effect.is_inside => self.session(at, &effect, all.module()),
                Act::Prompt {
                    optional,
                    source,
                    renamed,
                    target,
                } => {
                    let reader = Reader::Prompt { source, target };
                    self.read(
                        at,
                        read_part(renamed),
                        &KeyName::new(effect.key),
                        optional,
                        reader,
                    );
                }
                Act::Read {
                    spec,
                    slot,
                    renamed,
                    target,
                } => {
                    let (part, name) = (read_part(renamed), KeyName::new(effect.key));
                    let key = self.read(at, part, &name, spec.optional, Reader::Parameter(target));
                    // Traits cannot look up the types of a transfer target or tool.
                    let slot = if target.is_some() { NONE } else { slot };
                    self.check_read_type(at, part, key, &spec, slot, all.module());
                    self.hides_secret(at, part, key, &spec, all.agent());
                }
                Act::Write { spec, slot, sure } => {
                    // The agent may end a loop before it writes its keys, so its exits are applied
                    // first.
                    if !exits_last && !left {
                        self.leaves(at, meta);
                        left = true;
                    }
                    let key = self.write(at, &KeyName::new(effect.key), sure, false);
                    self.check_written_type(at, key, &spec, slot, None);
                    self.reads_output(at, all.agent(), &spec, key);
                }
                Act::May(spec) => {
                    let key = self.write(at, &KeyName::new(effect.key), false, false);
                    self.check_written_type(at, key, &spec, NONE, all.module());
                    if all.tool().is_none() {
                        self.reads_output(at, all.agent(), &spec, key);
                    }
                }
                Act::State(_) | Act::Start => {}
            }
        }
        self.renamings(at, meta, renames);
        if all.is_too_deep() {
            self.push(FlowDiagnostic::new(
                at,
                StepPart::Name,
                "",
                DiagnosticKind::TooDeep,
            ));
        }
        if !left {
            self.leaves(at, meta);
        }
    }

    /// Reports parts of keys in the prompts of an agent, of its transfer targets and of the agents
    /// that are its tools.
    const fn parts(
        &mut self,
        at: usize,
        meta: &'a AgentMeta<'a>,
        renames: &Renames<'a>,
        deep: usize,
    ) {
        if deep == 0 || matches!(meta.kind, AgentKind::Workflow) {
            return;
        }
        if meta.prompt_keys.is_none() {
            each!(prompt in meta.prompts => { self.parts_of(at, prompt, renames) });
        }
        each!(target in meta.transfer => { self.parts(at, target, renames, deep - 1) });
        each!(tool in meta.tools => {
            if let Some(agent) = tool.agent {
                self.parts(at, agent, renames, deep - 1);
            }
        });
    }

    const fn parts_of(&mut self, at: usize, prompt: &'a str, renames: &Renames<'a>) {
        let mut scan = Placeholders::new(prompt);
        while let Some(span) = scan.next_span() {
            let text = scan.text(&span);
            let mut key = key_of_part(text);
            if span.plain.is_some() || key.is_empty() || scan.parse(&span).is_some() {
                continue;
            }
            each!(renamed in renames.reads => {
                if same(renamed.0, key) {
                    key = renamed.1;
                }
            });
            if self.keys.resolve(&KeyName::new(key)).is_some() {
                self.report(at, StepPart::Name, text, DiagnosticKind::PartOfKey);
            }
        }
    }

    /// Reports a nested workflow that reads a secret as a `Value`. The nested workflow does not
    /// know that the value is secret and may show it to a model.
    const fn hides_secret(
        &mut self,
        at: usize,
        part: StepPart,
        key: u32,
        spec: &KeySpec<'a>,
        reader: &AgentMeta<'a>,
    ) {
        if let Key {
            name,
            number,
            writer: Some(writer),
            ..
        } = self.keys.all[key as usize]
            && spec.any
            && is_secret(number)
            && matches!(reader.kind, AgentKind::Workflow)
        {
            self.mismatch(
                at,
                part,
                name,
                DiagnosticKind::ReadAs {
                    ty: spec.ty,
                    writer,
                },
            );
        }
    }

    /// Checks whether a nested workflow reads its own output. The output is a key of the workflow
    /// around it, so the read may race with a sibling branch.
    const fn reads_output(
        &mut self,
        at: usize,
        meta: &AgentMeta<'a>,
        output: &KeySpec<'a>,
        key: usize,
    ) {
        if self.parallels > 0
            && !is_session_key(meta, output.name)
            && reads_inside(meta, output.name)
        {
            self.read_key(
                at,
                StepPart::Name,
                self.keys.all[key].name,
                key,
                Reader::Inside,
            );
        }
    }

    /// Applies the exits of an agent and its transfer targets: the keys that are certain now are
    /// certain where the loop ends.
    const fn leaves(&mut self, at: usize, meta: &AgentMeta<'a>) {
        if may_exit(meta, DEEPEST) {
            self.exit(at, None);
        }
        self.exits(at, meta, DEEPEST);
    }

    /// Checks an agent without tools, transfer targets and renamings. Most agents are of this kind.
    /// Their reads and writes are those of the description, so they need no [`Effects`].
    const fn check_plain_agent(&mut self, at: usize, meta: &'a AgentMeta<'a>) {
        match meta.prompt_keys {
            Some(mut keys) => {
                let reader = Reader::Prompt {
                    source: "",
                    target: None,
                };
                while let [key, rest @ ..] = keys {
                    if self.certain_key(key.1) == EVERY {
                        self.read(
                            at,
                            StepPart::Name,
                            &KeyName::from_prompt_key(key),
                            key.2,
                            reader,
                        );
                    }
                    keys = rest;
                }
            }
            None => self.prompts(at, meta),
        }
        let (mut reads, mut slot) = (meta.reads, 0);
        while let [spec, rest @ ..] = reads {
            if !self.is_fine(spec) {
                let reader = Reader::Parameter(None);
                let key = self.read(
                    at,
                    StepPart::Name,
                    &KeyName::from_spec(spec),
                    spec.optional,
                    reader,
                );
                self.check_read_type(at, StepPart::Name, key, spec, slot, None);
            }
            (reads, slot) = (rest, slot + 1);
        }
        let leaves = meta.may_exit || !matches!(meta.exits, []);
        if leaves && !writes_first(meta) {
            self.leaves(at, meta);
        }
        let (mut writes, mut slot) = (meta.writes, 0);
        while let [spec, rest @ ..] = writes {
            if slot > 0 || !self.writes_own(at, spec) {
                let key = self.write(at, &KeyName::from_spec(spec), !spec.optional, false);
                self.check_written_type(at, key, spec, slot, None);
            }
            (writes, slot) = (rest, slot + 1);
        }
        if leaves && writes_first(meta) {
            self.leaves(at, meta);
        }
    }

    /// Checks the reads in the prompts of a plain agent.
    const fn prompts(&mut self, at: usize, meta: &'a AgentMeta<'a>) {
        let (mut prompts, mut sources) = (meta.prompts, meta.sources);
        while let [prompt, rest @ ..] = prompts {
            let source = match sources {
                [source, rest @ ..] => {
                    sources = rest;
                    source
                }
                [] => "",
            };
            let mut scan = Placeholders::new(prompt);
            let reader = Reader::Prompt {
                source,
                target: None,
            };
            while let Some(span) = scan.next_span() {
                if let Some((hash, optional)) = span.plain {
                    if self.certain_key(hash) != EVERY {
                        continue;
                    }
                    // The end of an optional placeholder includes its `?`.
                    let end = span.inner - optional as usize;
                    let name = KeyName::from_part(prompt, span.opened, end, hash);
                    self.read(at, StepPart::Name, &name, optional, reader);
                } else if let Some((Source::Key(key), optional)) = scan.parse(&span) {
                    self.read(at, StepPart::Name, &KeyName::new(key), optional, reader);
                }
            }
            prompts = rest;
        }
    }

    /// Returns the key with a hash if it can be read without further checks: the key is certain and
    /// not secret, and nothing runs concurrently. Returns [`EVERY`] otherwise.
    ///
    /// Most reads end with this check, and each further call in const evaluation costs as much as
    /// several steps.
    const fn certain_key(&self, hash: u64) -> usize {
        if self.parallels == 0
            && self.keys.is_plain()
            && let Ok(key) = self.keys.lookup(hash)
            && self.sets.has(SURE, key)
            && !is_secret(self.keys.all[key].number)
        {
            return key;
        }
        EVERY
    }

    /// Returns whether a parameter can be read without further checks, because its key is certain
    /// and has the same type number.
    const fn is_fine(&self, spec: &KeySpec<'a>) -> bool {
        if spec.hash == 0 {
            return false;
        }
        let key = self.certain_key(spec.hash);
        key != EVERY
            && (spec.any || spec.number > NO_NUMBER && self.keys.all[key].number == spec.number)
    }

    /// Records a write of a key whose first writer is the agent, if nothing runs concurrently.
    /// Returns whether the write was recorded.
    const fn writes_own(&mut self, at: usize, spec: &KeySpec<'a>) -> bool {
        let key = self.rows[at].own as usize;
        if key == EVERY || self.parallels > 0 {
            return false;
        }
        if !spec.optional {
            self.sets.add(SURE, key);
        }
        true
    }

    /// Applies the exits by name of an agent and its transfer targets.
    pub(super) const fn exits(&mut self, at: usize, meta: &AgentMeta<'a>, deepest: usize) {
        each!(target in meta.exits => { self.exit(at, Some(target)) });
        each!(agent in meta.transfer => {
            if deepest > 0 {
                self.exits(at, agent, deepest - 1);
            }
        });
    }
}

/// Returns the part of the step at which a read is shown.
const fn read_part(renamed: Option<usize>) -> StepPart {
    match renamed {
        Some(i) => StepPart::Renaming(i),
        None => StepPart::Name,
    }
}

/// Returns whether anything in a workflow reads the key of one of its outputs.
const fn reads_inside(workflow: &AgentMeta<'_>, output: &str) -> bool {
    let spec = Spec::new("", "", workflow.steps);
    let mut i = 0;
    while i < spec.steps.len() {
        if reads(&spec, i, output) {
            return true;
        }
        if let StepKind::Agent { meta, .. } = spec.steps[i].kind {
            let mut all = Effects::writes(meta, &spec.steps[i].renames).outside();
            while let Some(effect) = all.next() {
                if let Act::Write { spec, .. } | Act::May(spec) = effect.act
                    && same(effect.key, output)
                    && all.tool().is_none()
                    && reads_inside(all.agent(), spec.name)
                {
                    return true;
                }
            }
        }
        i += 1;
    }
    false
}

/// Returns whether an agent has already written its key when it ends a loop. Only a function has:
/// it returns value and exit at once, as `(T, Flow)`.
const fn writes_first(meta: &AgentMeta<'_>) -> bool {
    matches!(meta.kind, AgentKind::Function)
}
