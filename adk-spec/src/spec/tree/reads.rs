//! The keys that a node reads and writes, including those of its prompts.

use crate::spec::placeholder::{Placeholders, Source};
use crate::spec::{AgentMeta, KeySpec, Renames, Spec};
use std::borrow::Cow;

/// The type of a read in a prompt: any value, because the prompt renders the value as text.
const ANY: &str = "Value";

/// Returns the keys that an agent reads, each once.
pub(super) fn agent_reads<'a>(
    meta: &AgentMeta<'a>,
    renames: Renames<'a>,
) -> Cow<'a, [KeySpec<'a>]> {
    let mut reads = Cow::Borrowed(meta.reads);
    if !renames.reads.is_empty() {
        reads = Cow::Owned(Vec::with_capacity(meta.reads.len()));
        meta.reads
            .iter()
            .for_each(|read| add(&mut reads, with_name(read, renamed_key(read.name, renames))));
    }
    for prompt in meta.prompts {
        let mut all = Placeholders::new(prompt);
        while let Some(found) = all.next() {
            if let Source::Key(key) = found.source {
                add(
                    &mut reads,
                    KeySpec::new(renamed_key(key, renames), ANY).optional(found.optional),
                );
            }
        }
    }
    reads
}

fn add<'a>(reads: &mut Cow<'a, [KeySpec<'a>]>, key: KeySpec<'a>) {
    match reads.iter().position(|read| read.name == key.name) {
        None => reads.to_mut().push(key),
        // Two reads of one key: the key must exist if either read requires it.
        Some(at) if reads[at].optional && !key.optional => reads.to_mut()[at].optional = false,
        Some(_) => {}
    }
}

/// Returns the key that an instance reads when its definition reads `key`.
fn renamed_key<'a>(key: &'a str, renames: Renames<'a>) -> &'a str {
    renames
        .reads
        .iter()
        .find(|(of_definition, _)| *of_definition == key)
        .map_or(key, |(_, read)| read)
}

pub(super) fn written_keys<'a>(
    meta: &AgentMeta<'a>,
    renames: Renames<'a>,
) -> Cow<'a, [KeySpec<'a>]> {
    if renames.writes.is_empty() {
        return Cow::Borrowed(meta.writes);
    }
    let names = renames
        .writes
        .iter()
        .copied()
        .map(Some)
        .chain(std::iter::repeat(None));
    meta.writes
        .iter()
        .zip(names)
        .map(|(key, name)| with_name(key, name.unwrap_or(key.name)))
        .collect()
}

/// Returns a key under another name.
fn with_name<'a>(key: &KeySpec<'a>, name: &'a str) -> KeySpec<'a> {
    let mut key = *key;
    key.name = name;
    key
}

/// Returns the inputs of the workflow itself.
pub(super) fn workflow_reads<'a>(spec: &Spec<'a>) -> Cow<'a, [KeySpec<'a>]> {
    spec.inputs
        .iter()
        .map(|input| KeySpec::new(input.name, input.ty).optional(input.has_default))
        .collect()
}
