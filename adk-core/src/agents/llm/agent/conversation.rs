//! The part of the conversation that an agent sees: [`IncludeContents`] and [`Compaction`].

use crate::spec::Conversation;
use adk_spec::setters;

/// The part of the conversation that an agent sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeContents {
    /// All events that its branch may see.
    #[default]
    Default,
    /// Only the current turn. The turn begins with the latest message of the user, or with the
    /// latest reply of another agent, and includes it.
    None,
    /// Only the agent's own calls of this turn and their responses, without messages of the user
    /// and of other agents. In a live run equal to `None`, because there the messages of the user
    /// form the turn.
    Prompt,
    /// The last `n` turns, 1 or more. Each begins with a message of the user. Older events are not
    /// read.
    Last(u32),
}

impl IncludeContents {
    /// Returns the part of the conversation that the description of the agent states.
    pub(crate) const fn shown(self) -> Conversation {
        match self {
            Self::Default | Self::Last(_) => Conversation::Shown,
            Self::None => Conversation::CurrentTurn,
            Self::Prompt => Conversation::Hidden,
        }
    }

    /// Returns the error in this value, or in its combination with a compaction.
    pub(crate) const fn fault(self, compact: Option<Compaction>) -> Option<&'static str> {
        match (self, compact) {
            (Self::Last(0), _) => Some(
                "syntax: `include_contents` shows the last 0 turns; help: set 1 or more, as in \
                 `last(8)`",
            ),
            (Self::Default, Some(compact)) => compact.fault(),
            (_, Some(_)) => Some(
                "syntax: `compact` summarizes the whole conversation, but `include_contents` shows \
                 only the newest turns; help: remove one of them",
            ),
            (_, None) => None,
        }
    }
}

/// When the older part of an agent's conversation is summarized, and by which model: ADK's
/// `EventsCompactionConfig`.
///
/// Before each model call the agent counts the events that it sees since the last summary. If there
/// are more than [`after`](Self::after), the model summarizes all except the newest. The summary is
/// an event of the log with [`Actions::compaction`](crate::RareActions::compaction), and the
/// covered events stay in the store. From then on the model gets the summary and the events after
/// it; older events are not read. A call and its result are never separated. A resumed run takes
/// the summary from its record.
///
/// The call counts like other calls in usage, cost, budgets, `max_llm_calls` and bounds. Model
/// callbacks do not see it. If the call fails, the agent continues with the whole conversation, and
/// a partial event with [`COMPACTION_KEY`](crate::llm::COMPACTION_KEY) reports the error.
///
/// Agents with a `Compaction` share the summaries of a session: the summaries of their own branch
/// of a parallel block, and the summaries outside of all branches. If concurrent runs share a
/// session, both may summarize it. Each summary is complete, and the newest summary is used.
///
/// ```
/// # use adk_build as adk;
/// use adk::llm::{Compaction, LlmAgent};
/// let agent = LlmAgent::builder("chat").compact(Compaction::new().after(40).keep(10)).build()?;
/// # Ok::<(), adk::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compaction {
    pub(in crate::agents::llm) after: Option<u32>,
    pub(in crate::agents::llm) after_tokens: Option<u64>,
    pub(in crate::agents::llm) keep: u32,
    pub(in crate::agents::llm) by: Option<&'static str>,
}

impl Default for Compaction {
    fn default() -> Self {
        Self::new()
    }
}

impl Compaction {
    /// Creates a compaction that keeps the newest 10 events. [`after`](Self::after) or
    /// [`after_tokens`](Self::after_tokens) must set the condition.
    pub const fn new() -> Self {
        Self {
            after: None,
            after_tokens: None,
            keep: 10,
            by: None,
        }
    }

    setters! { [const]
        /// Sets the number of events that triggers a summary when it is exceeded.
        after(events: u32) = Some(events);
        /// Sets the number of tokens that triggers a summary when the last call since the last
        /// summary exceeds it, request and reply together. Without token counts of the provider, 4
        /// bytes of the conversation count as one token.
        after_tokens(tokens: u64) = Some(tokens);
        /// Sets how many of the newest events are kept, 1 or more. Default 10.
        keep(events: u32) = events;
        /// Sets the name of the model that summarizes. Default: the agent's model.
        by(model: &'static str) = Some(model);
    }

    /// Returns the error in the configuration.
    pub(crate) const fn fault(&self) -> Option<&'static str> {
        match (self.after, self.after_tokens) {
            (None, None) => Some(
                "syntax: `compact` has no condition; help: add `after`, a number of events, or \
                 `after_tokens`",
            ),
            _ if self.keep == 0 => Some(
                "syntax: `keep` is 0; help: keep 1 or more events, because the model answers the \
                 newest one",
            ),
            (Some(after), _) if after <= self.keep => Some(
                "syntax: `after` is not more than `keep`, which is 10 where it is not set; help: \
                 raise `after`, or lower `keep`",
            ),
            _ => None,
        }
    }
}
