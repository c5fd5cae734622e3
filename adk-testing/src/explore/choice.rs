//! [`Choice`]: one thing that may happen next in a history, and [`Decision`]: all of them.

/// The kind of a choice, which decides how many of its kind one history may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChoiceKind {
    /// The next action of the default order.
    Default,
    /// Another action than the next one of the default order, or the passing of time.
    Order,
    /// The end of the process.
    Death,
    /// Another answer of a model.
    Answer,
    /// An action of a person.
    Person,
}

/// The beginning of the text of each death.
pub(super) const DEATH: &str = "the process dies";

/// One thing that may happen next. The text is unique in its decision.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) kind: ChoiceKind,
    pub(super) text: String,
    /// Whether another order has the same end, because the parts of the workflow commute.
    pub(super) is_redundant: bool,
}

impl Choice {
    pub(super) fn new(kind: ChoiceKind, text: String) -> Self {
        Self {
            kind,
            text,
            is_redundant: false,
        }
    }
}

/// A point of a history: the first choice is the default.
#[derive(Clone, Debug)]
pub(super) struct Decision {
    pub(super) choices: Vec<Choice>,
}

/// A choice that is not the default, by the number of its decision and by its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Deviation {
    pub(super) at: usize,
    pub(super) kind: ChoiceKind,
    pub(super) text: String,
}

impl Deviation {
    /// Reads a deviation of a printed test: `11: the process dies ...`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (at, text) = text.split_once(": ")?;
        let kind = if text.starts_with(DEATH) {
            ChoiceKind::Death
        } else {
            ChoiceKind::Default
        };
        Some(Self {
            at: at.trim().parse().ok()?,
            kind,
            text: text.to_owned(),
        })
    }
}

/// Writes the form that [`Deviation::parse`] reads.
impl std::fmt::Display for Deviation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.at, self.text)
    }
}
