//! A key: as a step names it, and as the table has it.

use super::NONE;
use crate::hash::hash;
use crate::number::UNKNOWN;
use crate::spec::{KeySpec, Module, PromptKey, has_prefix};
use crate::text::part;

/// A key as a step names it, with what const evaluation compares.
#[derive(Clone, Copy, Debug)]
pub(in crate::check::flow) struct KeyName<'a> {
    pub(super) text: &'a str,
    /// Which part of the text it is; all of it is `None`. Few names are ever needed as text, and to cut one out is dear.
    pub(super) part: Option<(usize, usize)>,
    pub(super) hash: u64,
    pub(in crate::check::flow) prefix: bool,
}

impl<'a> KeyName<'a> {
    /// A key that is known by its text only.
    pub(in crate::check::flow) const fn new(text: &'a str) -> Self {
        Self { text, part: None, hash: hash(text), prefix: has_prefix(text) }
    }

    /// A part of a prompt that is a plain key.
    pub(in crate::check::flow) const fn from_part(
        prompt: &'a str,
        start: usize,
        end: usize,
        hash: u64,
    ) -> Self {
        Self { text: prompt, part: Some((start, end)), hash, prefix: false }
    }

    /// A key of a prompt that the macros have read.
    pub(in crate::check::flow) const fn from_prompt_key(key: &PromptKey<'a>) -> Self {
        Self { text: key.0, part: None, hash: key.1, prefix: false }
    }

    /// The key of a description.
    pub(in crate::check::flow) const fn from_spec(spec: &KeySpec<'a>) -> Self {
        Self { text: spec.name, part: None, hash: spec.hash(), prefix: spec.has_prefix() }
    }

    pub(in crate::check::flow) const fn text(&self) -> &'a str {
        match self.part {
            None => self.text,
            Some((start, end)) => part(self.text, start, end),
        }
    }
}

/// The writer whose type is the type of the key.
#[derive(Clone, Copy, Debug)]
pub(in crate::check::flow) struct Writer<'a> {
    pub(in crate::check::flow) spec: KeySpec<'a>,
    /// The step; inputs, `let` and `state` follow the steps, in this order.
    pub(in crate::check::flow) at: usize,
    /// Which of the keys that the step writes.
    pub(in crate::check::flow) slot: usize,
    /// How many lists are around it.
    pub(in crate::check::flow) depth: usize,
    /// The module of who writes it, if it is not the step itself.
    pub(in crate::check::flow) module: Option<Module<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::check::flow) struct Key<'a> {
    pub(in crate::check::flow) name: &'a str,
    /// Its name and the step of the `each` to which it belongs, as a number.
    pub(super) hash: u64,
    /// The list that it becomes around its `each`.
    pub(in crate::check::flow) list: usize,
    /// The next key of the same `each`.
    pub(in crate::check::flow) next: usize,
    pub(in crate::check::flow) writer: Option<Writer<'a>>,
    /// Whether the type of the writer can be looked up.
    pub(in crate::check::flow) typed: bool,
    /// The number of its type.
    pub(in crate::check::flow) number: u64,
    /// An `each` makes it a list.
    pub(super) listed: bool,
    /// Something other than an `each` writes it.
    pub(super) plain: bool,
    /// The workflow itself declares or writes it, and not only the session inside of a step.
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
