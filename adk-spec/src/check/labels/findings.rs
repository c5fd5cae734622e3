//! [`Finding`]: a sink that marks reach, with the [`Ways`] in which they come.

use super::marks::Marks;
use crate::text::same;

/// A sink that marks reach.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) struct Finding<'a> {
    /// The step of the checked workflow.
    pub(super) at: usize,
    /// Whether private data leaves: `lethal-trifecta`.
    pub(super) leaks: bool,
    /// The tool; empty for a function, an `impl Agent`, or a tool that only the run knows.
    pub(super) tool: &'a str,
    /// The toolset of the tool; empty for none.
    pub(super) toolset: &'a str,
    pub(super) agent: &'a str,
    pub(super) kind: SinkKind,
    /// The nested workflow around the sink; empty for none.
    pub(super) inside: &'a str,
    pub(super) marks: Marks,
    pub(super) ways: Ways<'a>,
    /// Whether the sink counts because it has no label.
    pub(super) is_unlabelled: bool,
    /// Whether only an earlier run of the session brings the marks.
    pub(super) later: bool,
    /// Whether `fresh` is missing.
    pub(super) lasts: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum SinkKind {
    Tool,
    /// A tool that selects the calls that a person confirms, in a workflow with `strict`.
    SelectingTool,
    UnknownTool,
    Function,
    /// A function that gets the context.
    ContextFunction,
    /// An `impl Agent`.
    Custom,
}

impl SinkKind {
    /// Returns whether a model calls the sink.
    pub(super) const fn has_tool(self) -> bool {
        matches!(self, Self::Tool | Self::SelectingTool | Self::UnknownTool)
    }
}

impl Finding<'_> {
    pub(super) const NONE: Self = Self {
        at: usize::MAX,
        leaks: false,
        tool: "",
        toolset: "",
        agent: "",
        kind: SinkKind::Tool,
        inside: "",
        marks: Marks::NONE,
        ways: Ways::NONE,
        is_unlabelled: false,
        later: false,
        lasts: false,
    };
}

/// The largest number of keys that a message names.
const MOST_KEYS: usize = 3;

/// The ways in which text of strangers comes to a sink. A remedy has to close all of them.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) struct Ways<'a> {
    /// The tools of the same turn.
    pub(super) own: bool,
    /// An agent that is a tool; empty for none.
    pub(super) called: &'a str,
    /// The conversation.
    pub(super) heard: bool,
    /// An instruction that is a function, and may read everything.
    pub(super) computed: bool,
    /// Artifacts.
    pub(super) artifacts: bool,
    /// The first keys; empty for none.
    pub(super) keys: [&'a str; MOST_KEYS],
    /// Whether there are more keys.
    pub(super) more_keys: bool,
    /// Whether an `await` with a default shows one of the keys.
    pub(super) asked: bool,
    /// The request to an agent that is a tool.
    pub(super) requested: bool,
}

impl<'a> Ways<'a> {
    pub(super) const NONE: Self = Self {
        own: false,
        called: "",
        heard: false,
        computed: false,
        artifacts: false,
        keys: [""; MOST_KEYS],
        more_keys: false,
        asked: false,
        requested: false,
    };

    pub(super) const fn add_key(&mut self, key: &'a str) {
        let mut i = 0;
        while i < MOST_KEYS {
            if self.keys[i].is_empty() {
                self.keys[i] = key;
            }
            if same(self.keys[i], key) {
                return;
            }
            i += 1;
        }
        self.more_keys = true;
    }

    pub(super) const fn join(&mut self, other: &Self) {
        self.own = self.own || other.own;
        self.heard = self.heard || other.heard;
        self.computed = self.computed || other.computed;
        self.artifacts = self.artifacts || other.artifacts;
        self.more_keys = self.more_keys || other.more_keys;
        self.asked = self.asked || other.asked;
        self.requested = self.requested || other.requested;
        if self.called.is_empty() {
            self.called = other.called;
        }
        each!(key in &other.keys => {
            if !key.is_empty() {
                self.add_key(key);
            }
        });
    }
}
