//! [`FlowDiagnostic`]: an error of a key or an exit, as data.

use super::keys;

/// The part of a step at which a diagnostic is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum StepPart {
    Name,
    /// The key of `until`, `match` or `each`.
    Key,
    /// The name for a key that the instance writes.
    Output,
    /// The name for a key that the instance reads.
    Renaming(usize),
    /// The key of the definition that a renaming replaces.
    Renamed(usize),
}

impl StepPart {
    /// Returns the number of the part, in the order in which the macro numbers the parts of a step.
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

/// An error of a key or an exit at a step. Outputs are numbered after the steps.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) struct FlowDiagnostic<'a> {
    pub(super) at: usize,
    pub(super) part: StepPart,
    pub(super) key: &'a str,
    pub(super) kind: DiagnosticKind<'a>,
}

impl<'a> FlowDiagnostic<'a> {
    pub(super) const NONE: Self = Self::new(0, StepPart::Name, "", DiagnosticKind::Endless);

    pub(super) const fn new(
        at: usize,
        part: StepPart,
        key: &'a str,
        kind: DiagnosticKind<'a>,
    ) -> Self {
        Self {
            at,
            part,
            key,
            kind,
        }
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
    /// All elements of an `each` write a key of the session.
    EachRace,
    /// A nested workflow declares a session key (`state`) that has the name of a key of this
    /// workflow.
    OwnState,
    /// An instance renames an output to a session key that the nested workflow also uses. The name
    /// is that of the output in the nested workflow.
    SameInside(&'a str),
    /// A key is written both inside and outside of an `each`.
    Mixed,
    /// A key is read as another type. For a secret in a prompt, `ty` is empty.
    ReadAs {
        ty: &'a str,
        writer: keys::Writer<'a>,
    },
    /// A key is written as another type than its first writer writes.
    WrittenAs {
        ty: &'a str,
        writer: keys::Writer<'a>,
    },
    /// The type of a read or write cannot be compared with the type of the key's writer.
    UnknownType {
        ty: &'a str,
        reads: bool,
        /// The capacity of the list of pairs of types, and the needed capacity, if the list was
        /// full.
        full: Option<[usize; 2]>,
        writer: keys::Writer<'a>,
    },
    /// A prompt names a part of a key, such as `{review.notes}`.
    PartOfKey,
    /// A renaming of a key that the agent does not read.
    NoSuchRead,
    OtherWrites,
    /// Two written keys of an instance get the same name.
    SameWrites,
    NoOutput,
    Endless,
    ExitOutside,
    /// Agents are nested deeper than the checks follow.
    TooDeep,
}

impl DiagnosticKind<'_> {
    /// Returns whether the error is reported once per key.
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

    /// Returns whether the error is about the type of a key. Such an error is reported at each step
    /// with a different type, and not once per key.
    pub(super) const fn is_of_types(&self) -> bool {
        matches!(
            self,
            Self::ReadAs { .. } | Self::WrittenAs { .. } | Self::UnknownType { .. }
        )
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Reader<'a> {
    Prompt {
        source: &'a str,
        target: Option<&'a str>,
    },
    /// A parameter. The name is the transfer target that has the parameter; `None` for the step's
    /// own agent.
    Parameter(Option<&'a str>),
    Until,
    Match,
    Each,
    /// An agent inside a nested workflow.
    Inside,
}
