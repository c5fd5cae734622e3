//! Where in a statement the reader is, and what it goes back to behind a bracket.

use super::super::Plain;
use crate::source::Around;

/// What was read of a statement.
#[derive(Clone, Copy)]
pub(super) enum State<'a> {
    /// Nothing but attributes.
    Start,
    /// `#`, and `!` perhaps; in its brackets when `name` is known.
    Attribute {
        name: Option<&'a str>,
    },
    /// Words before the one that says what it is.
    Head,
    /// `const`, behind which more of them may stand.
    Const,
    /// All before the name.
    Named(Plain),
    /// The name of a type that may be bare.
    Bare(&'a str),
    /// The name of a constant, behind which its type stands.
    Typed(&'a str),
    /// `mod`, and the name behind it.
    Module(Option<&'a str>),
    Import,
    Rest,
}

/// A part of a `use`.
#[derive(Default)]
pub(super) struct Path<'a> {
    /// All names before it, the first `outside` of them before the braces around it.
    pub(super) names: Vec<&'a str>,
    pub(super) outside: usize,
    /// Behind `as`, and what stands there.
    pub(super) renamed: Option<Option<&'a str>>,
}

/// A bracket around the one that is read.
pub(super) struct Outer<'a> {
    pub(super) state: State<'a>,
    pub(super) around: Around,
    pub(super) certain: bool,
    pub(super) inert: bool,
    pub(super) outside: usize,
}
