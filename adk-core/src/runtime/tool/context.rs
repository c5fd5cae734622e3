//! [`ToolContext`]: the context of a tool call, an overlay over the state of the run.

use super::DynTool;
use crate::memory::MemoryEntry;
use crate::model::UsageByAgent;
use crate::runtime::resources::{NoResources, Resources, SharedResources};
use crate::runtime::run::{
    Artifacts, CallStep, CallbackContext, Context, Effects, KeyScope, MarkCell, Marks, Meter,
    Overlay, Records, Run, State, ToolActions, TraceSpan, WriterKind, accessors, is_update,
};
use crate::store::engine::CallKind;
use crate::store::event::{Event, StateDelta};
use crate::store::session::{PRIVATE_MARK, UNTRUSTED_MARK, marked_key};
use crate::{At, Error, FunctionCall, Name, Path, Result, secret};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// Context of a tool call. It owns its data, so a call may run on any thread. A call reads its own
/// writes, but not the writes of concurrent calls.
pub struct ToolContext {
    /// Actions that the call requests from the agent and the workflow.
    pub actions: ToolActions,
    effects: Effects,
    called: CalledTool,
    /// Error that ends the run: a write that the tool must not make, or an error that a model
    /// cannot correct.
    refused: Option<Error>,
    /// Usage of the model calls of inner agents.
    usage: UsageByAgent,
    /// Answers to the questions of this call.
    answers: Vec<Value>,
    /// Name under which the calls of an inner agent are recorded, if they are recorded
    /// individually.
    records_under: Option<Name>,
    /// Span of the call while it is executed, otherwise the span of the calling agent.
    pub(crate) trace: Option<Arc<TraceSpan>>,
}

/// Call with its tool.
#[derive(Clone)]
struct CalledTool {
    call: Arc<FunctionCall>,
    step: Arc<CallStep>,
    /// Called tool, which announces the keys that it writes.
    tool: Option<Arc<dyn DynTool>>,
    unchecked: bool,
}

/// Effects of a finished call, recorded with its result.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ToolRecord {
    /// Requested actions.
    pub actions: ToolActions,
    /// Written values by stored key.
    pub state_delta: crate::StateDelta,
    /// Updated stored keys with their new values, one entry per update. The updates are already
    /// written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub updated: Vec<(Name, Value)>,
    /// Saved files with their versions.
    pub artifact_delta: Vec<(Name, u32)>,
    /// Usage of the model calls of an agent that is the tool.
    #[serde(skip_serializing_if = "UsageByAgent::is_nothing")]
    pub usage: UsageByAgent,
    /// What the call and its agent have read, in a workflow with guards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) marks: Option<Box<Marks>>,
}

impl ToolRecord {
    pub(crate) fn marks(&self) -> Marks {
        self.marks.as_deref().cloned().unwrap_or_default()
    }
}

accessors!(ToolContext, self => self.effects.run, &self.effects.by.agent, &self.effects.by.path);

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
            effects: Effects {
                marks: cx.cell().map(|cell| MarkCell::new(cell.marks())),
                ..cx.effects(Overlay::default(), Records::Within(step.clone()))
            },
            called: CalledTool {
                call,
                step,
                tool: tool.cloned(),
                unchecked: cx.around.unchecked,
            },
            refused: None,
            usage: UsageByAgent::default(),
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
        let marks = self.effects.marks.as_ref().map(|cell| cell.marks());
        let marks = marks.filter(|marks| !marks.is_none()).map(Box::new);
        let (state_delta, artifact_delta) = self.effects.overlay.into_deltas();
        ToolRecord {
            actions: self.actions,
            state_delta,
            updated: self.effects.updated,
            artifact_delta,
            usage: self.usage,
            marks,
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
            marks,
        } = left;
        (self.actions, self.usage) = (actions, usage);
        if let Some(marks) = marks {
            self.note_marks(*marks);
        }
        let overlay = &mut self.effects.overlay;
        overlay.state_delta = state_delta;
        if !artifact_delta.is_empty() {
            overlay.artifact_delta = artifact_delta;
        }
    }

    /// Returns the marks of what the call and its agent have read.
    pub(crate) fn marks(&self) -> Marks {
        let cell = self.effects.marks.as_ref();
        cell.map_or(Marks::NONE, |cell| cell.marks())
    }

    /// Adds the marks of something that a callback has made, see [`Context::note_callback`].
    pub(crate) fn note_callback(&self) {
        if let (Some(cell), Some(rules)) = (&self.effects.marks, self.effects.run.guard_rules()) {
            cell.join(rules.of_unlabelled("a callback"));
        }
    }

    /// Returns whether what callbacks add counts as text of strangers.
    pub(crate) fn is_strict(&self) -> bool {
        self.effects
            .run
            .guard_rules()
            .is_some_and(|rules| rules.strict)
    }

    /// Adds the marks of something that the call has read.
    pub(crate) fn note_marks(&mut self, marks: Marks) {
        if let Some(cell) = &self.effects.marks {
            cell.join(marks);
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
        let Effects {
            run,
            scope,
            by,
            overlay,
            ..
        } = &self.effects;
        let step = &self.called.step;
        let mut delta = step.seen.clone();
        delta.extend(overlay.state_delta.clone());
        let call_name = self.records_under.clone();
        let run = Run::nested(run, &delta, call_name, (by.clone(), step.clone()));
        let scope = scope.as_ref().map(KeyScope::fork);
        if let Some(scope) = &scope {
            delta.iter().for_each(|(key, _)| scope.mark_written(key));
        }
        let path = by.path.child(name, At::Once);
        let mut inner = Context::nested_root(Arc::new(run), path, scope);
        inner.around.unchecked = self.called.unchecked;
        inner.trace = self.trace.clone();
        if self.effects.marks.is_some() {
            // The agent does not see the conversation of its caller.
            inner.run.preset(UNTRUSTED_MARK, Value::Null);
            inner.run.preset(PRIVATE_MARK, Value::Null);
        }
        inner.around.meter = step.meter.as_ref().map(Meter::for_tool);
        inner
    }

    /// Adds the usage of an inner agent, even if the agent failed. The usage counts for the call,
    /// and is recorded for resumed runs.
    pub(crate) fn add_usage(&mut self, usage: &UsageByAgent) {
        self.usage += usage;
    }

    /// Adds the changes in an event of an inner agent to this call. The keys of the event are
    /// stored keys.
    pub(crate) fn forward(&mut self, event: &Event, run: &Run) {
        if is_update(event) {
            // The update is already written.
            let delta = event.actions.state_delta.iter();
            let delta = delta.filter(|(key, _)| marked_key(key).is_none());
            self.effects
                .updated
                .extend(delta.map(|(key, value)| (key.clone(), Value::clone(value))));
            return;
        }
        let overlay = &mut self.effects.overlay;
        for (key, value) in event.actions.state_delta.iter() {
            // The conversation of the inner agent ends with the call.
            if marked_key(key) == Some("") {
                continue;
            }
            // An event contains only the name of a secret, so the value is read from the inner run.
            let secret = secret::kept_name(key, value).and_then(|_| run.get(key));
            overlay
                .state_delta
                .insert(key.clone(), secret.unwrap_or_else(|| value.clone()));
        }
        for (name, version) in &event.actions.artifact_delta {
            overlay.artifact_delta.retain(|(other, _)| other != name);
            overlay.artifact_delta.push((name.clone(), *version));
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
        self.effects
            .overlay
            .state_delta
            .extend(written.collect::<StateDelta>());
    }

    /// Creates the context of a callback of this call and moves the effects of the call into it;
    /// [`give_back`](Self::give_back) returns them.
    pub(crate) fn callback(&mut self) -> CallbackContext {
        let actions = std::mem::take(&mut self.actions);
        CallbackContext::new(actions, self.effects.take(), Some(&self.called.call))
    }

    /// Takes the effects of the call back from the context of a callback.
    pub(crate) fn give_back(&mut self, cx: CallbackContext) {
        (self.effects, self.actions) = (cx.effects, cx.actions);
    }

    /// Returns the writes and actions up to now, for [`rewind`](Self::rewind).
    pub(crate) fn mark(&self) -> (StateDelta, ToolActions) {
        let state_delta = self.effects.overlay.state_delta.clone();
        (state_delta, self.actions.clone())
    }

    /// Discards writes and actions since the mark. Files are already stored, so they are still
    /// reported.
    pub(crate) fn rewind(&mut self, mark: (StateDelta, ToolActions)) {
        (self.effects.overlay.state_delta, self.actions) = mark;
    }

    /// Creates a copy for work on another thread. The copy replaces this context when it returns.
    pub(crate) fn copy(&self) -> Self {
        Self {
            actions: self.actions.clone(),
            effects: self.effects.clone(),
            called: self.called.clone(),
            refused: None,
            usage: self.usage.clone(),
            answers: self.answers.clone(),
            records_under: self.records_under.clone(),
            trace: self.trace.clone(),
        }
    }

    pub(crate) fn resources(&self) -> &SharedResources {
        &self.effects.run.services.resources
    }

    /// Returns the id of this call. A resumed run has the same id.
    pub fn call_id(&self) -> &str {
        &self.called.call.id
    }

    /// Returns whether the run can wait for an answer to
    /// [`ToolError::asks`](crate::ToolError::asks): the run is recorded, and the agent is not a
    /// tool of another agent.
    pub fn may_ask(&self) -> bool {
        self.effects.run.engine.waits().is_some()
    }

    /// Returns the answers to the questions of this call so far, in the order of the
    /// [questions](crate::ToolError::asks). A resumed run has the same answers.
    pub fn answers(&self) -> &[Value] {
        &self.answers
    }

    /// Returns the state. Values that are set here are committed with the response event.
    pub fn state(&mut self) -> State<'_> {
        let is_checked = self.effects.rules.is_checked;
        let tool = self.called.tool.as_ref().filter(|_| is_checked);
        let by = tool.map_or(WriterKind::Anyone, |tool| WriterKind::Tool(tool.meta()));
        self.effects.state(Some((by, &mut self.refused)))
    }

    /// Searches earlier sessions of the user for entries that match a query, best first: ADK's
    /// `search_memory`. The result is recorded with the call.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::NoMemoryService`](crate::ErrorKind::NoMemoryService), or when the
    /// service fails.
    pub async fn search_memory(&mut self, query: &str) -> Result<Vec<MemoryEntry>> {
        self.effects.search_memory(query).await
    }

    /// Returns the artifacts of the session.
    pub fn artifacts(&mut self) -> Artifacts<'_> {
        self.effects.artifacts()
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ToolContext({}, call {})", self.path(), self.call_id())
    }
}
