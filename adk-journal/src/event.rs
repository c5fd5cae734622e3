//! [`Event`] and [`Actions`]: the entries of a session's log, ADK's `Event` and `EventActions`.

mod attempt;
mod concurrent;
mod json;
mod lifecycle;
mod snake;
mod stored;

pub use attempt::{ATTEMPT_KEY, FailedAttempt, WINNER_KEY};
pub use concurrent::{ConcurrentBlock, is_concurrent};
pub use lifecycle::{
    AGENT_LIFECYCLE_KEY, LIFECYCLE_KEY, Lifecycle, LifecycleOutcome, LifecyclePhase,
};
pub use stored::Unstamped;

use crate::model::{FinishReason, MessageSource, Usage};
use crate::{
    Content, EventId, FunctionCall, FunctionResponse, Name, Part, Path, Result, Role, RunId, depth,
    secret,
};
use serde_json::{Map, Value};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The key of [`Event::custom_metadata`] with the cost of a model's answer by the runner's prices,
/// such as `0.00125 USD`.
pub const COST_KEY: &str = "cost";

/// The key of [`Event::custom_metadata`] with the round of the innermost loop, counted from 0
/// (adk-python, pull request 6268).
pub const LOOP_ITERATION_KEY: &str = "loop_iteration";

/// The key of [`Event::custom_metadata`] with the branches of parallel blocks that the event
/// belongs to: an object with the number of each branch in source order, from 0, by the depth of
/// its block in the path.
///
/// A request shows branches in this order, whichever ended first.
pub const BRANCH_ORDER_KEY: &str = "branch_order";

/// The key of [`Event::custom_metadata`] that marks an update of state
/// (`State::update`): an object with `update`, such as `user:n@0`, and for
/// a tool call with `call`, such as `tool.add@2`.
pub const STATE_UPDATE_KEY: &str = "state_update";

/// The key of [`Event::custom_metadata`] with the parts that a block has left out.
///
/// - For an `each` with `over = cut`, the value is an object with `list` (the key), `max`, and
///   `over` (the number of further elements).
/// - For a block with `on_error = skip`, the value is an object with `failed`, a list of objects
///   with `path` and `error`. If a part has left the block, it is an object with `cancelled`, the
///   paths of the other parts, whose writes are discarded.
pub const LEFT_OUT_KEY: &str = "left_out";

/// The key of [`Event::custom_metadata`] with the keys that only discarded parts of a block have
/// written, and that had no value before: a list of stored keys. The event sets them to null, and
/// the run reads them as unwritten.
pub const UNWRITTEN_KEY: &str = "unwritten";

/// The key of [`Event::custom_metadata`] with the sources of what an event shows, in a workflow
/// with `#[guards(...)]`: an object with `untrusted`, the source of text that strangers wrote, and
/// `private`, the source of data that must not leave. An event with content and without sources
/// has an empty object.
pub const MARKS_KEY: &str = "marks";

/// One entry of the log of a run.
///
/// An agent builds an event and passes it to `Context::emit`; commit
/// assigns its id, time and place. A committed event is shared, never copied.
///
/// ```
/// # use adk_build as adk;
/// use adk::Event;
/// let event = Event::new().with_text("A cat sat.").with_state("current_document", "A cat sat.");
/// assert!(event.is_final_response());
/// assert!(event.id.is_nil(), "not committed yet");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// The id, assigned by commit; nil before.
    pub id: EventId,
    /// Microseconds since 1970, assigned by commit. Time never runs backwards within a session.
    pub timestamp: u64,
    /// The run that the event belongs to; ADK's invocation id.
    pub invocation_id: RunId,
    /// The author: `user`, or the name of an agent. Empty means the agent that emits the event.
    pub author: Name,
    /// The place in the tree, with rounds. Assigned by commit.
    pub path: Path,
    /// The parallel branch, such as `par.left`, or `each_1[3]` for an element; `None` outside of
    /// such blocks.
    pub branch: Option<Arc<str>>,
    /// The message.
    pub content: Option<Content>,
    /// The changes.
    pub actions: Actions,
    /// Whether this is a piece of a reply that is still streaming: it is passed on, not stored.
    pub partial: bool,
    /// Fields that few events have.
    pub details: Option<Box<Details>>,
}

/// Fields that few events have, boxed so that other events stay small.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Details {
    /// Metadata of the agent.
    pub custom_metadata: Map<String, Value>,
    /// The tokens of the model call that made this event.
    pub usage: Option<Usage>,
    /// The reason why the model stopped.
    pub finish_reason: Option<FinishReason>,
    /// The model version that answered, in the provider's words.
    pub model_version: Option<String>,
    /// The error code of a model that replied with an error instead of content.
    pub error_code: Option<String>,
    /// The provider's error message.
    pub error_message: Option<String>,
    /// The sources that the model's provider has found by its own tools, such as `google_search`.
    pub grounding_metadata: Option<Arc<Value>>,
    /// Calls in this event whose answers come later.
    pub long_running_tool_ids: Vec<String>,
    /// Fields that another program has stored with the event and that this crate does not know, by
    /// their position in [`Event::to_stored`], which writes them again; null if the event has no
    /// such fields.
    pub unknown: Value,
}

/// The changes that an event makes: ADK's `EventActions`.
///
/// Actions dereference to [`RareActions`], so `actions.escalate` reads and sets a rare field.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Actions {
    /// Keys and their new values.
    pub state_delta: StateDelta,
    rare: Option<Box<RareActions>>,
}

/// Actions that few events have, boxed so that other events stay small.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RareActions {
    /// Files and their new versions, counted from 0.
    pub artifact_delta: Vec<(Name, u32)>,
    /// Whether a loop ends. An explicit `false` is kept, as in ADK.
    pub escalate: Option<bool>,
    /// Whether the answer of a tool is the last word: the model is not asked to summarize it.
    pub skip_summarization: Option<bool>,
    /// The agent that continues.
    pub transfer_to_agent: Option<Name>,
    /// The next step of a sequence or a loop: ADK's checkpoint, under `RunConfig::resumable`.
    pub agent_state: Option<Arc<Value>>,
    /// Whether the agent or block has ended: ADK's checkpoint, under `RunConfig::resumable`.
    pub end_of_agent: Option<bool>,
    /// A summary of earlier events, see `Compaction`.
    pub compaction: Option<Arc<EventCompaction>>,
}

/// A summary of a part of the log, which stays unchanged: ADK's `EventCompaction`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EventCompaction {
    /// The time of the first summarized event, in microseconds since 1970; 0 for all events from
    /// the beginning, as this crate writes.
    pub start: u64,
    /// The time of the last summarized event.
    pub end: u64,
    /// The summary.
    pub content: Content,
}

impl EventCompaction {
    /// Creates a summary of all events up to this time, in microseconds since 1970.
    pub fn until(end: u64, summary: impl Into<String>) -> Self {
        Self {
            start: 0,
            end,
            content: Content::model(summary),
        }
    }
}

/// Lets a request share content with the log.
impl MessageSource for Event {
    fn content(&self) -> &Content {
        static NOTHING: Content = Content {
            parts: Vec::new(),
            role: Role::User,
        };
        self.content.as_ref().unwrap_or(&NOTHING)
    }
}

/// Keys and their new values, in the order in which they were written; a later value of a key wins.
#[derive(Clone, Default, PartialEq)]
pub struct StateDelta(Vec<(Name, Arc<Value>)>);

impl IntoIterator for StateDelta {
    type Item = (Name, Arc<Value>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl StateDelta {
    /// Sets a key.
    pub fn insert(&mut self, key: impl Into<Name>, value: impl Into<Arc<Value>>) {
        let (key, value) = (key.into(), value.into());
        match self.0.iter_mut().find(|(name, _)| *name == key) {
            Some((_, old)) => *old = value,
            // Most events write one key, and every event is kept, so capacity is exact.
            None => {
                if self.0.is_empty() {
                    self.0 = Vec::with_capacity(1);
                } else {
                    self.0.reserve_exact(1);
                }
                self.0.push((key, value));
            }
        }
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Arc<Value>> {
        self.0
            .iter()
            .find(|(name, _)| **name == *key)
            .map(|(_, value)| value)
    }

    /// Returns true if the delta sets the key.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Returns all keys and values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Name, &Arc<Value>)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if the delta has no keys.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds all keys of another delta; its values win.
    pub fn extend(&mut self, other: StateDelta) {
        for (key, value) in other.0 {
            self.insert(key, value);
        }
    }

    /// Refuses a value that is nested deeper than [`MAX_DEPTH`](adk_model::MAX_DEPTH). A store
    /// calls it before it writes data from outside of a run.
    ///
    /// # Errors
    /// [`ErrorKind::TooDeep`](crate::ErrorKind::TooDeep), with the key.
    #[inline]
    pub fn check_depth(&self) -> Result<()> {
        for (key, value) in self.iter() {
            depth::check(value)
                .map_err(|deep| deep.error(format_args!("the value of state key `{key}`")))?;
        }
        Ok(())
    }

    /// Keeps only the keys for which `keep` returns true.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.0.retain(|(name, _)| keep(name));
    }
}

/// Hides secrets.
impl fmt::Debug for StateDelta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.iter().map(|(key, value)| (key, secret::redact(value)));
        f.debug_map().entries(all).finish()
    }
}

impl<K: Into<Name>, V: Into<Arc<Value>>> FromIterator<(K, V)> for StateDelta {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let mut delta = Self::default();
        for (key, value) in pairs {
            delta.insert(key, value);
        }
        delta
    }
}

impl Deref for Actions {
    type Target = RareActions;
    #[inline]
    fn deref(&self) -> &RareActions {
        static NONE: RareActions = RareActions {
            artifact_delta: Vec::new(),
            escalate: None,
            skip_summarization: None,
            transfer_to_agent: None,
            agent_state: None,
            end_of_agent: None,
            compaction: None,
        };
        self.rare.as_deref().unwrap_or(&NONE)
    }
}

impl DerefMut for Actions {
    fn deref_mut(&mut self) -> &mut RareActions {
        self.rare.get_or_insert_default()
    }
}

impl PartialEq for Actions {
    fn eq(&self, other: &Self) -> bool {
        self.state_delta == other.state_delta && **self == **other
    }
}

impl From<RareActions> for Actions {
    fn from(rare: RareActions) -> Self {
        let rare = (rare != RareActions::default()).then(|| Box::new(rare));
        Self {
            state_delta: StateDelta::default(),
            rare,
        }
    }
}

impl Actions {
    /// Returns true if no action is set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.state_delta.is_empty()
            && self
                .rare
                .as_deref()
                .is_none_or(|rare| *rare == RareActions::default())
    }

    /// Returns the state and the artifacts.
    pub fn into_deltas(self) -> (StateDelta, Vec<(Name, u32)>) {
        (
            self.state_delta,
            self.rare
                .map(|rare| rare.artifact_delta)
                .unwrap_or_default(),
        )
    }

    /// Returns true if the event ends a loop.
    #[inline]
    pub fn escalates(&self) -> bool {
        self.escalate == Some(true)
    }
}

impl Event {
    /// Creates an event without content.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the content to a text of the agent.
    #[must_use]
    pub fn with_text(self, text: impl Into<String>) -> Self {
        self.with_content(Content::model(text))
    }

    /// Sets the content.
    #[must_use]
    #[inline]
    pub fn with_content(mut self, content: Content) -> Self {
        self.content = Some(content);
        self
    }

    /// Sets a state key. The value is JSON already: the conversion of `f64::NAN` made it null,
    /// whereas `State::set` refuses NaN.
    #[must_use]
    pub fn with_state(mut self, key: impl Into<Name>, value: impl Into<Value>) -> Self {
        self.actions.state_delta.insert(key, Arc::new(value.into()));
        self
    }

    /// Ends the innermost loop once the agent has ended.
    #[must_use]
    pub fn with_escalate(mut self) -> Self {
        self.actions.escalate = Some(true);
        self
    }

    /// Adds metadata of the agent.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let details = self.details_mut();
        details.custom_metadata.insert(key.into(), value.into());
        self
    }

    /// Returns the keys that a block has made unwritten again.
    pub fn unwritten(&self) -> Vec<&str> {
        let keys = self.metadata(UNWRITTEN_KEY).and_then(Value::as_array);
        keys.into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    /// Returns metadata of the agent, or of the runtime, such as [`COST_KEY`].
    pub fn metadata(&self, key: &str) -> Option<&Value> {
        self.details.as_ref()?.custom_metadata.get(key)
    }

    /// Returns the details, which are created if the event has none.
    pub fn details_mut(&mut self) -> &mut Details {
        self.details.get_or_insert_default()
    }

    /// Returns the time of the commit.
    pub fn time(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_micros(self.timestamp)
    }

    /// Refuses a value that is nested deeper than [`MAX_DEPTH`](adk_model::MAX_DEPTH). Each commit
    /// calls it, and a store calls it before it appends events from outside of a run.
    ///
    /// # Errors
    /// [`ErrorKind::TooDeep`](crate::ErrorKind::TooDeep), with the key or the tool.
    pub fn check_depth(&self) -> Result<()> {
        self.actions.state_delta.check_depth()?;
        self.content.as_ref().map_or(Ok(()), check_parts)?;
        if let Some(summary) = &self.actions.compaction {
            check_parts(&summary.content)?;
        }
        if let Some(state) = &self.actions.agent_state {
            depth::check(state).map_err(|deep| deep.error("the agent state"))?;
        }
        let Some(details) = &self.details else {
            return Ok(());
        };
        for (key, value) in &details.custom_metadata {
            depth::check(value).map_err(|deep| deep.error(format_args!("the metadata `{key}`")))?;
        }
        if let Some(sources) = &details.grounding_metadata {
            depth::check(sources).map_err(|deep| deep.error("the grounding metadata"))?;
        }
        depth::check_record(&details.unknown)
            .map_err(|deep| deep.error("what another program has stored with the event"))
    }

    /// Returns the text of the content, without thoughts; empty if the event has no content.
    pub fn text(&self) -> String {
        self.content.as_ref().map(Content::text).unwrap_or_default()
    }

    /// Returns the calls that a model asks for.
    pub fn function_calls(&self) -> impl Iterator<Item = &FunctionCall> {
        self.content.iter().flat_map(Content::function_calls)
    }

    /// Returns the answers to calls.
    pub fn function_responses(&self) -> impl Iterator<Item = &FunctionResponse> {
        self.content.iter().flat_map(Content::function_responses)
    }

    /// Returns the ids of calls whose answers come later.
    pub fn long_running_tool_ids(&self) -> &[String] {
        self.details
            .as_ref()
            .map_or(&[], |d| &d.long_running_tool_ids)
    }

    /// Returns the tokens of the model call that made this event.
    pub fn usage(&self) -> Option<&Usage> {
        self.details.as_ref()?.usage.as_ref()
    }

    /// Returns the round of the innermost loop, counted from 0: the value that the agent set,
    /// otherwise the round in the path.
    pub fn loop_iteration(&self) -> Option<u64> {
        let own = self
            .details
            .as_ref()
            .and_then(|d| d.custom_metadata.get(LOOP_ITERATION_KEY));
        match own {
            Some(value) => value.as_u64(),
            None => self.path.iteration().map(u64::from),
        }
    }

    /// Returns ADK's custom metadata, with the facts about the path that its text lacks: the loop
    /// iteration, unless the agent set one, and the order of branches.
    pub fn custom_metadata(&self) -> Map<String, Value> {
        let mut all = self
            .details
            .as_ref()
            .map(|d| d.custom_metadata.clone())
            .unwrap_or_default();
        if let (Some(round), false) = (self.path.iteration(), all.contains_key(LOOP_ITERATION_KEY))
        {
            all.insert(LOOP_ITERATION_KEY.into(), round.into());
        }
        let branches = self.path.branches();
        if !branches.is_empty() {
            let branches = branches
                .into_iter()
                .map(|(depth, branch)| (depth.to_string(), branch.into()));
            all.insert(BRANCH_ORDER_KEY.into(), Value::Object(branches.collect()));
        }
        all
    }

    /// Returns true if the event is the last answer of the agent in this turn: it has no open call,
    /// no answer that the model still has to see, and is not partial. An event with
    /// `skip_summarization`, with calls that run on, or with an error code is final too.
    pub fn is_final_response(&self) -> bool {
        if self.actions.skip_summarization == Some(true) || !self.long_running_tool_ids().is_empty()
        {
            return true;
        }
        let calls = self.function_calls().next().is_some();
        let failed = self
            .details
            .as_ref()
            .is_some_and(|d| d.error_code.is_some());
        if failed && !self.partial && !calls {
            return true;
        }
        !calls && self.function_responses().next().is_none() && !self.partial
    }
}

fn check_parts(content: &Content) -> Result<()> {
    for part in &content.parts {
        match part {
            Part::FunctionCall(call) => depth::check_object(&call.args).map_err(|deep| {
                deep.error(format_args!("an argument in the call of `{}`", call.name))
            })?,
            Part::FunctionResponse(answer) => {
                depth::check_response(&answer.response).map_err(|deep| {
                    deep.error(format_args!("the answer to a call of `{}`", answer.name))
                })?
            }
            Part::Other(part) => {
                depth::check_object(part).map_err(|deep| deep.error("a part of the content"))?;
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_small() {
        assert!(size_of::<Event>() <= 168, "{}", size_of::<Event>());
    }

    #[test]
    fn an_action_that_is_set_to_none_counts_as_unset() {
        let mut actions = Event::new().actions;
        actions.escalate = None;
        assert!(actions.is_empty() && actions == Actions::default());
        actions.escalate = Some(false);
        assert!(!actions.is_empty() && actions != Actions::default());
    }
}
