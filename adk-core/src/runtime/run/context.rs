//! [`Context`]: the place of an agent in its run, and all that the agent can do there.

mod branch;
mod emit;
mod frame;
mod remote;
mod step;
mod surroundings;
mod wait;

pub(crate) use branch::Cut;
pub(crate) use frame::{Frame, NothingWritten};
pub(crate) use step::{perform, record_call};
pub(crate) use surroundings::{ContextPart, Entered, Surroundings};
pub(crate) use wait::{WaitAnswer, WaitQuestion};

use super::{
    AnnouncedKeys, Artifacts, CallbackContext, Caller, CallerPlace, Effects, History, KeyScope,
    Marks, Overlay, Records, Run, RunConfig, State, ToolActions, TraceSpan, UpdatedKeys, Updates,
    WriteRules, Writer, WriterKind, accessors,
};
use crate::memory::MemoryEntry;
use crate::runtime::resources::SharedResources;
use crate::store::engine::{CallInputs, CallKind};
use crate::{Name, Path, depth};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The handle of an agent to its run.
///
/// An agent awaits only futures from its context: emits, steps, waits and joins of these. Clocks,
/// randomness and I/O belong inside [`step`](Self::step), so that a resumed run does the same
/// things.
pub struct Context {
    pub(crate) run: Arc<Run>,
    /// What the enclosing workflows give to the agent.
    pub(crate) around: Surroundings,
    branch: Option<Arc<str>>,
    /// The enclosing instance of a workflow (`as second`), whose name is the prefix of every name
    /// inside.
    pub(crate) instance: Option<Name>,
    /// The current turn, block or round.
    pub(crate) frame: Frame,
    overlay: Overlay,
    /// The remote branch that this context descends to.
    pub(crate) search: Option<Box<remote::RemoteBranchSearch>>,
    /// Set in a branch whose direct child may end the block by an escalate.
    pub(crate) cut: Option<Arc<Cut>>,
    /// The span of the current agent, in a traced run.
    pub(crate) trace: Option<Arc<TraceSpan>>,
    /// Stored keys that were written in the open turns. All turns share one list, so that a turn
    /// allocates none.
    written: Vec<Name>,
}

accessors!(Context, self => self.run, self.author(), &self.frame.path);

impl Context {
    pub(crate) fn root(run: Arc<Run>, path: Path) -> Self {
        run.outbox().live.fetch_add(1, Relaxed);
        let cell = run.new_cell();
        Self {
            run,
            around: Surroundings::default(),
            branch: None,
            instance: None,
            frame: Frame::new(path, true, 0, cell),
            overlay: Overlay::default(),
            search: None,
            cut: None,
            trace: None,
            written: Vec::new(),
        }
    }

    /// Creates the root of a nested run. The root is below an agent of the enclosing run, and has
    /// the keys of that agent.
    pub(crate) fn nested_root(run: Arc<Run>, path: Path, scope: Option<Arc<KeyScope>>) -> Self {
        let mut own = Self::root(run, path);
        own.around.scope = scope;
        own.frame.is_addressable = false;
        own
    }

    /// Creates the context of a callback, which takes the pending writes with it.
    /// [`end_callback`](Self::end_callback) ends it.
    pub(crate) fn callback_context(&mut self) -> CallbackContext {
        let overlay = std::mem::take(&mut self.overlay);
        let records = Records::Numbered(std::mem::take(&mut self.frame.calls), None);
        CallbackContext::new(ToolActions::default(), self.effects(overlay, records), None)
    }

    /// Returns the context of a plugin that sees an event. [`end_callback`](Self::end_callback) of
    /// a complete event takes over its writes. The context of a partial event is only dropped: it
    /// has a copy of the pending writes, and none of its calls has a number.
    pub(super) fn context_of_event(&mut self, is_partial: bool) -> CallbackContext {
        let why = "in `Plugin::on_event`, which has no slot for it";
        if is_partial {
            let effects = self.effects(self.overlay.clone(), Records::Unrecorded(why));
            return CallbackContext::new(ToolActions::default(), effects, None);
        }
        let mut cx = self.callback_context();
        cx.refuse_updates(why);
        cx
    }

    /// Returns the view and the pending changes of a callback or a tool call of this agent.
    pub(crate) fn effects(&self, overlay: Overlay, records: Records) -> Effects {
        Effects {
            run: self.run.clone(),
            scope: self.around.scope.clone(),
            by: CallerPlace {
                agent: self.author().clone(),
                path: self.frame.path.clone(),
                branch: self.branch.clone(),
            },
            overlay,
            updated: Vec::new(),
            rules: self.write_rules(),
            records,
            marks: self.frame.marks.clone(),
        }
    }

    /// Takes over the writes of a callback, and returns its actions.
    pub(crate) fn end_callback(&mut self, mut cx: CallbackContext) -> ToolActions {
        if let Some(calls) = cx.effects.records.take_calls() {
            self.frame.calls = calls;
        }
        let mut written = self.updated_keys();
        cx.effects
            .updated
            .iter()
            .for_each(|(key, _)| written.add(key));
        self.overlay = cx.effects.overlay;
        cx.actions
    }

    /// Returns the pending writes.
    pub(crate) fn pending(&self) -> &Overlay {
        &self.overlay
    }

    /// Drops the pending writes, together with the work that made them.
    pub(crate) fn drop_pending(&mut self) {
        self.overlay = Overlay::default();
    }

    /// Returns whether there are pending writes or saved artifacts.
    pub(crate) fn has_pending(&self) -> bool {
        !self.overlay.is_empty()
    }

    /// Returns whether an exit must have been announced here.
    pub(crate) fn requires_announced_exits(&self) -> bool {
        !self.around.unchecked && self.run.limits.config.require_announced_exits
    }

    /// Returns whether a write must have been announced here.
    fn checks_writes(&self) -> bool {
        !self.around.unchecked && self.run.limits.config.require_announced_writes
    }

    /// Returns the rules for writes by callbacks.
    pub(crate) fn write_rules(&self) -> WriteRules {
        let (announced, states) = (self.frame.announced.clone(), self.around.states.clone());
        WriteRules {
            is_checked: self.checks_writes(),
            announced,
            states,
        }
    }

    /// Returns the keys that an event of a hand-written agent may write; `None` for other agents,
    /// whose events the library makes.
    pub(crate) fn event_rules(&self) -> Option<&AnnouncedKeys> {
        self.frame
            .announced
            .as_ref()
            .filter(|announced| announced.is_by_hand() && self.checks_writes())
    }

    pub(crate) fn author(&self) -> &Name {
        self.frame
            .author
            .as_ref()
            .unwrap_or_else(|| self.frame.path.name())
    }

    /// Returns the parallel branch of the agent, such as `par.left`, or `each_1[3]` for an element.
    pub fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    /// Marks keys as written that a tool call has updated, now or in the execution that recorded
    /// the call.
    pub(crate) fn mark_updated(&mut self, updated: &[(Name, Value)]) {
        for (key, _) in updated {
            self.updated_keys().add(key);
            if let Some(scope) = &self.around.scope {
                scope.mark_written(key);
            }
        }
    }

    /// Returns the list of the keys that this turn has written.
    fn updated_keys(&mut self) -> UpdatedKeys<'_> {
        UpdatedKeys::InTurn {
            keys: &mut self.written,
            first: self.frame.first_written,
        }
    }

    pub(crate) fn resources(&self) -> &SharedResources {
        &self.run.services.resources
    }

    /// Skips every callback and plugin after this agent, including its own callbacks. This is ADK's
    /// `end_invocation`, set by an agent on its own context. The enclosing agents continue.
    pub fn end_invocation(&mut self) {
        self.frame.ends_unasked = true;
    }

    /// Returns the settings of the run.
    pub fn config(&self) -> &RunConfig {
        &self.run.limits.config
    }

    /// Returns the state. Writes are committed with the next event, or when the agent ends.
    pub fn state(&mut self) -> State<'_> {
        let is_checked = self.checks_writes();
        let Frame {
            path,
            author,
            calls,
            first_written,
            announced,
            rare,
            ..
        } = &mut self.frame;
        let agent = author.as_ref().unwrap_or_else(|| path.name());
        State {
            run: &self.run,
            scope: self.around.scope.as_deref(),
            overlay: &mut self.overlay,
            updates: Updates::Agent {
                by: Caller {
                    agent,
                    path,
                    branch: &self.branch,
                },
                calls,
                written: UpdatedKeys::InTurn {
                    keys: &mut self.written,
                    first: *first_written,
                },
            },
            writer: Writer {
                by: announced
                    .as_ref()
                    .filter(|_| is_checked)
                    .map_or(WriterKind::Anyone, WriterKind::Agent),
                path,
            },
            marks: rare.as_ref().and_then(|rare| rare.marks.as_deref()),
            refused: None,
        }
    }

    /// Returns the committed value of a key.
    pub(crate) fn committed_value(&self, key: &str) -> Option<Arc<Value>> {
        self.run.value(self.around.scope.as_deref(), key)
    }

    /// Returns the name in the enclosing workflow that is read as `key` here. An instance may map
    /// keys to other names.
    pub(crate) fn name_around<'a>(&'a self, key: &'a str) -> &'a str {
        self.around
            .scope
            .as_deref()
            .map_or(key, |scope| scope.name_around(key))
    }

    /// Returns the artifacts of the session.
    pub fn artifacts(&mut self) -> Artifacts<'_> {
        let Frame {
            path, calls, rare, ..
        } = &mut self.frame;
        Artifacts {
            run: &self.run,
            overlay: &mut self.overlay,
            calls: Some((path, calls)),
            marks: rare.as_ref().and_then(|rare| rare.marks.as_deref()),
        }
    }

    /// Searches earlier sessions of the user for content that matches a query, best first: ADK's
    /// `search_memory`. The search is a recorded step.
    ///
    /// # Errors
    /// [`ErrorKind::NoMemoryService`](crate::ErrorKind::NoMemoryService), or when the service
    /// fails.
    pub async fn search_memory(&mut self, query: &str) -> crate::Result<Vec<MemoryEntry>> {
        if let Some(cell) = self.cell() {
            cell.join(Marks::of_memory());
        }
        let work = self.run.search_memory(query);
        let (name, inputs) = (
            Name::literal("memory"),
            self.inputs(|keeps| CallInputs::new(&query, keeps)),
        );
        let key = self.call_key(CallKind::Memory, name);
        perform(self.run.clone(), key, inputs, depth::check, work).await
    }

    /// Returns the part of the conversation that this agent may see. The history borrows nothing,
    /// so it can be read while emitting. If the store is outside of the process, [`History::load`]
    /// loads the events from before this run.
    pub fn history(&self) -> History {
        if let Some(cell) = self.cell() {
            cell.join(self.marks_of_log());
        }
        self.log()
    }

    /// Returns the conversation for the runtime, which reads the marks of its events itself.
    pub(crate) fn log(&self) -> History {
        History::new(self.run.session().clone(), self.branch.clone())
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.run.outbox().live.fetch_sub(1, Relaxed);
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context({}, {:?})", self.frame.path, self.run)
    }
}
