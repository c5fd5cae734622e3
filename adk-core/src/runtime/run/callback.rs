//! [`CallbackContext`]: the handle of a callback to its run.

use super::{Artifacts, Effects, History, Marks, Records, Services, State, ToolActions, accessors};
use crate::memory::MemoryEntry;
use crate::store::engine::{CallInputs, CallKind};
use crate::{Content, Event, FunctionCall, Name, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::sync::Arc;

/// The handle of a callback or a plugin to its run: ADK's `CallbackContext`.
///
/// Keys that are set in [`state`](Self::state) are committed with the next event: that of the
/// content of the callback, the model's answer, or the answer of the tool. A callback of an agent
/// that only sets state gets an event of its own.
pub struct CallbackContext {
    /// Requests to the workflow. They are part of the event of the callback. A callback without
    /// content and without a change of the state has no event, so its requests are dropped, as in
    /// ADK.
    ///
    /// An exit must be announced by the agent, because a callback cannot announce it.
    pub actions: ToolActions,
    pub(crate) effects: Effects,
    call: Option<Arc<FunctionCall>>,
}

accessors!(
    CallbackContext,
    self => self.effects.run, &self.effects.by.agent, &self.effects.by.path
);

impl CallbackContext {
    /// Creates the context of a callback, for a callback of a tool with its call.
    pub(crate) fn new(
        actions: ToolActions,
        effects: Effects,
        call: Option<&Arc<FunctionCall>>,
    ) -> Self {
        Self {
            actions,
            effects,
            call: call.cloned(),
        }
    }

    /// Refuses updates of state for the reason `why`, because no slot can record them.
    pub(crate) fn refuse_updates(&mut self, why: &'static str) {
        if let Records::Numbered(_, refusal) = &mut self.effects.records {
            *refusal = Some(why);
        }
    }

    pub(crate) fn services(&self) -> Arc<Services> {
        self.effects.run.services.clone()
    }

    /// Returns the id of the tool call of the callback.
    pub fn call_id(&self) -> Option<&str> {
        self.call.as_ref().map(|call| &*call.id)
    }

    /// Returns the state.
    pub fn state(&mut self) -> State<'_> {
        self.effects.state(None)
    }

    /// Returns the artifacts of the session.
    pub fn artifacts(&mut self) -> Artifacts<'_> {
        self.effects.artifacts()
    }

    /// Searches earlier sessions of the user for content that matches a query, best first: ADK's
    /// `search_memory`. The search is a recorded [`step`](Self::step).
    ///
    /// # Errors
    /// [`ErrorKind::NoMemoryService`](crate::ErrorKind::NoMemoryService), or when the service
    /// fails.
    pub async fn search_memory(&mut self, query: &str) -> Result<Vec<MemoryEntry>> {
        self.effects.search_memory(query).await
    }

    /// Returns the last message of the user with text in this run: ADK's `user_content`. `None` if
    /// the run has no such message.
    pub fn user_content(&self) -> Option<Content> {
        let Effects { run, by, marks, .. } = &self.effects;
        if let Some(cell) = marks {
            cell.join(Marks::of_key("", None, run));
        }
        let history = History::new(run.session().clone(), by.branch.clone());
        let said = |event: &&Arc<Event>| event.invocation_id == run.id() && event.author == "user";
        let mut said = history
            .iter()
            .rev()
            .filter(said)
            .filter_map(|event| event.content.as_ref());
        said.find(|content| !content.text().trim().is_empty())
            .cloned()
    }

    /// Does a side effect once, and records its result. When the run is resumed, the record answers
    /// the call. In a callback of a tool call, which is recorded as a whole, the work has no record
    /// of its own.
    ///
    /// # Errors
    /// The error of the work; see [`Context::step`](crate::Context::step).
    pub async fn step<T, W>(&mut self, name: impl Into<Name> + Send, work: W) -> Result<T>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        W: Future<Output = Result<T>> + Send + 'static,
    {
        let (kind, name) = (CallKind::Callback, name.into());
        self.effects
            .record(kind, name, CallInputs::default(), work)
            .await
    }
}

impl fmt::Debug for CallbackContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallbackContext({})", self.path())
    }
}
