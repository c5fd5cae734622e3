//! [`Context`]: the place of an agent in its run, and all that the agent can do there.

mod away;
mod branch;
mod emit;
mod frame;
mod step;
mod wait;

pub(crate) use branch::Cut;
pub(crate) use frame::{Frame, NothingWritten};
pub(crate) use step::perform;
pub(crate) use wait::{Answer, Asked};

use super::memory::MemoryEntry;
use super::{
    Above, AnnouncedKeys, Artifacts, CallbackContext, Caller, History, KeyScope, Meter, Overlay, Place, Run,
    RunConfig, State, Steps, ToolActions, TraceSpan, Updates, WriteRules, Writer, WriterKind, Written,
    accessors,
};
use crate::runtime::resources::SharedResources;
use crate::spec::Key;
use crate::store::engine::{CallInputs, CallKind};
use crate::{Name, Path, depth};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// What an agent works with.
///
/// An agent awaits only what comes from here: emits, steps, waits and joins of these. Clocks, randomness and I/O
/// belong inside [`step`](Self::step), so that a resumed run does the same things.
pub struct Context {
    pub(crate) run: Arc<Run>,
    pub(crate) scope: Option<Arc<KeyScope>>,
    /// The keys that the workflow around can write, where a workflow inside it has defaults that ask for it.
    pub(crate) known: Option<Arc<[Box<str>]>>,
    /// The `state` keys of the workflow around, which callbacks may write.
    pub(crate) states: Option<Arc<[Key]>>,
    branch: Option<Arc<str>>,
    /// The instance of a workflow around (`as second`): its name is the prefix of every name inside.
    pub(crate) instance: Option<Name>,
    /// What the agents above have given to those below them.
    pub(crate) above: Option<Arc<Above>>,
    /// What the workflows around have used of their bounds, where one has some.
    pub(crate) meter: Option<Arc<Meter>>,
    /// The tree around was built without checks of its flow: who ends a loop need not have announced it.
    pub(crate) unchecked: bool,
    pub(crate) frame: Frame,
    overlay: Overlay,
    /// Everything around it is a step of a workflow, so that its path leads here.
    pub(crate) is_addressable: bool,
    /// The branch that it is on its way to, and has not come to yet.
    pub(crate) seek: Option<Box<away::Seek>>,
    /// Set in a branch whose direct child ends the block with an escalate, and only where that is so.
    pub(crate) cut: Option<Arc<Cut>>,
    /// The span of the agent that runs, in a run that is traced.
    pub(crate) trace: Option<Arc<TraceSpan>>,
    /// Stored keys that were written in the turns that are open; one list, so that a turn allocates none.
    written: Vec<Name>,
}

accessors!(Context);

impl Context {
    pub(crate) fn root(run: Arc<Run>, path: Path) -> Self {
        run.outbox().live.fetch_add(1, Relaxed);
        Self {
            run,
            scope: None,
            known: None,
            states: None,
            branch: None,
            instance: None,
            above: None,
            meter: None,
            unchecked: false,
            frame: Frame::new(path, 0),
            overlay: Overlay::default(),
            is_addressable: true,
            seek: None,
            cut: None,
            trace: None,
            written: Vec::new(),
        }
    }

    /// The root of a run inside of another: it is below an agent of that run, and has its keys.
    pub(crate) fn inside(run: Arc<Run>, path: Path, scope: Option<Arc<KeyScope>>) -> Self {
        let mut own = Self::root(run, path);
        own.scope = scope;
        own.is_addressable = false;
        own
    }

    /// The context of a callback, which takes what was set since the last event with it; it comes back with
    /// [`give_back`](Self::give_back).
    pub(crate) fn callback(&mut self) -> CallbackContext {
        let overlay = std::mem::take(&mut self.overlay);
        let steps = Steps::Numbered(std::mem::take(&mut self.frame.calls));
        CallbackContext::new(Place {
            run: &self.run,
            scope: &self.scope,
            agent: self.author(),
            path: &self.frame.path,
            branch: &self.branch,
            call_id: None,
            overlay,
            actions: ToolActions::default(),
            steps,
            rules: self.write_rules(),
        })
    }

    /// Takes over what a callback has done; returns what it asks for.
    pub(crate) fn give_back(&mut self, mut cx: CallbackContext) -> ToolActions {
        if let Some(calls) = cx.take_calls() {
            self.frame.calls = calls;
        }
        let mut written = Written::InTurn { keys: &mut self.written, first: self.frame.first_written };
        cx.updated.iter().for_each(|(key, _)| written.add(key));
        self.overlay = cx.overlay;
        cx.actions
    }

    /// Drops what was set since the last event, of work that is dropped as well.
    pub(crate) fn drop_pending(&mut self) {
        self.overlay = Overlay::default();
    }

    /// Whether something was set or saved since the last event.
    pub(crate) fn has_pending(&self) -> bool {
        !self.overlay.is_empty()
    }

    /// Whether an exit has to have been announced here.
    pub(crate) fn requires_announced_exits(&self) -> bool {
        !self.unchecked && self.run.config.require_announced_exits
    }

    /// Whether what is written here has to have been announced.
    fn checks_writes(&self) -> bool {
        !self.unchecked && self.run.config.require_announced_writes
    }

    /// What may be written here.
    pub(crate) fn write_rules(&self) -> WriteRules {
        let (announced, states) = (self.frame.announced.clone(), self.states.clone());
        WriteRules { is_checked: self.checks_writes(), announced, states }
    }

    /// What an event of an agent by hand may write. All others emit what the library makes.
    pub(crate) fn event_rules(&self) -> Option<&AnnouncedKeys> {
        self.frame.announced.as_ref().filter(|announced| announced.is_by_hand() && self.checks_writes())
    }

    /// The name of the agent that runs: the author of its events. Inside of an instance of a workflow (`as second`)
    /// it begins with the name of that, as in `second::critic`.
    pub fn agent_name(&self) -> &str {
        self.author()
    }

    pub(crate) fn author(&self) -> &Name {
        self.frame.author.as_ref().unwrap_or_else(|| self.frame.path.name())
    }

    /// Its path in the tree, with rounds.
    pub fn path(&self) -> &Path {
        &self.frame.path
    }

    /// The parallel branch it runs in, such as `par.left`, or `each_1[3]` for an element.
    pub fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    /// A tool call has updated these keys, now or before it was answered from its record.
    pub(crate) fn updated_in_call(&mut self, updated: &[(Name, Value)]) {
        let mut written = Written::InTurn { keys: &mut self.written, first: self.frame.first_written };
        for (key, _) in updated {
            written.add(key);
            if let Some(scope) = &self.scope {
                scope.wrote(key);
            }
        }
    }

    pub(crate) fn branch_shared(&self) -> &Option<Arc<str>> {
        &self.branch
    }

    pub(crate) fn resources(&self) -> &SharedResources {
        &self.run.services.resources
    }

    /// Nobody is asked after this agent: neither its own callbacks nor plugins. It is ADK's `end_invocation` as an agent
    /// sets it on its own context; what is around the agent goes on.
    pub fn end_invocation(&mut self) {
        self.frame.ends_unasked = true;
    }

    /// The settings of the run.
    pub fn config(&self) -> &RunConfig {
        &self.run.config
    }

    /// The state; what is set here is committed with the next event, or when the agent ends.
    pub fn state(&mut self) -> State<'_> {
        let is_checked = self.checks_writes();
        let Frame { path, author, calls, first_written, announced, .. } = &mut self.frame;
        let agent = author.as_ref().unwrap_or_else(|| path.name());
        State {
            run: &self.run,
            scope: self.scope.as_deref(),
            overlay: &mut self.overlay,
            updates: Updates::Agent {
                by: Caller { agent, path, branch: &self.branch },
                calls,
                written: Written::InTurn { keys: &mut self.written, first: *first_written },
            },
            writer: Writer {
                by: announced.as_ref().filter(|_| is_checked).map_or(WriterKind::Anyone, WriterKind::Agent),
                path,
            },
            refused: None,
        }
    }

    /// The committed value of a key.
    pub(crate) fn committed(&self, key: &str) -> Option<Arc<Value>> {
        self.run.value(self.scope.as_deref(), key)
    }

    /// How the workflow around calls the key that is read as `key` here: an instance may have others.
    pub(crate) fn name_around<'a>(&'a self, key: &'a str) -> &'a str {
        self.scope.as_deref().map_or(key, |scope| scope.name_around(key))
    }

    /// The artifacts of the session.
    pub fn artifacts(&mut self) -> Artifacts<'_> {
        let calls = Some((&self.frame.path, &mut self.frame.calls));
        Artifacts { run: &self.run, overlay: &mut self.overlay, calls }
    }

    /// What was said in earlier sessions of the user that has to do with a query, best first: ADK's `search_memory`. A recorded step.
    ///
    /// # Errors
    /// [`ErrorKind::NoMemoryService`](crate::ErrorKind::NoMemoryService), or when the service fails.
    pub async fn search_memory(&mut self, query: &str) -> crate::Result<Vec<MemoryEntry>> {
        let work = self.run.search_memory(query);
        let (name, inputs) = (Name::literal("memory"), self.inputs(|| CallInputs::new(&query)));
        let key = self.call_key(CallKind::Memory, name);
        perform(self.run.clone(), key, inputs, depth::check, work).await
    }

    /// What this agent may see of the conversation. It borrows nothing, so it can be read while emitting. With a store outside of
    /// the process, [`History::load`] gets what was said before this run.
    pub fn history(&self) -> History {
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
