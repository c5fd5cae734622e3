//! [`KeyName`] and [`Key`]: a key as a step names it, and as an entry of the table.

use super::NONE;
use crate::hash::hash;
use crate::number::UNKNOWN;
use crate::spec::{KeySpec, Module, PromptKey, has_prefix};
use crate::text::part;

/// A key as a step names it, with the values that const evaluation compares.
#[derive(Clone, Copy, Debug)]
pub(in crate::check::flow) struct KeyName<'a> {
    pub(super) text: &'a str,
    /// The range of the key in `text`; `None` for the whole text. Few names are needed as text,
    /// and slicing is expensive in const evaluation.
    pub(super) part: Option<(usize, usize)>,
    pub(super) hash: u64,
    pub(in crate::check::flow) prefix: bool,
}

impl<'a> KeyName<'a> {
    /// Creates a name from its text only.
    pub(in crate::check::flow) const fn new(text: &'a str) -> Self {
        Self {
            text,
            part: None,
            hash: hash(text),
            prefix: has_prefix(text),
        }
    }

    /// Creates a name from a range of a prompt that is a plain key.
    pub(in crate::check::flow) const fn from_part(
        prompt: &'a str,
        start: usize,
        end: usize,
        hash: u64,
    ) -> Self {
        Self {
            text: prompt,
            part: Some((start, end)),
            hash,
            prefix: false,
        }
    }

    /// Creates a name from a prompt key that the macros have parsed.
    pub(in crate::check::flow) const fn from_prompt_key(key: &PromptKey<'a>) -> Self {
        Self {
            text: key.0,
            part: None,
            hash: key.1,
            prefix: false,
        }
    }

    /// Creates a name from the key of a description.
    pub(in crate::check::flow) const fn from_spec(spec: &KeySpec<'a>) -> Self {
        Self {
            text: spec.name,
            part: None,
            hash: spec.hash(),
            prefix: spec.has_prefix(),
        }
    }

    pub(in crate::check::flow) const fn text(&self) -> &'a str {
        match self.part {
            None => self.text,
            Some((start, end)) => part(self.text, start, end),
        }
    }
}

/// The writer that decides the type of a key.
#[derive(Clone, Copy, Debug)]
pub(in crate::check::flow) struct Writer<'a> {
    pub(in crate::check::flow) spec: KeySpec<'a>,
    /// The step. Inputs, `let` and `state` are numbered after the steps, in this order.
    pub(in crate::check::flow) at: usize,
    /// The index among the keys that the step writes; `NONE` for a write by a tool or a transfer
    /// target.
    pub(in crate::check::flow) slot: usize,
    /// The number of lists around the type that the writer states: one per `each` between the
    /// writer and the key.
    pub(in crate::check::flow) depth: usize,
    /// The module of the agent or tool that writes the key, if it is not the agent of the step.
    pub(in crate::check::flow) module: Option<Module<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::check::flow) struct Key<'a> {
    pub(in crate::check::flow) name: &'a str,
    /// Hash of the name and of the step of the `each` that owns the key.
    pub(super) hash: u64,
    /// The key, outside of the `each`, that collects the values of this key as a list.
    pub(in crate::check::flow) list: usize,
    /// The next key that belongs to the same `each`.
    pub(in crate::check::flow) next: usize,
    pub(in crate::check::flow) writer: Option<Writer<'a>>,
    /// Whether the type of the writer is known, or can be looked up.
    pub(in crate::check::flow) typed: bool,
    /// The number of the type.
    pub(in crate::check::flow) number: u64,
    /// Whether an `each` writes the key as a list.
    pub(super) listed: bool,
    /// Whether a step or a declaration writes the key.
    pub(super) plain: bool,
    /// Whether the workflow itself declares or writes the key. If not, only a workflow inside a
    /// step writes it, as a key of the session.
    pub(in crate::check::flow) own: bool,
}

impl Key<'_> {
    pub(in crate::check::flow) const EMPTY: Self = Self {
        name: "",
        hash: 0,
        list: NONE,
        next: NONE,
        writer: None,
        typed: false,
        number: UNKNOWN,
        listed: false,
        plain: false,
        own: false,
    };
}
