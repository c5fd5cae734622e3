//! The keys that a node reads, those of its prompts included.

use crate::spec::placeholder::{Placeholders, Source};
use crate::spec::{AgentMeta, KeySpec, Spec};
use std::borrow::Cow;

/// What a prompt takes is any value: it is written out as text.
const ANY: &str = "Value";

/// The keys of an agent, each once.
pub(super) fn of_agent<'a>(meta: &AgentMeta<'a>) -> Cow<'a, [KeySpec<'a>]> {
    let mut reads = Cow::Borrowed(meta.reads);
    for prompt in meta.prompts {
        let mut all = Placeholders::new(prompt);
        while let Some(found) = all.next() {
            let Source::Key(key) = found.source else { continue };
            match reads.iter().position(|read| read.name == key) {
                None => reads.to_mut().push(KeySpec::new(key, ANY).optional(found.optional)),
                // It has to be there when one of the two places needs it.
                Some(at) if reads[at].optional && !found.optional => reads.to_mut()[at].optional = false,
                Some(_) => {}
            }
        }
    }
    reads
}

/// The inputs of the workflow itself.
pub(super) fn of_workflow<'a>(spec: &Spec<'a>) -> Cow<'a, [KeySpec<'a>]> {
    spec.inputs.iter().map(|input| KeySpec::new(input.name, input.ty).optional(input.has_default)).collect()
}
