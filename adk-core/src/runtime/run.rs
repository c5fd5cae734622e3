//! [`Run`]: one run in this process, with its session, its outbox and the contexts of its agents.

mod accessors;
mod actions;
mod announced_keys;
mod artifacts;
mod budget;
mod call_counts;
mod callback;
mod caller;
mod config;
mod consumption;
mod context;
mod effects;
mod failures;
mod handover;
mod history;
pub(crate) mod hooks;
mod identity;
mod inherited;
mod kind;
mod lifecycle;
mod limits;
mod lost_waits;
mod marks;
mod meter;
mod models;
mod nested;
mod origin;
mod out;
mod outcome;
mod prepare;
mod progress;
mod readonly;
mod remote;
mod replay;
mod scope;
mod services;
mod state;
mod timers;
mod trace;
mod update;

pub use crate::store::engine::Waiting;
pub(crate) use crate::store::engine::record;
pub use actions::ToolActions;
pub use announced_keys::AnnouncedKeys;
pub use artifacts::Artifacts;
pub use callback::CallbackContext;
pub use config::{RunConfig, SessionTurns};
pub use context::Context;
pub use history::History;
pub use hooks::{Plugin, Said};
pub use out::Out;
pub use outcome::Outcome;
pub use prepare::Prepare;
pub use readonly::ReadonlyContext;
pub use state::State;
pub use trace::{TraceCarrier, set_trace_carrier};

pub(crate) use accessors::accessors;
pub(crate) use announced_keys::{WriteRules, Writer, WriterKind};
pub(crate) use call_counts::CallCounts;
pub(crate) use caller::{CallStep, Caller};
pub(crate) use consumption::{Consumption, measure};
pub(crate) use context::{
    ContextPart, Cut, Entered, Frame, NothingWritten, Surroundings, WaitAnswer, WaitQuestion,
    perform, record_call,
};
pub(crate) use effects::{CallerPlace, Effects, Records};
pub(crate) use handover::{HandoverState, HandoverTarget};
pub(crate) use hooks::Hooks;
pub(crate) use identity::RunIdentity;
pub(crate) use inherited::{GlobalInstruction, Inherited, PromptSource};
pub(crate) use kind::{NewRun, RunKind};
pub(crate) use lifecycle::LifecycleReporter;
pub(crate) use limits::RunLimits;
pub(crate) use lost_waits::OpenWait;
pub(crate) use marks::{Blocked, GuardRules, MarkCell, Marks, Shown, Stamp, allows, wait_name};
pub(crate) use meter::{Meter, count_replayed};
pub(crate) use models::{ModelChain, Models};
pub(crate) use progress::RunProgress;
pub(crate) use scope::KeyScope;
pub(crate) use services::Services;
pub(crate) use state::{Overlay, decode, encode, stored_key, wrong_type_error};
pub(crate) use trace::{
    TraceSpan, error_type, finish_reason, gen_ai_span, in_span, instructions, messages,
};
pub(crate) use update::{UpdatedKeys, Updates, is_update};

use crate::model::{Usage, UsageByAgent};
use crate::runtime::resources::SharedResources;
use crate::store::engine::{Body, Delivery, Done, Engine, MemoryEngine, Reply, Slot, Stored};
use crate::store::event::StateDelta;
use crate::store::outbox::Outbox;
use crate::store::session::{Opening, OwnKeys, Scope, Session, SessionKey};
use crate::sync::read;
use crate::{Flow, Name, Path, Result, RunId, secret};
use replay::Replay;
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// One run in this process, which all of its contexts share.
pub(crate) struct Run {
    pub(crate) kind: RunKind,
    pub(crate) identity: RunIdentity,
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) services: Arc<Services>,
    pub(crate) delivery: Arc<Delivery>,
    pub(crate) progress: RunProgress,
    pub(crate) limits: RunLimits,
    /// Whether a commit only appends to the session in memory, which needs no [`Slot`].
    pub(crate) only_appends: bool,
    /// The rules of a workflow with `#[guards(...)]`.
    guards: OnceLock<Box<GuardRules>>,
}

impl Run {
    pub(crate) fn new(
        kind: RunKind,
        identity: RunIdentity,
        session: Arc<Session>,
        engine: Arc<dyn Engine>,
        services: Arc<Services>,
        limits: RunLimits,
    ) -> Self {
        Self {
            only_appends: engine.is_memory() && kind.replay().is_none(),
            kind,
            delivery: Arc::new(Delivery::new(session, identity.seed)),
            identity,
            engine,
            services,
            progress: RunProgress::default(),
            limits,
            guards: OnceLock::new(),
        }
    }

    /// Creates a run in memory with a session of its own and without models, for the test of a
    /// tool.
    pub(crate) fn for_tests(resources: SharedResources) -> Self {
        let key = SessionKey::new("test", "user", "test");
        Self::new(
            RunKind::New(NewRun::default()),
            RunIdentity::first(None),
            Arc::new(Session::open(key, Opening::default(), None)),
            Arc::new(MemoryEngine),
            Arc::new(Services::for_tests(resources)),
            RunLimits::new(RunConfig::default()),
        )
    }

    pub(crate) fn id(&self) -> RunId {
        self.identity.claim.run_id
    }

    /// Returns the run around all nested runs, which is this run if it is not nested.
    pub(crate) fn outermost(&self) -> &Self {
        let mut run = self;
        while let Some(nested) = run.kind.nested() {
            run = &nested.outer;
        }
        run
    }

    /// Returns the session as the run sees it.
    pub(crate) fn session(&self) -> &Arc<Session> {
        self.kind
            .replay()
            .and_then(Replay::session)
            .unwrap_or(&self.delivery.session)
    }

    /// Sets a stored key before the run begins.
    pub(crate) fn preset(&self, key: &str, value: Value) {
        let value = Arc::new(value);
        if Scope::of(key) == Scope::Temp {
            return self.delivery.set_temp(Name::shared(key), value);
        }
        if let Some(own) = self.delivery.live_own() {
            own.record(&StateDelta::from_iter([(Name::shared(key), value.clone())]));
        }
        self.session().preset(Name::shared(key), value);
    }

    /// Returns the keys that hold only the writes of this run. `None` if the workflow is not
    /// closed. During a replay they have the values of its current point, and the keys of the
    /// [`Delivery`] have the values in the store.
    pub(crate) fn own_keys(&self) -> Option<&OwnKeys> {
        self.kind
            .replay()
            .and_then(Replay::own_keys)
            .or_else(|| self.delivery.live_own())
    }

    /// Makes `own` the keys that hold the writes of this run.
    pub(crate) fn set_own_keys(&self, own: OwnKeys) {
        if let Some(replay) = self.kind.replay() {
            replay.set_own_keys(&own);
        }
        let _ = self.delivery.own.set(Box::new(own));
    }

    /// Returns whether the registry never had a claim for the run, because none of its events was
    /// stored.
    pub(crate) fn is_unknown(&self) -> bool {
        !self.kind.is_registered()
            && !self.identity.claim.is_driven_above()
            && self.outbox().is_unused()
    }

    /// Cancels the run at once, without waiting for its next commit.
    pub(crate) fn cancel(&self) {
        self.limits.cancel();
        self.outbox().wake();
    }

    /// Returns the queue of events for the consumer.
    pub(crate) fn outbox(&self) -> &Outbox {
        &self.delivery.outbox
    }

    /// Returns the value of a stored key, `temp:` keys included.
    pub(crate) fn get(&self, key: &str) -> Option<Arc<Value>> {
        if key.starts_with("temp:") {
            return self.delivery.temp(key);
        }
        let value = match self.own_keys().filter(|own| own.has(key)) {
            Some(own) => own.get(key)?,
            None => self.session().get(key)?,
        };
        match secret::kept_name(key, &value) {
            Some(name) => self.delivery.temp(name),
            None => Some(value),
        }
    }

    /// Returns the value of a name in a scope.
    pub(crate) fn value(&self, scope: Option<&KeyScope>, name: &str) -> Option<Arc<Value>> {
        match scope {
            Some(scope) => self.get(&scope.read_key(name)?),
            None => self.get(name),
        }
    }

    /// Returns the `temp:` keys that hold a value.
    pub(crate) fn temp_keys(&self) -> StateDelta {
        let temp = read(&self.delivery.temp);
        let keys = temp.iter().filter(|(key, _)| Scope::of(key) == Scope::Temp);
        keys.map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }

    /// Counts usage of an agent in this run and in the runs around it.
    pub(crate) fn add_usage(&self, agent: &Name, usage: Usage) {
        self.add(&|sum| sum.add(agent, usage));
    }

    /// Counts usage of several agents in this run and in the runs around it.
    pub(crate) fn add_usages(&self, usage: &UsageByAgent) {
        self.add(&|sum| *sum += usage);
    }

    fn add(&self, add: &dyn Fn(&mut UsageByAgent)) {
        self.progress.add_usage(add);
        if let Some(nested) = self.kind.nested() {
            nested.outer.add(add);
        }
    }

    /// Counts the usage of model calls that are not repeated.
    pub(crate) fn count_skipped(&self, usage: &UsageByAgent) {
        self.add_usages(usage);
        let calls = u32::try_from(usage.total().calls).unwrap_or(u32::MAX);
        self.outermost().limits.count_earlier_calls(calls);
    }

    /// Creates the slot of an event. The slot also carries the agents that have finished since the
    /// last commit. `update` names the slot of an update of state.
    pub(crate) fn slot(&self, path: Path, nth: u32, update: Option<Name>) -> Slot {
        let delivery = self.delivery.clone();
        let mut slot = delivery.slot(self.identity.claim, path, nth, update);
        if self.engine.records() {
            slot.done = self.progress.take_finished();
            slot.begins = self.kind.take_record();
        }
        slot
    }

    /// Commits an event that is not in the journal.
    pub(crate) async fn commit(&self, slot: Slot, body: Body) -> Result<Stored> {
        match self.engine.commit(slot, body) {
            Reply::Ready(stored) => stored,
            Reply::Later(stored) => stored.await,
        }
    }

    /// Marks an agent as finished, with the next commit. No mark is made if an engine such as
    /// Restate drives the run: it executes the agent again and answers its calls from its own log.
    #[inline]
    pub(crate) fn mark_finished(&self, path: &Path, flow: &Flow, usage: Option<&UsageByAgent>) {
        if self.engine.records() {
            self.record_finished(path, flow, usage);
        }
    }

    fn record_finished(&self, path: &Path, flow: &Flow, usage: Option<&UsageByAgent>) {
        self.forget_failures(path);
        if !self.identity.claim.is_driven_above() {
            self.progress.add_finished(Done::new(
                path.clone(),
                flow.clone(),
                usage.cloned().unwrap_or_default(),
            ));
        }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Run({}, session {})", self.id(), self.session().key())
    }
}
