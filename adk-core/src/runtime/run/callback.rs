//! [`CallbackContext`]: the handle of a callback to its run.

use super::{
    Artifacts, CallCounts, CallStep, Caller, History, KeyScope, Overlay, Run, Services, State,
    ToolActions, UpdatedKeys, Updates, WriteRules, accessors, perform,
};
use crate::memory::MemoryEntry;
use crate::store::engine::{CallInputs, CallKind, StepKey};
use crate::{Content, Event, Name, Path, Result, depth};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
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
    run: Arc<Run>,
    scope: Option<Arc<KeyScope>>,
    agent: Name,
    path: Path,
    branch: Option<Arc<str>>,
    call_id: Option<String>,
    pub(crate) overlay: Overlay,
    pub(crate) steps: CallbackSteps,
    pub(crate) rules: WriteRules,
    /// The updated stored keys, and for a tool call their new values.
    pub(crate) updated: Vec<(Name, Value)>,
}

/// The form in which side effects of a callback are recorded.
#[derive(Clone, Debug)]
pub(crate) enum CallbackSteps {
    /// The callback's side effects are recorded calls of its agent, numbered by these counts.
    Numbered(CallCounts),
    /// As `Numbered`, but updates of state are refused for the given reason, because they have no
    /// slot.
    Unslotted(CallCounts, &'static str),
    /// The callback belongs to this tool call, which is recorded as a whole.
    Within(Arc<CallStep>),
    /// Side effects are not recorded, because a resumed run does not call the callback again.
    /// Updates of state are refused for the given reason.
    Unrecorded(&'static str),
}

/// The data from which the context of a callback is created.
pub(crate) struct CallbackPlace<'a> {
    pub(crate) run: &'a Arc<Run>,
    pub(crate) scope: &'a Option<Arc<KeyScope>>,
    pub(crate) agent: &'a Name,
    pub(crate) path: &'a Path,
    pub(crate) branch: &'a Option<Arc<str>>,
    pub(crate) call_id: Option<&'a str>,
    pub(crate) overlay: Overlay,
    pub(crate) actions: ToolActions,
    pub(crate) steps: CallbackSteps,
    pub(crate) rules: WriteRules,
}

accessors!(CallbackContext);

impl CallbackContext {
    pub(crate) fn new(place: CallbackPlace<'_>) -> Self {
        Self {
            actions: place.actions,
            run: place.run.clone(),
            scope: place.scope.clone(),
            agent: place.agent.clone(),
            path: place.path.clone(),
            branch: place.branch.clone(),
            call_id: place.call_id.map(str::to_owned),
            overlay: place.overlay,
            steps: place.steps,
            rules: place.rules,
            updated: Vec::new(),
        }
    }

    /// Refuses updates of state for the reason `why`, because no slot can record them.
    pub(crate) fn refuse_updates(&mut self, why: &'static str) {
        if let CallbackSteps::Numbered(calls) = &mut self.steps {
            self.steps = CallbackSteps::Unslotted(std::mem::take(calls), why);
        }
    }

    /// Takes the call numbers of the agent, which include the calls of this callback.
    pub(crate) fn take_calls(&mut self) -> Option<CallCounts> {
        match &mut self.steps {
            CallbackSteps::Numbered(calls) | CallbackSteps::Unslotted(calls, _) => {
                Some(std::mem::take(calls))
            }
            CallbackSteps::Within(_) | CallbackSteps::Unrecorded(_) => None,
        }
    }

    pub(crate) fn services(&self) -> Arc<Services> {
        self.run.services.clone()
    }

    /// Returns the name of the agent or block of the callback, which is the author of its events.
    pub fn agent_name(&self) -> &str {
        &self.agent
    }

    /// Returns the path of the agent or block in the tree, with rounds.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the id of the tool call of the callback.
    pub fn call_id(&self) -> Option<&str> {
        self.call_id.as_deref()
    }

    /// Returns the state.
    pub fn state(&mut self) -> State<'_> {
        let by = Caller {
            agent: &self.agent,
            path: &self.path,
            branch: &self.branch,
        };
        let updates = match &mut self.steps {
            CallbackSteps::Unslotted(_, why) | CallbackSteps::Unrecorded(why) => {
                Updates::Refused(why)
            }
            CallbackSteps::Numbered(calls) => Updates::Agent {
                by,
                calls,
                written: UpdatedKeys::ByCallback(&mut self.updated),
            },
            CallbackSteps::Within(step) => Updates::Call {
                by,
                step,
                updated: &mut self.updated,
            },
        };
        State {
            run: &self.run,
            scope: self.scope.as_deref(),
            overlay: &mut self.overlay,
            updates,
            writer: self.rules.callback(&self.path),
            refused: None,
        }
    }

    /// Returns the artifacts of the session.
    pub fn artifacts(&mut self) -> Artifacts<'_> {
        let calls = match &mut self.steps {
            CallbackSteps::Numbered(calls) | CallbackSteps::Unslotted(calls, _) => {
                Some((&self.path, calls))
            }
            CallbackSteps::Within(_) | CallbackSteps::Unrecorded(_) => None,
        };
        Artifacts {
            run: &self.run,
            overlay: &mut self.overlay,
            calls,
        }
    }

    /// Searches earlier sessions of the user for content that matches a query, best first: ADK's
    /// `search_memory`. The search is a recorded [`step`](Self::step).
    ///
    /// # Errors
    /// [`ErrorKind::NoMemoryService`](crate::ErrorKind::NoMemoryService), or when the service
    /// fails.
    pub async fn search_memory(&mut self, query: &str) -> Result<Vec<MemoryEntry>> {
        let work = self.run.search_memory(query);
        self.record_step(
            CallKind::Memory,
            Name::literal("memory"),
            CallInputs::new(&query),
            work,
        )
        .await
    }

    /// Returns the last message of the user with text in this run: ADK's `user_content`. `None` if
    /// the run has no such message.
    pub fn user_content(&self) -> Option<Content> {
        let history = History::new(self.run.session().clone(), self.branch.clone());
        let said =
            |event: &&Arc<Event>| event.invocation_id == self.run.id() && event.author == "user";
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
        self.record_step(CallKind::Callback, name.into(), CallInputs::default(), work)
            .await
    }

    async fn record_step<T, W>(
        &mut self,
        kind: CallKind,
        name: Name,
        inputs: CallInputs,
        work: W,
    ) -> Result<T>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        W: Future<Output = Result<T>> + Send + 'static,
    {
        let (CallbackSteps::Numbered(calls) | CallbackSteps::Unslotted(calls, _)) = &mut self.steps
        else {
            return work.await;
        };
        let index = calls.take(kind, &name);
        let key = StepKey::new(self.run.id(), self.path.clone(), kind, name, index);
        perform(self.run.clone(), key, inputs, depth::check, work).await
    }
}

impl fmt::Debug for CallbackContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallbackContext({})", self.path)
    }
}
