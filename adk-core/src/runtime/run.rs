//! [`Run`]: one run in this process, with its session, its outbox and the contexts of its agents.

mod accessors;
mod actions;
mod announced_keys;
mod artifacts;
mod budget;
mod call_counts;
mod callback;
mod config;
mod consumption;
mod context;
mod failures;
mod handover;
mod history;
mod inherited;
mod lifecycle;
mod lost_waits;
mod memory;
mod meter;
mod models;
mod origin;
mod out;
mod outcome;
mod plugin;
mod prepare;
mod readonly;
mod remote;
mod replay;
mod scope;
mod state;
mod timers;
mod trace;
mod update;

pub use crate::LoopEnd;
pub use crate::store::engine::Waiting;
pub(crate) use crate::store::engine::record;
pub use actions::ToolActions;
pub use announced_keys::AnnouncedKeys;
pub use artifacts::Artifacts;
pub use callback::CallbackContext;
pub use config::{RunConfig, SessionTurns};
pub use context::Context;
pub use history::History;
pub use out::Out;
pub use outcome::Outcome;
pub use plugin::Plugin;
pub use prepare::Prepare;
pub use readonly::ReadonlyContext;
pub use state::State;
pub use trace::{TraceCarrier, set_trace_carrier};

pub(crate) use accessors::accessors;
pub(crate) use announced_keys::{WriteRules, Writer, WriterKind};
pub(crate) use call_counts::CallCounts;
pub(crate) use callback::{CallbackPlace, CallbackSteps};
pub(crate) use consumption::{Consumption, measure};
pub(crate) use context::{
    ContextPart, Cut, Entered, Frame, NothingWritten, Surroundings, WaitAnswer, WaitQuestion,
    perform,
};
pub(crate) use handover::{HandoverState, HandoverTarget};
pub(crate) use inherited::{GlobalInstruction, Inherited, PromptSource};
pub(crate) use lifecycle::LifecycleReporter;
pub(crate) use lost_waits::OpenWait;
pub(crate) use meter::{Meter, count_replayed};
pub(crate) use models::{ModelChain, Models};
pub(crate) use plugin::Plugins;
pub(crate) use scope::KeyScope;
pub(crate) use state::{Overlay, decode, encode, stored_key};
pub(crate) use trace::{
    TraceSpan, error_type, finish_reason, gen_ai_span, in_span, instructions, messages,
};
pub(crate) use update::{CallPlace, CallStep, Caller, UpdatedKeys, Updates, is_update};

use crate::id::IdSeed;
use crate::model::Usage;
use crate::runtime::live::LiveInput;
use crate::runtime::resources::SharedResources;
use crate::spec::Prices;
use crate::store::engine::{
    Claim, ClaimId, ClaimedRun, Delivery, Done, Engine, NestedEngine, RunRecord, Slot, StepKey,
    is_failure,
};
use crate::store::event::StateDelta;
use crate::store::outbox::Outbox;
use crate::store::session::{OwnKeys, Scope, Session, SharedState, now_micros};
use crate::sync::{lock, read, write};
use crate::{Error, ErrorKind, Flow, Name, Path, Result, RunId, secret};
use replay::Replay;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// State of one run that all of its contexts share.
pub(crate) struct Run {
    pub(crate) id: RunId,
    /// The claim of this process; each write of the run carries it.
    pub(crate) claim: ClaimId,
    pub(crate) delivery: Arc<Delivery>,
    pub(crate) engine: Arc<dyn Engine>,
    /// Whether the engine keeps no runs. Most events then need no [`Slot`].
    pub(crate) is_in_memory: bool,
    pub(crate) config: RunConfig,
    pub(crate) services: Arc<Services>,
    /// User input that arrives during a live run.
    pub(crate) live: Option<LiveInput>,
    /// The recorded part of a resumed run.
    pub(crate) replay: Option<Box<Replay>>,
    /// Whether no other run can reach the session.
    pub(crate) is_alone: bool,
    /// Whether this is a branch of a run that another process drives. A branch has no entry of its
    /// own in the registry.
    pub(crate) is_branch: bool,
    /// The place in the log at which the run began. Events of other runs from there on are
    /// concurrent.
    pub(crate) began: u64,
    /// One more than the greatest known place in the log. Counted only if branches may run in
    /// other processes.
    places: AtomicU64,
    /// The record with which the run is registered. Its first commit stores the record and leaves
    /// `None`.
    begins: Mutex<Option<Arc<RunRecord>>>,
    usage: Mutex<Usage>,
    llm_calls: AtomicU32,
    loops: Mutex<Vec<LoopEnd>>,
    waiting: Mutex<BTreeMap<u64, Waiting>>,
    /// The enclosing run, for an agent that is used as a tool.
    outer: Option<Arc<Run>>,
    /// Maps the steps of this run to records of the enclosing run.
    within: Option<Arc<NestedEngine>>,
    /// The tool call of the enclosing run that executes this run.
    within_call: Option<Box<CallPlace>>,
    /// Whether the registry knows the run before its first commit, because it was queued or is
    /// resumed.
    pub(crate) is_registered: bool,
    /// Whether this process cancelled the run.
    cancelled: AtomicBool,
    /// The time by which the run must end, and the configured deadline as a duration.
    pub(crate) deadline: Option<(Instant, Duration)>,
    /// A lock for updates that no store can isolate from other branches.
    updating: tokio::sync::Mutex<()>,
    /// Agents that have finished since the last commit.
    done: Mutex<Vec<Done>>,
    failures: failures::Failures,
    lost_waits: lost_waits::LostWaits,
    /// Reports of remote branches whose blocks were dropped before the branches ended.
    left: Mutex<Vec<(remote::PendingReport, Option<Arc<KeyScope>>)>>,
    /// The trace that the run continues, as text.
    pub(crate) trace_parent: Option<Box<str>>,
}

/// Services that all runs of a runner share.
pub(crate) struct Services {
    pub(crate) artifacts: Arc<dyn crate::ArtifactStore>,
    pub(crate) memory: Option<Arc<dyn crate::memory::MemoryService>>,
    pub(crate) models: Models,
    pub(crate) plugins: Plugins,
    pub(crate) resources: SharedResources,
    pub(crate) prices: Option<Arc<Prices>>,
}

impl Run {
    pub(crate) fn new(
        session: Arc<Session>,
        engine: Arc<dyn Engine>,
        config: RunConfig,
        services: Arc<Services>,
    ) -> Self {
        let seed = IdSeed::new();
        let id = seed.run(now_micros());
        Self {
            id,
            claim: ClaimId::first(id),
            is_in_memory: engine.is_memory(),
            delivery: Arc::new(Delivery::new(session, seed)),
            engine,
            config,
            services,
            live: None,
            replay: None,
            is_alone: false,
            is_branch: false,
            began: u64::MAX,
            places: AtomicU64::new(0),
            begins: Mutex::default(),
            usage: Mutex::default(),
            llm_calls: AtomicU32::new(0),
            loops: Mutex::default(),
            waiting: Mutex::default(),
            outer: None,
            within: None,
            within_call: None,
            is_registered: false,
            cancelled: AtomicBool::new(false),
            deadline: None,
            updating: tokio::sync::Mutex::const_new(()),
            done: Mutex::default(),
            failures: failures::Failures::default(),
            lost_waits: lost_waits::LostWaits::default(),
            left: Mutex::default(),
            trace_parent: None,
        }
    }

    /// Creates the run of an agent that is used as a tool. The run works on a copy of the state
    /// with `delta` on top, and on the artifacts of the session itself. Events of the run are not
    /// stored. Its steps are recorded under `call`; without a `call`, the engine records the tool
    /// call as a whole.
    pub(crate) fn for_agent_tool(
        outer: &Arc<Run>,
        delta: &StateDelta,
        call: Option<Name>,
        within_call: CallPlace,
    ) -> Self {
        let session = outer.session().copy_with(delta);
        let mut config = outer.config.clone();
        config.streaming = false;
        let within =
            call.map(|call| Arc::new(NestedEngine::new(outer.engine.clone(), outer.claim, call)));
        let engine: Arc<dyn Engine> = match &within {
            Some(within) => within.clone(),
            None => Arc::new(crate::store::engine::MemoryEngine),
        };
        let mut run = Self::new(Arc::new(session), engine, config, outer.services.clone());
        run.within = within;
        run.within_call = Some(Box::new(within_call));
        *write(&run.delivery.temp) = read(&outer.delivery.temp).clone();
        if let Some(own) = outer.own_keys() {
            let own = own.copy();
            own.record(delta);
            run.set_own_keys(own);
        }
        for (key, value) in delta
            .iter()
            .filter(|(key, _)| Scope::of(key) == Scope::Temp)
        {
            run.set_temp(key.clone(), value.clone());
        }
        run.outer = Some(outer.clone());
        run
    }

    /// Sets a stored key before the run begins.
    pub(crate) fn preset(&self, key: &str, value: Value) {
        let value = Arc::new(value);
        if Scope::of(key) == Scope::Temp {
            return self.set_temp(Name::shared(key), value);
        }
        if let Some(own) = self.live_own_keys() {
            own.record(&StateDelta::from_iter([(Name::shared(key), value.clone())]));
        }
        self.session().preset(Name::shared(key), value);
    }

    /// Returns the keys that hold only the writes of this run. `None` if the workflow is not
    /// closed.
    pub(crate) fn own_keys(&self) -> Option<&OwnKeys> {
        self.replay
            .as_deref()
            .and_then(Replay::own_keys)
            .or_else(|| self.live_own_keys())
    }

    /// Returns the keys that hold only the writes of this run, with the values in the store. During
    /// a replay, [`own_keys`](Self::own_keys) returns earlier values.
    pub(crate) fn live_own_keys(&self) -> Option<&OwnKeys> {
        self.delivery.live_own()
    }

    /// Makes `own` the keys that hold the writes of this run.
    pub(crate) fn set_own_keys(&self, own: OwnKeys) {
        if let Some(replay) = &self.replay {
            replay.set_own_keys(&own);
        }
        let _ = self.delivery.own.set(Box::new(own));
    }

    /// Creates a run in memory with a session of its own and without models, for the test of a
    /// tool.
    pub(crate) fn for_tests(resources: SharedResources) -> Self {
        let key = crate::store::session::SessionKey::new("test", "user", "test");
        let session = Arc::new(Session::new(
            key,
            SharedState::default(),
            SharedState::default(),
        ));
        let models = Models::new(Arc::new(crate::model::NoProvider));
        let services = Services {
            artifacts: Arc::new(crate::MemoryArtifacts::new()),
            memory: None,
            models,
            plugins: Plugins::default(),
            resources,
            prices: None,
        };
        Self::new(
            session,
            Arc::new(crate::store::engine::MemoryEngine),
            RunConfig::default(),
            Arc::new(services),
        )
    }

    /// Returns the session as the run sees it.
    pub(crate) fn session(&self) -> &Arc<Session> {
        self.replay
            .as_deref()
            .and_then(Replay::session)
            .unwrap_or(&self.delivery.session)
    }

    /// Attaches the record of a new run to its first commit, with the session as it is now.
    pub(crate) fn attach_record(&mut self, mut record: RunRecord) {
        self.began = self.delivery.session.len() as u64;
        record.state = self.delivery.session.state().into_iter().collect();
        record.begins = self.began;
        record.is_queued = false;
        self.begins = Mutex::new(Some(Arc::new(record)));
    }

    /// Returns whether the registry never had a claim for the run, because none of its events was
    /// stored.
    pub(crate) fn is_unknown(&self) -> bool {
        !self.is_registered && !self.claim.is_driven_above() && self.outbox().is_unused()
    }

    /// Keeps the trace of a new run in its record, for the process that resumes the run.
    pub(crate) fn keep_trace(&self, span: &TraceSpan) {
        if let Some(record) = lock(&self.begins).as_mut().and_then(Arc::get_mut) {
            record.trace = span.context();
        }
    }

    /// Cancels the run at once, without waiting for its next commit.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        self.outbox().wake();
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    /// Computes the deadline from the settings, for a run that has already taken some time.
    pub(crate) fn set_deadline(&mut self, taken: Duration) {
        self.deadline = self.config.deadline.and_then(|longest| {
            // A deadline that overflows the clock counts as no deadline.
            let deadline = Instant::now().checked_add(longest.saturating_sub(taken))?;
            Some((deadline, longest))
        });
    }

    /// Continues a claimed run, and returns its claim.
    pub(crate) fn resume(&mut self, claimed: ClaimedRun) -> Claim {
        self.id = claimed.record.run_id;
        self.claim = claimed.claim.id();
        self.is_registered = true;
        self.began = claimed.record.begins;
        self.trace_parent = claimed.record.trace.as_deref().map(Box::from);
        if claimed.starts_over {
            return claimed.claim;
        }
        let begins = usize::try_from(claimed.record.begins).unwrap_or(usize::MAX);
        self.delivery.session.keep(begins, &claimed.events);
        let (replay, claim) = Replay::new(claimed, &self.delivery.session);
        self.replay = Some(Box::new(replay));
        claim
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
            Some(name) => self.secret(name),
            None => Some(value),
        }
    }

    /// Returns a secret that the run keeps under a name.
    pub(crate) fn secret(&self, name: &str) -> Option<Arc<Value>> {
        self.delivery.temp(name)
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

    pub(crate) fn set_temp(&self, key: Name, value: Arc<Value>) {
        self.delivery.set_temp(key, value);
    }

    pub(crate) fn usage(&self) -> Usage {
        *lock(&self.usage)
    }

    pub(crate) fn add_usage(&self, usage: Usage) {
        *lock(&self.usage) += usage;
        if let Some(outer) = &self.outer {
            outer.add_usage(usage);
        }
    }

    /// Counts a model call before the call is made or read from its record.
    pub(crate) fn count_llm_call(&self, is_recorded: bool) -> Result<()> {
        if let Some(outer) = &self.outer {
            return outer.count_llm_call(is_recorded);
        }
        let max = self.config.max_llm_calls;
        let made = self.llm_calls.fetch_add(1, Ordering::Relaxed);
        if max > 0 && made >= max && !is_recorded {
            let message =
                format!("this run has made {max} model calls, which is its `max_llm_calls`");
            return Err(Error::new(ErrorKind::LlmCallsExceeded, message)
                .with_help("raise it with `RunConfig::max_llm_calls(n)`, 0 for no limit"));
        }
        Ok(())
    }

    /// Returns whether the run is part of another run.
    pub(crate) fn is_inside(&self) -> bool {
        self.outer.is_some()
    }

    /// Returns the recorded result of a call, if the engine has supplied the journal.
    pub(crate) fn recorded_result(&self, key: &StepKey) -> Option<Value> {
        self.record_of(key, Value::clone)
    }

    /// Returns whether the result of a call is read from the journal, so that the call is not made
    /// again. A failed call in the journal is made again.
    pub(crate) fn is_answered(&self, key: &StepKey) -> bool {
        self.record_of(key, |record| !is_failure(record))
            .unwrap_or_default()
    }

    fn record_of<T>(&self, key: &StepKey, read: impl FnOnce(&Value) -> T) -> Option<T> {
        match (&self.outer, &self.within) {
            (Some(outer), Some(within)) => outer.record_of(&within.key(key), read),
            _ => self.replay.as_ref()?.step(&key.to_string()).map(read),
        }
    }

    /// Returns whether the journal of a resumed run contains anything below a path, which is a
    /// round or an element of a block.
    pub(crate) fn has_begun(&self, path: &Path) -> bool {
        self.replay
            .as_ref()
            .is_some_and(|replay| replay.has_begun(path))
    }

    /// Returns whether the engine has supplied a journal of this run, or of the run around it.
    pub(crate) fn has_record(&self) -> bool {
        match &self.outer {
            Some(outer) => outer.has_record(),
            None => self.replay.is_some(),
        }
    }

    /// Creates the slot of an event. The slot also carries the agents that have finished since the
    /// last commit.
    pub(crate) fn slot(&self, path: Path, nth: u32) -> Slot {
        let mut slot = Slot::new(self.claim, path, nth, self.delivery.clone());
        if self.engine.records() {
            slot.done = std::mem::take(&mut *lock(&self.done));
            slot.begins = lock(&self.begins).take();
        }
        slot
    }

    /// Marks an agent as finished, with the next commit. No mark is made if an engine such as
    /// Restate drives the run: it executes the agent again and answers its calls from its own log.
    pub(crate) fn mark_finished(&self, path: &Path, flow: &Flow, usage: Option<&Usage>) {
        if !self.engine.records() {
            return;
        }
        self.forget_failures(path);
        if !self.claim.is_driven_above() {
            lock(&self.done).push(Done::new(
                path.clone(),
                flow.clone(),
                usage.copied().unwrap_or_default(),
            ));
        }
    }

    /// Takes the agents that have finished since the last commit, for a run without further
    /// commits.
    pub(crate) fn take_finished(&self) -> Vec<Done> {
        std::mem::take(&mut *lock(&self.done))
    }

    /// Counts the usage of model calls that are not repeated.
    pub(crate) fn count_skipped(&self, usage: Usage) {
        self.add_usage(usage);
        self.count_earlier_calls(u32::try_from(usage.calls).unwrap_or(u32::MAX));
    }

    /// Counts model calls of an earlier execution.
    fn count_earlier_calls(&self, calls: u32) {
        match &self.outer {
            Some(outer) => outer.count_earlier_calls(calls),
            None => drop(self.llm_calls.fetch_add(calls, Ordering::Relaxed)),
        }
    }

    pub(crate) fn end_loop(&self, end: LoopEnd) {
        lock(&self.loops).push(end);
    }

    /// Forgets the loop ends at the matching paths, because their work was discarded.
    pub(crate) fn forget_loops(&self, is_match: impl Fn(&Path) -> bool) {
        lock(&self.loops).retain(|end| !is_match(&end.path));
    }

    pub(crate) fn take_loops(&self) -> Vec<LoopEnd> {
        std::mem::take(&mut *lock(&self.loops))
    }

    /// Registers an open wait until the returned guard is dropped.
    pub(crate) fn add_waiting(&self, waiting: Waiting) -> impl Drop + Send {
        let mut all = lock(&self.waiting);
        let number = all.last_key_value().map_or(0, |(last, _)| last + 1);
        all.insert(number, waiting);
        WaitingGuard { run: self, number }
    }

    /// Returns the open waits, in the order in which they began.
    pub(crate) fn open_waits(&self) -> Vec<Waiting> {
        lock(&self.waiting).values().cloned().collect()
    }
}

struct WaitingGuard<'a> {
    run: &'a Run,
    number: u64,
}

impl Drop for WaitingGuard<'_> {
    fn drop(&mut self) {
        lock(&self.run.waiting).remove(&self.number);
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Run({}, session {})", self.id, self.session().key())
    }
}
