//! [`ToolContext`]: the context of a tool call, an overlay over the state of the run.

use super::DynTool;
use crate::memory::MemoryEntry;
use crate::model::Usage;
use crate::runtime::resources::{NoResources, Resources, SharedResources};
use crate::runtime::run::{
    Artifacts, CallPlace, CallStep, CallbackContext, CallbackPlace, CallbackSteps, Context,
    KeyScope, Meter, Overlay, Run, State, ToolActions, TraceSpan, Updates, WriteRules, Writer,
    WriterKind, accessors, is_update,
};
use crate::store::engine::CallKind;
use crate::store::event::{Event, StateDelta};
use crate::{At, Error, FunctionCall, Name, Path, Result, secret};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// Context of a tool call. It owns its data, so a call may run on any thread. A call reads its own
/// writes, but not the writes of concurrent calls.
pub struct ToolContext {
    /// Actions that the call requests from the agent and the workflow.
    pub actions: ToolActions,
    run: Arc<Run>,
    scope: Option<Arc<KeyScope>>,
    place: CallPlace,
    called: CalledTool,
    /// Error that ends the run: a write that the tool must not make, or an error that a model
    /// cannot correct.
    refused: Option<Error>,
    overlay: Overlay,
    /// Updated stored keys with their new values, one entry per update.
    updated: Vec<(Name, Value)>,
    /// Usage of the model calls of inner agents.
    usage: Usage,
    /// Answers to the questions of this call.
    answers: Vec<Value>,
    /// Name under which the calls of an inner agent are recorded, if they are recorded
    /// individually.
    records_under: Option<Name>,
    /// Span of the call while it is executed, otherwise the span of the calling agent.
    pub(crate) trace: Option<Arc<TraceSpan>>,
}

/// Request of a call, and the writes that it may make.
#[derive(Clone)]
struct CalledTool {
    call: Arc<FunctionCall>,
    /// Called tool, which announces the keys that it writes.
    tool: Option<Arc<dyn DynTool>>,
    rules: WriteRules,
    unchecked: bool,
}

/// Effects of a finished call, recorded with its result.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct ToolRecord {
    /// Requested actions.
    pub actions: ToolActions,
    /// Written values by stored key.
    pub state_delta: crate::StateDelta,
    /// Updated stored keys with their new values, one entry per update. The updates are already
    /// written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub updated: Vec<(Name, Value)>,
    /// Saved files with their versions.
    pub artifact_delta: Vec<(Name, u32)>,
    /// Usage of the model calls of an agent that is the tool.
    #[serde(default, skip_serializing_if = "Usage::is_nothing")]
    pub usage: Usage,
}

accessors!(ToolContext);

impl ToolContext {
    /// Creates the context of a call by the current agent.
    pub(crate) fn new(
        cx: &Context,
        call: Arc<FunctionCall>,
        step: Arc<CallStep>,
        tool: Option<&Arc<dyn DynTool>>,
    ) -> Self {
        Self {
            actions: ToolActions::default(),
            run: cx.run.clone(),
            scope: cx.around.scope.clone(),
            place: CallPlace {
                agent: cx.author().clone(),
                path: cx.path().clone(),
                branch: cx.branch_shared().clone(),
                step,
            },
            called: CalledTool {
                call,
                tool: tool.cloned(),
                rules: cx.write_rules(),
                unchecked: cx.around.unchecked,
            },
            refused: None,
            overlay: Overlay::default(),
            updated: Vec::new(),
            usage: Usage::default(),
            answers: Vec::new(),
            records_under: None,
            trace: cx.trace.clone(),
        }
    }

    /// Returns whether the tool made a write that it must not make.
    pub(crate) fn is_refused(&self) -> bool {
        self.refused.is_some()
    }

    /// Ends the run with an error, regardless of the result of the call.
    pub(crate) fn refuse(&mut self, error: Error) {
        self.refused.get_or_insert(error);
    }

    /// Returns the error that ends the run, even if the tool ignored it.
    pub(crate) fn take_refusal(&mut self) -> Result<()> {
        self.refused.take().map_or(Ok(()), Err)
    }

    /// Sets the name under which the calls of an inner agent are recorded.
    pub(crate) fn record_under(&mut self, call: Name) {
        self.records_under = Some(call);
    }

    pub(crate) fn into_record(self) -> ToolRecord {
        let (state_delta, artifact_delta) = self.overlay.into_deltas();
        ToolRecord {
            actions: self.actions,
            state_delta,
            updated: self.updated,
            artifact_delta,
            usage: self.usage,
        }
    }

    /// Continues a call with the effects of its earlier part, and with the answers to its
    /// questions.
    pub(crate) fn resume(&mut self, left: ToolRecord, answers: Vec<Value>) {
        self.answers = answers;
        // Updates are recorded with the earlier part and already written.
        let ToolRecord {
            actions,
            state_delta,
            updated: _,
            artifact_delta,
            usage,
        } = left;
        (self.actions, self.usage) = (actions, usage);
        self.overlay.state_delta = state_delta;
        if !artifact_delta.is_empty() {
            self.overlay.artifact_delta = artifact_delta;
        }
    }

    /// Creates a context for the test of a tool: an in-memory run without models.
    ///
    /// ```
    /// # use adk_core as adk;
    /// use adk::ToolContext;
    /// let mut cx = ToolContext::for_tests();
    /// cx.state().set("city", "Bern")?;
    /// assert_eq!(cx.state().get::<String>("city")?.as_deref(), Some("Bern"));
    /// # Ok::<(), adk::Error>(())
    /// ```
    pub fn for_tests() -> Self {
        Self::for_tests_with(NoResources)
    }

    /// Creates a context for the test of a tool, with resources.
    pub fn for_tests_with(resources: impl Resources) -> Self {
        let run = Run::for_tests(SharedResources::new(resources));
        let cx = Context::root(Arc::new(run), Path::root("test"));
        let call = FunctionCall {
            id: "call_1".to_owned(),
            ..FunctionCall::default()
        };
        Self::new(
            &cx,
            Arc::new(call),
            CallStep::next(&cx, CallKind::Tool, &"test".into(), None),
            None,
        )
    }

    /// Creates the context of an agent that is used as a tool. The agent has its own run, below the
    /// caller, which begins with the state that this call sees, including writes of earlier calls.
    pub(crate) fn inner_context(&self, name: Name) -> Context {
        let mut delta = self.place.step.seen.clone();
        delta.extend(self.overlay.state_delta.clone());
        let call_name = self.records_under.clone();
        let run = Run::nested(&self.run, &delta, call_name, self.place.clone());
        let scope = self.scope.as_ref().map(KeyScope::fork);
        if let Some(scope) = &scope {
            delta.iter().for_each(|(key, _)| scope.mark_written(key));
        }
        let mut inner =
            Context::nested_root(Arc::new(run), self.place.path.child(name, At::Once), scope);
        inner.around.unchecked = self.called.unchecked;
        inner.trace = self.trace.clone();
        inner.around.meter = self.place.step.meter.as_ref().map(Meter::for_tool);
        inner
    }

    /// Adds the usage of an inner agent, even if the agent failed. The usage counts for the call,
    /// and is recorded for resumed runs.
    pub(crate) fn add_usage(&mut self, usage: Usage) {
        self.usage += usage;
    }

    /// Adds the changes in an event of an inner agent to this call. The keys of the event are
    /// stored keys.
    pub(crate) fn forward(&mut self, event: &Event, run: &Run) {
        if is_update(event) {
            // The update is already written.
            let delta = event.actions.state_delta.iter();
            self.updated
                .extend(delta.map(|(key, value)| (key.clone(), Value::clone(value))));
            return;
        }
        for (key, value) in event.actions.state_delta.iter() {
            // An event contains only the name of a secret, so the value is read from the inner run.
            let secret = secret::kept_name(key, value).and_then(|_| run.get(key));
            self.overlay
                .state_delta
                .insert(key.clone(), secret.unwrap_or_else(|| value.clone()));
        }
        for (name, version) in &event.actions.artifact_delta {
            self.overlay
                .artifact_delta
                .retain(|(other, _)| other != name);
            self.overlay.artifact_delta.push((name.clone(), *version));
        }
    }

    /// Adds the `temp:` keys that an inner agent wrote, which events do not contain. `before` holds
    /// their earlier values. A write of an equal value also counts: it replaces the write of an
    /// earlier call of the same reply.
    pub(crate) fn forward_temps(&mut self, before: &StateDelta, run: &Run) {
        let is_old = |key: &str, value: &Arc<Value>| {
            before.get(key).is_some_and(|old| Arc::ptr_eq(old, value))
        };
        let written = run
            .temp_keys()
            .into_iter()
            .filter(|(key, value)| !is_old(key, value));
        self.overlay
            .state_delta
            .extend(written.collect::<StateDelta>());
    }

    /// Creates the context of a callback of this call and moves the effects of the call into it;
    /// [`give_back`](Self::give_back) returns them.
    pub(crate) fn callback(&mut self) -> CallbackContext {
        let mut cx = CallbackContext::new(CallbackPlace {
            run: &self.run,
            scope: &self.scope,
            agent: &self.place.agent,
            path: &self.place.path,
            branch: &self.place.branch,
            call_id: Some(&self.called.call.id),
            overlay: std::mem::take(&mut self.overlay),
            actions: std::mem::take(&mut self.actions),
            steps: CallbackSteps::Within(self.place.step.clone()),
            rules: self.called.rules.clone(),
        });
        cx.updated = std::mem::take(&mut self.updated);
        cx
    }

    /// Takes the effects of the call back from the context of a callback.
    pub(crate) fn give_back(&mut self, cx: CallbackContext) {
        (self.overlay, self.actions, self.updated) = (cx.overlay, cx.actions, cx.updated);
    }

    /// Returns the writes and actions up to now, for [`rewind`](Self::rewind).
    pub(crate) fn mark(&self) -> (StateDelta, ToolActions) {
        (self.overlay.state_delta.clone(), self.actions.clone())
    }

    /// Discards writes and actions since the mark. Files are already stored, so they are still
    /// reported.
    pub(crate) fn rewind(&mut self, mark: (StateDelta, ToolActions)) {
        (self.overlay.state_delta, self.actions) = mark;
    }

    /// Creates a copy for work on another thread. The copy replaces this context when it returns.
    pub(crate) fn copy(&self) -> Self {
        Self {
            actions: self.actions.clone(),
            run: self.run.clone(),
            scope: self.scope.clone(),
            place: self.place.clone(),
            called: self.called.clone(),
            refused: None,
            overlay: self.overlay.clone(),
            updated: self.updated.clone(),
            usage: self.usage,
            answers: self.answers.clone(),
            records_under: self.records_under.clone(),
            trace: self.trace.clone(),
        }
    }

    /// Returns the name of the calling agent.
    pub fn agent_name(&self) -> &str {
        &self.place.agent
    }

    /// Returns the path of the calling agent, with rounds.
    pub fn path(&self) -> &Path {
        &self.place.path
    }

    pub(crate) fn resources(&self) -> &SharedResources {
        &self.run.services.resources
    }

    /// Returns the id of this call. A resumed run has the same id.
    pub fn call_id(&self) -> &str {
        &self.called.call.id
    }

    /// Returns whether the run can wait for an answer to
    /// [`ToolError::asks`](crate::ToolError::asks): the run is recorded, and the agent is not a
    /// tool of another agent.
    pub fn may_ask(&self) -> bool {
        self.run.engine.waits().is_some()
    }

    /// Returns the answers to the questions of this call so far, in the order of the
    /// [questions](crate::ToolError::asks). A resumed run has the same answers.
    pub fn answers(&self) -> &[Value] {
        &self.answers
    }

    /// Returns the state. Values that are set here are committed with the response event.
    pub fn state(&mut self) -> State<'_> {
        let updates = Updates::Call {
            by: self.place.caller(),
            step: &self.place.step,
            updated: &mut self.updated,
        };
        let CalledTool { tool, rules, .. } = &self.called;
        let tool = tool.as_ref().filter(|_| rules.is_checked);
        State {
            run: &self.run,
            scope: self.scope.as_deref(),
            overlay: &mut self.overlay,
            updates,
            writer: Writer {
                by: tool.map_or(WriterKind::Anyone, |tool| WriterKind::Tool(tool.meta())),
                path: &self.place.path,
            },
            refused: Some(&mut self.refused),
        }
    }

    /// Searches earlier sessions of the user for entries that match a query, best first: ADK's
    /// `search_memory`. The result is recorded with the call.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::NoMemoryService`](crate::ErrorKind::NoMemoryService), or when the
    /// service fails.
    pub async fn search_memory(&mut self, query: &str) -> Result<Vec<MemoryEntry>> {
        self.run.search_memory(query).await
    }

    /// Returns the artifacts of the session.
    pub fn artifacts(&mut self) -> Artifacts<'_> {
        Artifacts {
            run: &self.run,
            overlay: &mut self.overlay,
            calls: None,
        }
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ToolContext({}, call {})",
            self.place.path, self.called.call.id
        )
    }
}
