//! The list of all checks: what messages begin with, what the pages of the docs and the tests of messages are named after.

/// A rule that every workflow keeps, or it does not compile.
///
/// ```
/// # use adk_core as adk;
/// let check = adk::check::CHECKS.iter().find(|check| check.name == "block-empty").unwrap();
/// assert_eq!(check.to_string(), "block-empty: a block without steps");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Check {
    /// Its name, with which each of its messages begins.
    pub name: &'static str,
    /// What it rejects, in Markdown.
    pub rejects: &'static str,
}

impl std::fmt::Display for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.name, self.rejects)
    }
}

macro_rules! checks {
    ($($name:literal: $rejects:literal,)*) => {
        /// Every check, in the order in which the documentation shows them.
        ///
        /// Some need tokens alone and are made by the macros, some need types or other crates and are made in const
        /// evaluation; for a tree that is built at run time they all are values, see [`faults`](super::faults).
        pub const CHECKS: &[Check] = &[$(Check { name: $name, rejects: $rejects }),*];
    };
}

checks! {
    "name-duplicate": "two definitions of one name anywhere in the tree, agents and blocks, nested workflows included",
    "name-reserved": "a name that events of the user or of models carry, or that is a word of the language",
    "name-invalid": "a name that is no identifier",
    "agent-reused": "one definition placed twice without `as`",
    "agent-attribute": "an attribute of `#[agent]` that is unknown, or that the function contradicts",
    "key-missing": "a read of a key that nothing before it writes and that is no input",
    "key-maybe-missing": "a read of a key that is written on some paths only",
    "key-race": "two branches of a `parallel` that write one key, or one that reads what another writes",
    "key-type": "a key written as one type and read or written as another",
    "key-duplicate": "a key declared twice among inputs, outputs, `let`, `state` and the items of `each`",
    "output-missing": "a declared output that is not written on every path to the end",
    "loop-endless": "a loop without `max`, without `until`, and with nothing inside that can end it",
    "loop-max": "a `max` that is zero, negative, no whole number, or known at run time only",
    "block-empty": "a block without steps",
    "exit-outside-loop": "something that ends a loop, in no loop or in none of that name",
    "field-unknown": "an unknown or repeated field, block argument or renaming",
    "tool-duplicate": "two tools of one name in one agent",
    "tool-reserved": "a tool with a name that the runtime gives to a tool of its own",
    "tool-undocumented": "a tool without a doc comment",
    "tool-argument": "an argument of a tool that has no schema",
    "tool-attribute": "an attribute of `#[tool]` that is unknown, or that the function contradicts",
    "transfer-target": "a transfer to an agent that is not declared, or that is also a step",
    "bounds-exceeded": "a workflow whose worst case is greater than its own `#[bounds(...)]`, or unbounded",
    "live-loop": "`run_live` on a workflow that holds a loop or a parallel block anywhere",
    "syntax": "anything that does not parse, and blocks nested deeper than 128",
}
