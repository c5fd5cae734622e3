//! What may be wrong with a key, as data.

use super::keys;
use super::spelled::{alike, certain};
use crate::check::text::same;

/// Where in a step a fault is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum Part {
    /// Its name.
    Name,
    /// The key of `until`, `match` or `each`.
    Key,
    /// What is written for a key that the instance writes.
    Output,
    /// What is written for a key that the instance reads.
    Renaming(usize),
    /// The key that is called otherwise there.
    Renamed(usize),
}

impl Part {
    /// As the macro counts.
    pub(super) const fn number(self) -> usize {
        match self {
            Self::Name => 0,
            Self::Key => 1,
            Self::Output => 2,
            Self::Renaming(i) => 3 + 2 * i,
            Self::Renamed(i) => 4 + 2 * i,
        }
    }
}

/// What is wrong with a key at a step; outputs are counted behind the steps.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) struct Fault<'a> {
    pub(super) at: usize,
    pub(super) part: Part,
    pub(super) key: &'a str,
    pub(super) flaw: Flaw<'a>,
    /// How many further places say the same, which is one mistake: it may be that of the writer.
    pub(super) further: usize,
    /// Not all of them do what this one does: some read, some write.
    pub(super) mixed: bool,
    /// The last of them.
    last: usize,
}

impl<'a> Fault<'a> {
    pub(super) const NONE: Self = Self::new(0, Part::Name, "", Flaw::Endless);

    pub(super) const fn new(at: usize, part: Part, key: &'a str, flaw: Flaw<'a>) -> Self {
        Self { at, part, key, flaw, further: 0, mixed: false, last: at }
    }

    /// Takes in what another place says of the type of the key, if this one says the same: it reads or writes it as that
    /// type, borrowed or not, and perhaps absent or not. Behind that many steps come the outputs.
    pub(super) const fn takes_in(&mut self, other: &Self, steps: usize) -> bool {
        let (Some(own), Some(others)) = (self.flaw.said(), other.flaw.said()) else { return false };
        let is_alike = alike(own.ty, others.ty, 0) || alike(certain(own.ty), certain(others.ty), 0);
        let is_same = own.known == others.known && is_alike && same(self.key, other.key);
        // A step that reads two keys of its own as one says two things of it.
        if !is_same || self.at == other.at && own.reads == others.reads {
            return false;
        }
        self.mixed = self.mixed || own.reads != others.reads || self.at < steps && other.at >= steps;
        if self.last != other.at && self.at != other.at {
            (self.further, self.last) = (self.further + 1, other.at);
        }
        true
    }
}

/// What is said of the type of a key.
struct Said<'a> {
    reads: bool,
    ty: &'a str,
    /// It is known that this is another type.
    known: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Flaw<'a> {
    Unwritten {
        reader: Reader<'a>,
        written: Written,
    },
    /// One that is not certain, of which nothing is said: what is told of another key may be the reason.
    Quiet {
        /// Nothing writes it, and a write that is told of may have been meant for it.
        meant: bool,
    },
    /// A race of which nothing is said: with a step of the same name, where it is told that there are two of it, or of steps of
    /// which it is not known in which blocks they stand.
    QuietRace,
    Race {
        parallel: usize,
        writes: bool,
        reader: Reader<'a>,
    },
    /// A key of the session that all elements of an `each` write.
    EachRace,
    /// An output is called like a key of the session that the workflow uses besides.
    SameInside {
        own: &'a str,
    },
    /// Written inside an `each` and outside of one.
    Mixed,
    /// Read as another type.
    ReadAs {
        ty: &'a str,
        writer: keys::Writer<'a>,
    },
    /// Written as another type than before.
    WrittenAs {
        ty: &'a str,
        writer: keys::Writer<'a>,
    },
    /// Whether it is read, or written, as the type of its writer cannot be told.
    Untold {
        ty: &'a str,
        reads: bool,
        /// How many pairs of types the workflow has room for, and how many it needs, when that is the reason.
        full: Option<[usize; 2]>,
        writer: keys::Writer<'a>,
    },
    NoSuchRead {
        /// The key that is to be read instead.
        from: &'a str,
    },
    OtherWrites,
    /// Two keys that an instance writes get one name.
    SameWrites,
    NoOutput,
    Endless,
    ExitOutside,
}

impl Flaw<'_> {
    /// Whether something is said of it.
    pub(super) const fn is_told(&self) -> bool {
        !matches!(self, Self::Quiet { .. } | Self::QuietRace)
    }

    /// Whether it is said once per key.
    pub(super) const fn is_of_key(&self) -> bool {
        !matches!(
            self,
            Self::NoSuchRead { .. }
                | Self::OtherWrites
                | Self::SameWrites
                | Self::Endless
                | Self::ExitOutside
        )
    }

    /// Whether it tells of a write that may have been meant for another key.
    pub(super) const fn is_of_a_write(&self) -> bool {
        matches!(self, Self::QuietRace | Self::Race { .. } | Self::WrittenAs { .. } | Self::Mixed)
    }

    /// Whether it may be mended by declaring another key.
    pub(super) const fn is_of_declaring(&self) -> bool {
        matches!(self, Self::NoOutput | Self::Unwritten { written: Written::Nowhere, .. })
    }

    /// Whether it is about the type as which a key is read.
    pub(super) const fn is_of_reading(&self) -> bool {
        matches!(self, Self::ReadAs { .. } | Self::Untold { reads: true, .. })
    }

    /// As which type a key is read or written, if it is about that.
    const fn said(&self) -> Option<Said<'_>> {
        let (reads, ty, known) = match *self {
            Self::ReadAs { ty, .. } => (true, ty, true),
            Self::WrittenAs { ty, .. } => (false, ty, true),
            Self::Untold { ty, reads, .. } => (reads, ty, false),
            _ => return None,
        };
        if ty.is_empty() { None } else { Some(Said { reads, ty, known }) }
    }

    /// Whether it is about the type of a key, of which every step is told that says another one.
    pub(super) const fn is_of_types(&self) -> bool {
        matches!(self, Self::ReadAs { .. } | Self::WrittenAs { .. } | Self::Untold { .. })
    }
}

/// Where a key is written that is not certain where it is read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Written {
    Nowhere,
    /// On some paths to it, or in a later round.
    Perhaps,
    /// Behind it: the step of one block in which it is read, and the one in which it is written.
    Behind(usize, usize),
}

/// What reads a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reader<'a> {
    Prompt {
        source: &'a str,
        target: Option<&'a str>,
    },
    Parameter {
        target: Option<&'a str>,
    },
    Until,
    Match,
    Each,
    /// An agent inside of a nested workflow.
    Inside,
}
