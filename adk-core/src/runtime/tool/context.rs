//! What a tool works with: an overlay of its own over the state of the run.

use super::DynTool;
use crate::models::model::Usage;
use crate::runtime::resources::{NoResources, Resources, SharedResources};
use crate::runtime::run::memory::MemoryEntry;
use crate::runtime::run::{
    Artifacts, CallPlace, CallStep, CallbackContext, Caller, Context, KeyScope, Meter, Overlay, Place, Run,
    State, Steps, ToolActions, TraceSpan, Updates, WriteRules, Writer, WriterKind, accessors, is_update,
};
use crate::store::engine::CallKind;
use crate::store::event::{Event, StateDelta};
use crate::{At, Error, FunctionCall, Name, Path, Result, secret};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// What a tool works with. It owns what it needs, so that a call may run anywhere; it reads its own writes and
/// not those of tools that run beside it.
pub struct ToolContext {
    /// What the call asks the agent and the workflow to do.
    pub actions: ToolActions,
    run: Arc<Run>,
    scope: Option<Arc<KeyScope>>,
    agent: Name,
    path: Path,
    branch: Option<Arc<str>>,
    call: Arc<FunctionCall>,
    step: Arc<CallStep>,
    /// The tool that is called, which says what it writes.
    tool: Option<Arc<dyn DynTool>>,
    rules: WriteRules,
    unchecked: bool,
    /// A write that the tool may not make, or an error that no model can do anything about.
    refused: Option<Error>,
    overlay: Overlay,
    /// The stored keys that were updated, each as often as it was, and what came of it.
    updated: Vec<(Name, Value)>,
    /// What the model calls of agents in it used.
    usage: Usage,
    /// What was answered to its questions.
    answers: Vec<Value>,
    /// What the calls of an agent in it are recorded under, where they are recorded one by one.
    records_under: Option<Name>,
    /// The span of the call while it is made, otherwise that of the agent that called.
    pub(crate) trace: Option<Arc<TraceSpan>>,
}

/// What is left of a call when it has ended: recorded with its result.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct ToolRecord {
    /// What it asked for.
    pub actions: ToolActions,
    /// The keys that it wrote, as stored keys.
    pub state_delta: crate::StateDelta,
    /// The stored keys that it updated, each as often as it did, and what came of it. They are written already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub updated: Vec<(Name, Value)>,
    /// The files that it saved.
    pub artifact_delta: Vec<(Name, u32)>,
    /// What the model calls of an agent used that is the tool.
    #[serde(default, skip_serializing_if = "Usage::is_nothing")]
    pub usage: Usage,
}

accessors!(ToolContext);

impl ToolContext {
    /// A context for a call by the agent that runs.
    pub(crate) fn new(
        cx: &Context,
        call: Arc<FunctionCall>,
        step: Arc<CallStep>,
        tool: Option<&Arc<dyn DynTool>>,
    ) -> Self {
        Self {
            actions: ToolActions::default(),
            run: cx.run.clone(),
            scope: cx.scope.clone(),
            agent: cx.author().clone(),
            path: cx.path().clone(),
            branch: cx.branch_shared().clone(),
            call,
            step,
            tool: tool.cloned(),
            rules: cx.write_rules(),
            unchecked: cx.unchecked,
            refused: None,
            overlay: Overlay::default(),
            updated: Vec::new(),
            usage: Usage::default(),
            answers: Vec::new(),
            records_under: None,
            trace: cx.trace.clone(),
        }
    }

    /// Whether it has tried to write what it may not.
    pub(crate) fn is_refused(&self) -> bool {
        self.refused.is_some()
    }

    /// Ends the run with an error, whatever is made of the result of the call.
    pub(crate) fn refuse(&mut self, error: Error) {
        self.refused.get_or_insert(error);
    }

    /// What is wrong with the tool itself, whatever it made of the error.
    pub(crate) fn take_refusal(&mut self) -> Result<()> {
        self.refused.take().map_or(Ok(()), Err)
    }

    /// Says what the calls of an agent in this one are recorded under.
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

    /// Goes on with what a part of the call has left that came before, and with the answers to its questions.
    pub(crate) fn resume(&mut self, left: ToolRecord, answers: Vec<Value>) {
        self.answers = answers;
        // What it updated is recorded under the other part, and written already.
        let ToolRecord { actions, state_delta, updated: _, artifact_delta, usage } = left;
        (self.actions, self.usage) = (actions, usage);
        self.overlay.state_delta = state_delta;
        if !artifact_delta.is_empty() {
            self.overlay.artifact_delta = artifact_delta;
        }
    }

    /// A context for the test of a tool: a run in memory of its own, without models.
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

    /// The same with resources: those of the program, or others for the test.
    pub fn for_tests_with(resources: impl Resources) -> Self {
        let run = Run::for_tests(SharedResources::new(resources));
        let cx = Context::root(Arc::new(run), Path::root("test"));
        let call = FunctionCall { id: "call_1".to_owned(), ..FunctionCall::default() };
        Self::new(&cx, Arc::new(call), CallStep::next(&cx, CallKind::Tool, &"test".into(), None), None)
    }

    /// A context for an agent that is used as a tool: below who calls it, in a run of its own that begins with the state
    /// that this call sees, also of what calls before it have set.
    pub(crate) fn inner_context(&self, name: Name) -> Context {
        let mut delta = self.step.seen.clone();
        delta.extend(self.overlay.state_delta.clone());
        let call = CallPlace {
            agent: self.agent.clone(),
            path: self.path.clone(),
            branch: self.branch.clone(),
            step: self.step.clone(),
            set: delta.iter().map(|(key, _)| key.clone()).collect(),
        };
        let run = Run::inside(&self.run, &delta, self.records_under.clone(), call);
        let scope = self.scope.as_ref().map(KeyScope::apart);
        if let Some(scope) = &scope {
            delta.iter().for_each(|(key, _)| scope.wrote(key));
        }
        let mut inner = Context::inside(Arc::new(run), self.path.child(name, At::Once), scope);
        inner.unchecked = self.unchecked;
        inner.trace = self.trace.clone();
        inner.meter = self.step.meter.as_ref().map(Meter::tool);
        inner
    }

    /// What such an agent has used, however it ended: it counts for the call, and with its record when the run is taken up
    /// again.
    pub(crate) fn add_usage(&mut self, usage: Usage) {
        self.usage += usage;
    }

    /// Takes over what an event of such an agent has changed in its run. Its keys are stored keys.
    pub(crate) fn forward(&mut self, event: &Event, run: &Run) {
        if is_update(event) {
            // It is written already.
            let delta = event.actions.state_delta.iter();
            self.updated.extend(delta.map(|(key, value)| (key.clone(), Value::clone(value))));
            return;
        }
        for (key, value) in event.actions.state_delta.iter() {
            // The run of the call does not keep the secrets of that run.
            let secret = secret::kept(key, value).and_then(|_| run.get(key));
            self.overlay.state_delta.insert(key.clone(), secret.unwrap_or_else(|| value.clone()));
        }
        for (name, version) in &event.actions.artifact_delta {
            self.overlay.artifact_delta.retain(|(other, _)| other != name);
            self.overlay.artifact_delta.push((name.clone(), *version));
        }
    }

    /// Takes over the `temp:` keys that such an agent has changed, which are in no event; `before` is what they held.
    pub(crate) fn forward_temps(&mut self, before: &StateDelta, run: &Run) {
        let changed = run.temps().into_iter().filter(|(key, value)| before.get(key) != Some(value));
        self.overlay.state_delta.extend(changed.collect::<StateDelta>());
    }

    /// The context of a callback of this call, which takes what the call has done so far with it; it comes back with
    /// [`give_back`](Self::give_back).
    pub(crate) fn callback(&mut self) -> CallbackContext {
        let mut cx = CallbackContext::new(Place {
            run: &self.run,
            scope: &self.scope,
            agent: &self.agent,
            path: &self.path,
            branch: &self.branch,
            call_id: Some(&self.call.id),
            overlay: std::mem::take(&mut self.overlay),
            actions: std::mem::take(&mut self.actions),
            steps: Steps::Within(self.step.clone()),
            rules: self.rules.clone(),
        });
        cx.updated = std::mem::take(&mut self.updated);
        cx
    }

    /// Takes over what a callback of this call has done.
    pub(crate) fn give_back(&mut self, cx: CallbackContext) {
        (self.overlay, self.actions, self.updated) = (cx.overlay, cx.actions, cx.updated);
    }

    /// What the call has written and asked for so far, to [go back](Self::rewind) to.
    pub(crate) fn mark(&self) -> (StateDelta, ToolActions) {
        (self.overlay.state_delta.clone(), self.actions.clone())
    }

    /// Forgets what was written and asked for since. Files are stored already, so they are still told.
    pub(crate) fn rewind(&mut self, mark: (StateDelta, ToolActions)) {
        (self.overlay.state_delta, self.actions) = mark;
    }

    /// The context for work that runs apart. What comes back with it takes the place of this one.
    pub(crate) fn copy(&self) -> Self {
        Self {
            actions: self.actions.clone(),
            run: self.run.clone(),
            scope: self.scope.clone(),
            agent: self.agent.clone(),
            path: self.path.clone(),
            branch: self.branch.clone(),
            call: self.call.clone(),
            step: self.step.clone(),
            tool: self.tool.clone(),
            rules: self.rules.clone(),
            unchecked: self.unchecked,
            refused: None,
            overlay: self.overlay.clone(),
            updated: self.updated.clone(),
            usage: self.usage,
            answers: self.answers.clone(),
            records_under: self.records_under.clone(),
            trace: self.trace.clone(),
        }
    }

    /// The name of the agent that called.
    pub fn agent_name(&self) -> &str {
        &self.agent
    }

    /// The path of that agent, with rounds.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn resources(&self) -> &SharedResources {
        &self.run.services.resources
    }

    /// The id of this call: the same when a run is taken up again.
    pub fn call_id(&self) -> &str {
        &self.call.id
    }

    /// Whether the run can wait for an answer to [`ToolError::asks`](crate::ToolError::asks): it is recorded, and the agent is no
    /// tool of another.
    pub fn may_ask(&self) -> bool {
        self.run.engine.waits().is_some()
    }

    /// The answers to what this call has [asked](crate::ToolError::asks) so far, in the order of the questions; the same when a
    /// run is taken up again.
    pub fn answers(&self) -> &[Value] {
        &self.answers
    }

    /// The state; what is set here is committed with the response event.
    pub fn state(&mut self) -> State<'_> {
        let by = Caller { agent: &self.agent, path: &self.path, branch: &self.branch };
        let updates = Updates::Call { by, step: &self.step, updated: &mut self.updated };
        let tool = self.tool.as_ref().filter(|_| self.rules.is_checked);
        State {
            run: &self.run,
            scope: self.scope.as_deref(),
            overlay: &mut self.overlay,
            updates,
            writer: Writer {
                by: tool.map_or(WriterKind::Anyone, |tool| WriterKind::Tool(tool.meta())),
                path: &self.path,
            },
            refused: Some(&mut self.refused),
        }
    }

    /// What was said in earlier sessions of the user that has to do with a query, best first: ADK's `search_memory`. It is recorded
    /// with the call.
    ///
    /// # Errors
    /// [`ErrorKind::NoMemoryService`](crate::ErrorKind::NoMemoryService), or when the service fails.
    pub async fn search_memory(&mut self, query: &str) -> Result<Vec<MemoryEntry>> {
        self.run.search_memory(query).await
    }

    /// The artifacts of the session.
    pub fn artifacts(&mut self) -> Artifacts<'_> {
        Artifacts { run: &self.run, overlay: &mut self.overlay, calls: None }
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ToolContext({}, call {})", self.path, self.call.id)
    }
}
