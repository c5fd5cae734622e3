//! What a callback works with.

use super::memory::MemoryEntry;
use super::{
    Artifacts, CallCounts, CallStep, Caller, History, KeyScope, Overlay, Run, Services, State, ToolActions,
    Updates, WriteRules, Written, accessors, perform,
};
use crate::store::engine::{CallInputs, CallKind, StepKey};
use crate::{Content, Event, Name, Path, Result, depth};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// What a callback or a plugin works with: ADK's `CallbackContext`.
///
/// What is set in [`state`](Self::state) is committed with the event that comes next: that of the callback's own
/// content, the model's answer, or the answer of the tool. A callback of an agent that only sets state has an event of
/// its own.
pub struct CallbackContext {
    /// What the workflow is asked to do. It goes with the event of the callback: without content and without a change
    /// of the state there is none, and nothing is asked for (as in ADK).
    ///
    /// An exit has to be announced by the agent, as every exit: a callback cannot do it.
    pub actions: ToolActions,
    run: Arc<Run>,
    scope: Option<Arc<KeyScope>>,
    agent: Name,
    path: Path,
    branch: Option<Arc<str>>,
    call_id: Option<String>,
    pub(crate) overlay: Overlay,
    pub(crate) steps: Steps,
    pub(crate) rules: WriteRules,
    /// The stored keys that were updated, and for a tool call what came of it.
    pub(crate) updated: Vec<(Name, Value)>,
}

/// How side effects of a callback are recorded.
#[derive(Clone, Debug)]
pub(crate) enum Steps {
    /// As calls of the agent, which are numbered with these.
    Numbered(CallCounts),
    /// The same, and updates of state are refused for this reason: there is no slot for them.
    Unslotted(CallCounts, &'static str),
    /// Together with the call that the callback is a part of.
    Within(Arc<CallStep>),
}

/// Where a callback is called: what its context is made of.
pub(crate) struct Place<'a> {
    pub(crate) run: &'a Arc<Run>,
    pub(crate) scope: &'a Option<Arc<KeyScope>>,
    pub(crate) agent: &'a Name,
    pub(crate) path: &'a Path,
    pub(crate) branch: &'a Option<Arc<str>>,
    pub(crate) call_id: Option<&'a str>,
    pub(crate) overlay: Overlay,
    pub(crate) actions: ToolActions,
    pub(crate) steps: Steps,
    pub(crate) rules: WriteRules,
}

accessors!(CallbackContext);

impl CallbackContext {
    pub(crate) fn new(place: Place<'_>) -> Self {
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

    /// Refuses updates of state, since there is nothing that they could be recorded under.
    pub(crate) fn refuse_updates(&mut self, why: &'static str) {
        if let Steps::Numbered(calls) = &mut self.steps {
            self.steps = Steps::Unslotted(std::mem::take(calls), why);
        }
    }

    /// The calls of the agent, this callback's included.
    pub(crate) fn take_calls(&mut self) -> Option<CallCounts> {
        match &mut self.steps {
            Steps::Numbered(calls) | Steps::Unslotted(calls, _) => Some(std::mem::take(calls)),
            Steps::Within(_) => None,
        }
    }

    pub(crate) fn services(&self) -> Arc<Services> {
        self.run.services.clone()
    }

    /// The name of the agent or block that it is called for: the author of its events.
    pub fn agent_name(&self) -> &str {
        &self.agent
    }

    /// The path of that in the tree, with rounds.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The id of the tool call that it is called for.
    pub fn call_id(&self) -> Option<&str> {
        self.call_id.as_deref()
    }

    /// The state.
    pub fn state(&mut self) -> State<'_> {
        let by = Caller { agent: &self.agent, path: &self.path, branch: &self.branch };
        let updates = match &mut self.steps {
            Steps::Unslotted(_, why) => Updates::Refused(why),
            Steps::Numbered(calls) => {
                Updates::Agent { by, calls, written: Written::ByCallback(&mut self.updated) }
            }
            Steps::Within(step) => Updates::Call { by, step, updated: &mut self.updated },
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

    /// The artifacts of the session.
    pub fn artifacts(&mut self) -> Artifacts<'_> {
        let calls = match &mut self.steps {
            Steps::Numbered(calls) | Steps::Unslotted(calls, _) => Some((&self.path, calls)),
            Steps::Within(_) => None,
        };
        Artifacts { run: &self.run, overlay: &mut self.overlay, calls }
    }

    /// What was said in earlier sessions of the user that has to do with a query, best first: ADK's `search_memory`. A recorded
    /// [`step`](Self::step).
    ///
    /// # Errors
    /// [`ErrorKind::NoMemoryService`](crate::ErrorKind::NoMemoryService), or when the service fails.
    pub async fn search_memory(&mut self, query: &str) -> Result<Vec<MemoryEntry>> {
        let work = self.run.search_memory(query);
        self.recorded(CallKind::Memory, Name::literal("memory"), CallInputs::new(&query), work).await
    }

    /// What the user said last in this run: ADK's `user_content`. `None` when that was no text.
    pub fn user_content(&self) -> Option<Content> {
        let history = History::new(self.run.session().clone(), self.branch.clone());
        let said = |event: &&Arc<Event>| event.invocation_id == self.run.id && event.author == "user";
        let mut said = history.iter().rev().filter(said).filter_map(|event| event.content.as_ref());
        said.find(|content| !content.text().trim().is_empty()).cloned()
    }

    /// A side effect: done once, recorded, and answered from the record when the run is taken up again. In a callback of
    /// a tool, which is recorded as a whole, the work is simply done.
    ///
    /// # Errors
    /// The error of the work; see [`Context::step`](crate::Context::step).
    pub async fn step<T, W>(&mut self, name: impl Into<Name> + Send, work: W) -> Result<T>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        W: Future<Output = Result<T>> + Send + 'static,
    {
        self.recorded(CallKind::Callback, name.into(), CallInputs::default(), work).await
    }

    async fn recorded<T, W>(&mut self, kind: CallKind, name: Name, inputs: CallInputs, work: W) -> Result<T>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        W: Future<Output = Result<T>> + Send + 'static,
    {
        let (Steps::Numbered(calls) | Steps::Unslotted(calls, _)) = &mut self.steps else {
            return work.await;
        };
        let index = calls.take(kind, &name);
        let key = StepKey::new(self.run.id, self.path.clone(), kind, name, index);
        perform(self.run.clone(), key, inputs, depth::check, work).await
    }
}

impl fmt::Debug for CallbackContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallbackContext({})", self.path)
    }
}
