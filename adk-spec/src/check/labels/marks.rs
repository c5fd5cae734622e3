//! [`Marks`] of a value, and the [`Causes`] that a mark names.

use crate::hash::{hash, mixed};
use crate::spec::Labels;

/// The marks of a key, of the conversation or of a context: that it may hold text of strangers, and
/// that it may hold private data. A mark is the number of its cause; 0 is no mark.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) struct Marks {
    pub(super) untrusted: u16,
    pub(super) private: u16,
}

impl Marks {
    pub(super) const NONE: Self = Self {
        untrusted: 0,
        private: 0,
    };

    pub(super) const fn is_none(self) -> bool {
        self.untrusted == 0 && self.private == 0
    }

    /// Returns the marks of both. A mark keeps its first cause.
    pub(super) const fn or(self, other: Self) -> Self {
        // Without calls, since const evaluation joins marks most often.
        Self {
            untrusted: if self.untrusted == 0 {
                other.untrusted
            } else {
                self.untrusted
            },
            private: if self.private == 0 {
                other.private
            } else {
                self.private
            },
        }
    }

    /// Returns whether the other marks contain these marks.
    pub(super) const fn is_within(self, other: Self) -> bool {
        (self.untrusted == 0 || other.untrusted != 0) && (self.private == 0 || other.private != 0)
    }

    /// Returns the marks as labels.
    pub(super) const fn labels(self) -> Labels {
        let untrusted = if self.untrusted == 0 {
            Labels::NONE
        } else {
            Labels::UNTRUSTED
        };
        if self.private == 0 {
            untrusted
        } else {
            untrusted.and(Labels::PRIVATE)
        }
    }

    /// Returns the marks of a value of a type without text.
    pub(super) const fn without_text(self) -> Self {
        Self {
            untrusted: 0,
            ..self
        }
    }
}

/// How a mark came to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum How {
    /// The guards of a workflow name the key, or the message of the run.
    Guard,
    /// A tool returned the value.
    Tool,
    /// A function returned the value.
    Function,
    /// An `impl Agent` returned the value.
    Agent,
    /// A tool without a label returned the value, in a workflow with `strict`.
    UnlabelledTool,
    /// The same of a function.
    UnlabelledFunction,
    /// The same of an `impl Agent`.
    UnlabelledAgent,
    /// A tool that only the run knows returned the value.
    UnknownTool,
    /// A step wrote the value to a key.
    Write,
    /// An agent said it in the conversation.
    Speech,
    /// An agent that is a tool returned it.
    Result,
    /// The error of a `try` may quote it.
    Error,
    /// The error of an agent that is a tool may quote it.
    Failure,
}

/// One step of the way from a source to a sink.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) struct Cause<'a> {
    pub(super) how: How,
    /// The agent; empty for a guard.
    pub(super) agent: &'a str,
    /// The tool or the key.
    pub(super) name: &'a str,
    /// The cause before it; 0 for the first.
    pub(super) before: u16,
    number: u64,
}

impl Cause<'_> {
    pub(super) const NONE: Self = Self {
        how: How::Guard,
        agent: "",
        name: "",
        before: 0,
        number: 0,
    };
}

/// All causes of a walk, each once.
pub(super) struct Causes<'t, 'a> {
    all: &'t mut [Cause<'a>],
    len: usize,
    /// Numbers of causes by hash; 0 marks a free slot. The number of slots is a power of two.
    slots: &'t mut [u16],
    pub(super) is_full: bool,
}

impl<'t, 'a> Causes<'t, 'a> {
    pub(super) const fn new(all: &'t mut [Cause<'a>], slots: &'t mut [u16]) -> Self {
        Self {
            all,
            len: 0,
            slots,
            is_full: false,
        }
    }

    /// Returns the cause with a number.
    pub(super) const fn get(&self, number: u16) -> Option<Cause<'a>> {
        match number {
            0 => None,
            number => Some(self.all[number as usize - 1]),
        }
    }

    /// Adds a cause to each mark.
    pub(super) const fn extend(
        &mut self,
        marks: Marks,
        how: How,
        agent: &'a str,
        name: &'a str,
    ) -> Marks {
        if marks.is_none() {
            return marks;
        }
        self.extend_at(place(how, hash(agent), hash(name)), marks, how, agent, name)
    }

    /// Adds a cause with a known [`place`] to each mark.
    pub(super) const fn extend_at(
        &mut self,
        place: u64,
        Marks { untrusted, private }: Marks,
        how: How,
        agent: &'a str,
        name: &'a str,
    ) -> Marks {
        Marks {
            untrusted: match untrusted {
                0 => 0,
                before => self.add_at(place, how, agent, name, before, 1),
            },
            private: match private {
                0 => 0,
                before => self.add_at(place, how, agent, name, before, 2),
            },
        }
    }

    /// Returns the marks of a key that guards name.
    pub(super) const fn guard(&mut self, key: &'a str, is_untrusted: bool) -> Marks {
        if is_untrusted {
            Marks {
                untrusted: self.add(How::Guard, "", key, 0, 1),
                private: 0,
            }
        } else {
            Marks {
                untrusted: 0,
                private: self.add(How::Guard, "", key, 0, 2),
            }
        }
    }

    /// Adds the first cause of a mark: `kind` is 1 for untrusted and 2 for private.
    pub(super) const fn add(
        &mut self,
        how: How,
        agent: &'a str,
        name: &'a str,
        before: u16,
        kind: u64,
    ) -> u16 {
        self.add_at(
            place(how, hash(agent), hash(name)),
            how,
            agent,
            name,
            before,
            kind,
        )
    }

    const fn add_at(
        &mut self,
        place: u64,
        how: How,
        agent: &'a str,
        name: &'a str,
        before: u16,
        kind: u64,
    ) -> u16 {
        // A step of the way that is already known keeps its way: any way explains a mark.
        let number = mixed(place, kind);
        let mask = self.slots.len() - 1;
        let mut slot = number as usize & mask;
        while self.slots[slot] != 0 {
            let known = &self.all[self.slots[slot] as usize - 1];
            if known.number == number {
                return self.slots[slot];
            }
            slot = (slot + 1) & mask;
        }
        if self.len == self.all.len() {
            self.is_full = true;
            return 1;
        }
        self.all[self.len] = Cause {
            how,
            agent,
            name,
            before,
            number,
        };
        self.len += 1;
        self.slots[slot] = self.len as u16;
        self.len as u16
    }
}

/// Returns the number of a step of a way, from the hashes of its names.
pub(super) const fn place(how: How, agent: u64, name: u64) -> u64 {
    mixed(agent.rotate_left(how as u32 + 1), name)
}
