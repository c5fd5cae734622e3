//! What may be wrong with a key, as data.

use super::keys;

/// Where in a step a diagnostic is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum StepPart {
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

impl StepPart {
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

/// What is wrong with a key at a step; the numbers of outputs follow those of the steps.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) struct FlowDiagnostic<'a> {
    pub(super) at: usize,
    pub(super) part: StepPart,
    pub(super) key: &'a str,
    pub(super) kind: DiagnosticKind<'a>,
}

impl<'a> FlowDiagnostic<'a> {
    pub(super) const NONE: Self = Self::new(0, StepPart::Name, "", DiagnosticKind::Endless);

    pub(super) const fn new(at: usize, part: StepPart, key: &'a str, kind: DiagnosticKind<'a>) -> Self {
        Self { at, part, key, kind }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum DiagnosticKind<'a> {
    Unwritten(Reader<'a>),
    Race {
        parallel: usize,
        writes: bool,
        reader: Reader<'a>,
    },
    /// A key of the session that all elements of an `each` write.
    EachRace,
    /// A workflow inside keeps a key in the session that is called like one of the workflow around.
    OwnState,
    /// An output is called like a key of the session that the workflow uses besides.
    SameInside(&'a str),
    /// Written inside an `each` and outside of one.
    Mixed,
    /// Read as another type; in a prompt a secret, as no type.
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
    UnknownType {
        ty: &'a str,
        reads: bool,
        /// How many pairs of types the workflow has room for, and how many it needs, when that is the reason.
        full: Option<[usize; 2]>,
        writer: keys::Writer<'a>,
    },
    /// A prompt names a part of a key.
    PartOfKey,
    /// A renaming of a key that the agent does not read.
    NoSuchRead,
    OtherWrites,
    /// Two keys that an instance writes get one name.
    SameWrites,
    NoOutput,
    Endless,
    ExitOutside,
    /// More agents are nested than are looked at.
    TooDeep,
}

impl DiagnosticKind<'_> {
    /// Whether it is reported once per key.
    pub(super) const fn is_of_key(&self) -> bool {
        !matches!(
            self,
            Self::PartOfKey
                | Self::NoSuchRead
                | Self::OtherWrites
                | Self::SameWrites
                | Self::Endless
                | Self::ExitOutside
                | Self::TooDeep
        )
    }

    /// Whether it is about the type of a key, which is reported at each step that has another one.
    pub(super) const fn is_of_types(&self) -> bool {
        matches!(self, Self::ReadAs { .. } | Self::WrittenAs { .. } | Self::UnknownType { .. })
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Reader<'a> {
    Prompt {
        source: &'a str,
        target: Option<&'a str>,
    },
    /// Of that transfer target, if it is not one of the agent itself.
    Parameter(Option<&'a str>),
    Until,
    Match,
    Each,
    /// An agent inside of a nested workflow.
    Inside,
}
