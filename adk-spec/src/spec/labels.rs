//! [`Labels`] and [`Guards`]: the effects of a tool or function outside of the run, and the rules
//! of a workflow about them.

use crate::text::same;
use serde::ser::{Serialize, Serializer};
use std::fmt;

/// The labels of a tool, a function or a toolset: `#[tool(untrusted, sends)]`.
///
/// ```
/// # use adk_spec as adk;
/// use adk::{AgentMeta, spec::Labels};
/// const META: AgentMeta<'static> = AgentMeta::custom("mailer").labels(Labels::ACTS);
/// assert!(META.labels.has(Labels::ACTS) && !META.labels.has(Labels::SENDS));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Labels(pub(crate) u8);

/// The words of the labels, in the order of their bits.
const WORDS: [&str; 6] = ["untrusted", "private", "acts", "sends", "trusts", "local"];

impl Labels {
    /// No labels.
    pub const NONE: Self = Self(0);
    /// The result may be text that strangers wrote, such as a page or a mail.
    pub const UNTRUSTED: Self = Self(1);
    /// The result is data that must not leave.
    pub const PRIVATE: Self = Self(1 << 1);
    /// A call changes something that matters outside of the run.
    pub const ACTS: Self = Self(1 << 2);
    /// The arguments leave: the tool fetches any URL, or searches the web.
    pub const SENDS: Self = Self(1 << 3);
    /// The result of the function is clean on the word of its author. Only functions have this
    /// label.
    pub const TRUSTS: Self = Self(1 << 4);
    /// None of the other labels applies. Only a workflow with `strict` needs this label.
    pub const LOCAL: Self = Self(1 << 5);
    /// The function gets the context, or the instruction is a function, so it may read each key and
    /// the conversation. A tool with this label shows artifacts.
    pub(crate) const CONTEXT: Self = Self(1 << 6);
    /// The tool shows the memory of other sessions.
    pub(crate) const MEMORY: Self = Self(1 << 7);
    /// The four labels that a tool without labels has in a workflow with `strict`.
    pub(crate) const ALL: Self = Self(0b1111);

    /// Returns the labels of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the labels that are also among others.
    pub(crate) const fn only(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    /// Returns whether any of the labels is set.
    pub const fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    /// Returns whether there is no label, apart from `local`.
    pub const fn is_empty(&self) -> bool {
        !self.has(Self::ALL.and(Self::TRUSTS))
    }

    /// Returns whether the author has set any label.
    pub(crate) const fn is_known(self) -> bool {
        self.has(Self::ALL.and(Self::TRUSTS).and(Self::LOCAL))
    }

    /// Returns the label of a word, such as `private` or `local`.
    pub const fn from_word(word: &str) -> Option<Self> {
        let mut bit = 0;
        while bit < WORDS.len() {
            if same(WORDS[bit], word) {
                return Some(Self(1 << bit));
            }
            bit += 1;
        }
        None
    }

    /// Returns the words of the labels, without `local`.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        let all = WORDS.into_iter().enumerate();
        let all = all.filter(|(_, word)| *word != "local");
        all.filter_map(move |(bit, word)| self.has(Self(1 << bit)).then_some(word))
    }
}

/// Writes the words of the labels.
impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.words()).finish()
    }
}

/// Serializes the words of the labels.
impl Serialize for Labels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.words())
    }
}

/// The rules of a workflow about text that strangers wrote: `#[guards(untrusted(ticket), fresh)]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Guards<'a> {
    /// The inputs and session keys that may hold text that strangers wrote; `user` is the message
    /// of the run.
    pub untrusted: &'a [&'a str],
    /// The inputs and session keys with data that must not leave.
    pub private: &'a [&'a str],
    /// Whether each run has a session of its own.
    pub fresh: bool,
    /// Whether everything without a label counts as everything that a label can say.
    pub strict: bool,
}

impl<'a> Guards<'a> {
    /// No rules.
    pub const NONE: Self = Self {
        untrusted: &[],
        private: &[],
        fresh: false,
        strict: false,
    };

    setters! { [const]
        /// Sets the inputs and session keys that may hold text that strangers wrote.
        untrusted(keys: &'a [&'a str]) = keys;
        /// Sets the inputs and session keys with data that must not leave.
        private(keys: &'a [&'a str]) = keys;
        /// Sets whether each run has a session of its own.
        fresh(yes: bool) = yes;
        /// Sets whether everything without a label counts as everything that a label can say.
        strict(yes: bool) = yes;
    }
}
