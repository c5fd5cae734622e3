//! One run: the session it works on, the slot to its consumer, and the context of its agents.

mod above;
mod accessors;
mod actions;
mod announced_keys;
mod apart;
mod artifacts;
mod attempt;
mod budget;
mod call_counts;
mod callback;
mod config;
mod consumption;
mod context;
mod failures;
mod history;
mod lifecycle;
mod lost_waits;
pub mod memory;
mod meter;
mod models;
mod out;
mod outcome;
mod place;
mod plugin;
mod prepare;
mod readonly;
mod replay;
mod scope;
mod seat;
mod state;
mod timers;
mod trace;
mod update;

pub use crate::flow::{LoopEnd, LoopEndReason};
pub use crate::store::engine::Waiting;
pub(crate) use crate::store::engine::record;
pub use actions::ToolActions;
pub use announced_keys::AnnouncedKeys;
pub(crate) use artifacts::MissingArtifactStore;
pub use artifacts::{ArtifactStore, Artifacts, FolderArtifacts, MemoryArtifacts, NoArtifacts, StoredPart};
pub use attempt::{ATTEMPT_KEY, FailedAttempt, WINNER_KEY};
pub use callback::CallbackContext;
pub use config::{RunConfig, SessionTurns};
pub use context::Context;
pub use history::History;
pub use lifecycle::{AGENT_LIFECYCLE_KEY, LIFECYCLE_KEY, Lifecycle, LifecycleOutcome, LifecyclePhase};
pub use out::Out;
pub use outcome::Outcome;
pub use plugin::Plugin;
pub use prepare::Prepare;
pub use readonly::ReadonlyContext;
pub use state::State;
pub use trace::{TraceCarrier, set_trace_carrier};

pub(crate) use above::{Above, Global, Prompt};
pub(crate) use accessors::accessors;
pub(crate) use announced_keys::{WriteRules, Writer, WriterKind};
pub(crate) use call_counts::CallCounts;
pub(crate) use callback::{Place, Steps};
pub(crate) use consumption::{Consumption, metered};
pub(crate) use context::{Answer, Asked, Cut, Frame, NothingWritten, perform};
pub(crate) use lifecycle::Watch;
pub(crate) use lost_waits::OpenWait;
pub(crate) use meter::{Meter, count_again};
pub(crate) use models::{Chain, Models};
pub(crate) use plugin::Plugins;
pub(crate) use scope::KeyScope;
pub(crate) use seat::{Seat, Target};
pub(crate) use state::{Overlay, decode, encode, stored};
pub(crate) use trace::{TraceSpan, error_type, finish_reason, gen_ai_span, in_span, instructions, messages};
pub(crate) use update::{CallPlace, CallStep, Caller, Updates, Written, is_update};

use crate::id::IdSeed;
use crate::models::model::Usage;
use crate::runtime::live::LiveInput;
use crate::runtime::resources::SharedResources;
use crate::spec::Prices;
use crate::store::engine::{
    Claim, ClaimId, ClaimedRun, Delivery, Done, Engine, NestedEngine, RunRecord, Slot, StepKey, is_failure,
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

/// What all contexts of a run share.
pub(crate) struct Run {
    pub(crate) id: RunId,
    /// The claim that its writes carry.
    pub(crate) claim: ClaimId,
    pub(crate) delivery: Arc<Delivery>,
    pub(crate) engine: Arc<dyn Engine>,
    /// The engine keeps nothing: most runs do without slots then.
    pub(crate) is_in_memory: bool,
    pub(crate) config: RunConfig,
    pub(crate) services: Arc<Services>,
    /// What people say while it goes on, for a live run.
    pub(crate) live: Option<LiveInput>,
    /// What was recorded of it, when it is taken up again.
    pub(crate) replay: Option<Box<Replay>>,
    /// No other run knows its session.
    pub(crate) is_alone: bool,
    /// It is a branch of a run that another process drives: it has no place of its own in the book of runs.
    pub(crate) is_branch: bool,
    /// Where its log begins: what another run has said from there on was said at the same time.
    pub(crate) began: u64,
    /// The greatest place in the log that is known here, and one more; counted where branches may run elsewhere.
    places: AtomicU64,
    /// Its record, until its first commit.
    begins: Mutex<Option<Arc<RunRecord>>>,
    usage: Mutex<Usage>,
    llm_calls: AtomicU32,
    loops: Mutex<Vec<LoopEnd>>,
    waiting: Mutex<BTreeMap<u64, Waiting>>,
    /// The run that this one is a part of, for an agent that is used as a tool.
    outer: Option<Arc<Run>>,
    /// How its steps are recorded in that one.
    within: Option<Arc<NestedEngine>>,
    /// The call of that one that it is.
    within_call: Option<Box<CallPlace>>,
    /// The registry has had it before its first commit: it was queued, or is resumed.
    pub(crate) is_registered: bool,
    /// It was cancelled by this process.
    cancelled: AtomicBool,
    /// When it has to have ended, and how long it may take by then.
    pub(crate) deadline: Option<(Instant, Duration)>,
    /// Held by an update that no store can keep from others.
    updating: tokio::sync::Mutex<()>,
    /// Agents that have finished since the last commit.
    done: Mutex<Vec<Done>>,
    failures: failures::Failures,
    lost_waits: lost_waits::LostWaits,
    /// Branches elsewhere that nobody waits for any more.
    left: Mutex<Vec<(apart::Report, Option<Arc<KeyScope>>)>>,
    /// The trace that it continues, as text.
    pub(crate) trace_parent: Option<Box<str>>,
}

/// What all runs of a runner share.
pub(crate) struct Services {
    pub(crate) artifacts: Arc<dyn ArtifactStore>,
    pub(crate) memory: Option<Arc<dyn memory::MemoryService>>,
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

    /// A run inside of another: it works on a copy of the state, with `delta` on top, and on the artifacts of the session
    /// itself. Its events are not stored. Its steps are recorded under the `call` that it is; without one, that is recorded
    /// as a whole.
    pub(crate) fn inside(
        outer: &Arc<Run>,
        delta: &StateDelta,
        call: Option<Name>,
        within_call: CallPlace,
    ) -> Self {
        let session = outer.session().copy_with(delta);
        let mut config = outer.config.clone();
        config.streaming = false;
        let within = call.map(|call| Arc::new(NestedEngine::new(outer.engine.clone(), outer.claim, call)));
        let engine: Arc<dyn Engine> = match &within {
            Some(within) => within.clone(),
            None => Arc::new(crate::store::engine::MemoryEngine),
        };
        let mut run = Self::new(Arc::new(session), engine, config, outer.services.clone());
        run.within = within;
        run.within_call = Some(Box::new(within_call));
        *write(&run.delivery.temp) = read(&outer.delivery.temp).clone();
        if let Some(own) = outer.own() {
            let own = own.copy();
            own.record(delta);
            run.closed_over(own);
        }
        for (key, value) in delta.iter().filter(|(key, _)| Scope::of(key) == Scope::Temp) {
            run.set_temp(key.clone(), value.clone());
        }
        run.outer = Some(outer.clone());
        run
    }

    /// Sets a stored key before the run begins.
    pub(crate) fn begin_with(&self, key: &str, value: Value) {
        let value = Arc::new(value);
        if Scope::of(key) == Scope::Temp {
            return self.set_temp(Name::shared(key), value);
        }
        if let Some(own) = self.live_own() {
            own.record(&StateDelta::from_iter([(Name::shared(key), value.clone())]));
        }
        self.session().preset(Name::shared(key), value);
    }

    /// The keys that hold what this run has written and nothing else, where its workflow is closed.
    pub(crate) fn own(&self) -> Option<&OwnKeys> {
        self.replay.as_deref().and_then(Replay::own).or_else(|| self.live_own())
    }

    /// The same as the store has it, also while a record is given back.
    pub(crate) fn live_own(&self) -> Option<&OwnKeys> {
        self.delivery.live_own()
    }

    /// From now on these keys hold what this run writes.
    pub(crate) fn closed_over(&self, own: OwnKeys) {
        if let Some(replay) = &self.replay {
            replay.closed_over(&own);
        }
        let _ = self.delivery.own.set(Box::new(own));
    }

    /// A run in memory of its own, without models: for a tool that is tested alone.
    pub(crate) fn for_tests(resources: SharedResources) -> Self {
        let key = crate::store::session::SessionKey::new("test", "user", "test");
        let session = Arc::new(Session::new(key, SharedState::default(), SharedState::default()));
        let models = Models::new(Arc::new(crate::models::model::NoProvider));
        let services = Services {
            artifacts: Arc::new(MemoryArtifacts::new()),
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

    /// The session as the run sees it.
    pub(crate) fn session(&self) -> &Arc<Session> {
        self.replay.as_deref().and_then(Replay::session).unwrap_or(&self.delivery.session)
    }

    /// A run that begins, with its session as it is: its record goes with its first commit.
    pub(crate) fn begins_with(&mut self, record: RunRecord) {
        self.began = self.delivery.session.len() as u64;
        let state = self.delivery.session.state().into_iter().collect();
        let record = RunRecord { state, begins: self.began, is_queued: false, ..record };
        self.begins = Mutex::new(Some(Arc::new(record)));
    }

    /// Whether the registry has never had it under a claim of its own, because not one of its events was stored.
    pub(crate) fn is_unknown(&self) -> bool {
        !self.is_registered && !self.claim.is_driven_above() && self.outbox().is_unused()
    }

    /// Keeps the trace of a run that begins in its record, for the process that resumes it.
    pub(crate) fn keep_trace(&self, span: &TraceSpan) {
        if let Some(record) = lock(&self.begins).as_mut().and_then(Arc::get_mut) {
            record.trace = span.context();
        }
    }

    /// Ends it where it is, without waiting for its next commit.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        self.outbox().wake();
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    /// Counts the deadline of the settings, for a run that has taken so long already.
    pub(crate) fn limit(&mut self, taken: Duration) {
        self.deadline = self.config.deadline.and_then(|longest| {
            // One that is too long for the clock is none.
            let deadline = Instant::now().checked_add(longest.saturating_sub(taken))?;
            Some((deadline, longest))
        });
    }

    /// A run that is resumed; gives back the right to drive it.
    pub(crate) fn goes_on_with(&mut self, claimed: ClaimedRun) -> Claim {
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

    /// The slot to the consumer.
    pub(crate) fn outbox(&self) -> &Outbox {
        &self.delivery.outbox
    }

    /// The value of a stored key, `temp:` included.
    pub(crate) fn get(&self, key: &str) -> Option<Arc<Value>> {
        if key.starts_with("temp:") {
            return self.delivery.temp(key);
        }
        let value = match self.own().filter(|own| own.has(key)) {
            Some(own) => own.get(key)?,
            None => self.session().get(key)?,
        };
        match secret::kept_name(key, &value) {
            Some(name) => self.kept(name),
            None => Some(value),
        }
    }

    /// A secret that the run keeps under a name.
    pub(crate) fn kept(&self, name: &str) -> Option<Arc<Value>> {
        self.delivery.temp(name)
    }

    /// The value of a name.
    pub(crate) fn value(&self, scope: Option<&KeyScope>, name: &str) -> Option<Arc<Value>> {
        match scope {
            Some(scope) => self.get(&scope.read_key(name)?),
            None => self.get(name),
        }
    }

    /// The `temp:` keys that hold something.
    pub(crate) fn temps(&self) -> StateDelta {
        let temp = read(&self.delivery.temp);
        let keys = temp.iter().filter(|(key, _)| Scope::of(key) == Scope::Temp);
        keys.map(|(key, value)| (key.clone(), value.clone())).collect()
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

    /// Counts a model call before it is made, or taken from the record.
    pub(crate) fn count_llm_call(&self, is_recorded: bool) -> Result<()> {
        if let Some(outer) = &self.outer {
            return outer.count_llm_call(is_recorded);
        }
        let max = self.config.max_llm_calls;
        let made = self.llm_calls.fetch_add(1, Ordering::Relaxed);
        if max > 0 && made >= max && !is_recorded {
            let message = format!("this run has made {max} model calls, which is its `max_llm_calls`");
            return Err(Error::new(ErrorKind::LlmCallsExceeded, message)
                .with_help("raise it with `RunConfig::max_llm_calls(n)`, 0 for no limit"));
        }
        Ok(())
    }

    /// Whether it is a part of another run.
    pub(crate) fn is_inside(&self) -> bool {
        self.outer.is_some()
    }

    /// What a call has given before, as far as that is in what the engine has handed over.
    pub(crate) fn recorded(&self, key: &StepKey) -> Option<Value> {
        self.record_of(key, Value::clone)
    }

    /// Whether a call is answered from its record. A record of a failed call answers nothing.
    pub(crate) fn is_answered(&self, key: &StepKey) -> bool {
        self.record_of(key, |record| !is_failure(record)).unwrap_or_default()
    }

    fn record_of<T>(&self, key: &StepKey, read: impl FnOnce(&Value) -> T) -> Option<T> {
        match (&self.outer, &self.within) {
            (Some(outer), Some(within)) => outer.record_of(&within.key(key), read),
            _ => self.replay.as_ref()?.step(&key.to_string()).map(read),
        }
    }

    /// Whether a round at that path has begun before, as far as that is in what the engine has handed over.
    pub(crate) fn has_begun(&self, path: &Path) -> bool {
        self.replay.as_ref().is_some_and(|replay| replay.has_begun(path))
    }

    /// Whether the engine has handed over a record of this run.
    pub(crate) fn has_record(&self) -> bool {
        match &self.outer {
            Some(outer) => outer.has_record(),
            None => self.replay.is_some(),
        }
    }

    /// The slot of an event; the agents that have finished ride along.
    pub(crate) fn slot(&self, path: Path, nth: u32) -> Slot {
        let mut slot = Slot::new(self.claim, path, nth, self.delivery.clone());
        if self.engine.records() {
            slot.done = std::mem::take(&mut *lock(&self.done));
            slot.begins = lock(&self.begins).take();
        }
        slot
    }

    /// An agent has finished: told with the next commit. An engine above the store executes it again, and gives what it gave.
    pub(crate) fn finished(&self, path: &Path, flow: &Flow, usage: Option<&Usage>) {
        if !self.engine.records() {
            return;
        }
        self.forget_failures(path);
        if !self.claim.is_driven_above() {
            lock(&self.done).push(Done::new(path.clone(), flow.clone(), usage.copied().unwrap_or_default()));
        }
    }

    /// The agents that have finished since the last commit, of a run that makes no more.
    pub(crate) fn last_finished(&self) -> Vec<Done> {
        std::mem::take(&mut *lock(&self.done))
    }

    /// Something is not done again: what its model calls used counts all the same.
    pub(crate) fn skipped(&self, usage: Usage) {
        self.add_usage(usage);
        self.counted(u32::try_from(usage.calls).unwrap_or(u32::MAX));
    }

    /// Model calls that were made before.
    fn counted(&self, calls: u32) {
        match &self.outer {
            Some(outer) => outer.counted(calls),
            None => drop(self.llm_calls.fetch_add(calls, Ordering::Relaxed)),
        }
    }

    pub(crate) fn end_loop(&self, end: LoopEnd) {
        lock(&self.loops).push(end);
    }

    /// The loops at the paths that are meant have ended in vain: what is around them goes on without them.
    pub(crate) fn forget_loops(&self, is_meant: impl Fn(&Path) -> bool) {
        lock(&self.loops).retain(|end| !is_meant(&end.path));
    }

    pub(crate) fn loops(&self) -> Vec<LoopEnd> {
        std::mem::take(&mut *lock(&self.loops))
    }

    /// Somebody waits, for as long as what this returns lives: a wait that is cancelled is not one.
    pub(crate) fn add_waiting(&self, waiting: Waiting) -> impl Drop + Send {
        let mut all = lock(&self.waiting);
        let number = all.last_key_value().map_or(0, |(last, _)| last + 1);
        all.insert(number, waiting);
        Waits { run: self, number }
    }

    /// Who waits, in the order in which they began to.
    pub(crate) fn waiting(&self) -> Vec<Waiting> {
        lock(&self.waiting).values().cloned().collect()
    }
}

struct Waits<'a> {
    run: &'a Run,
    number: u64,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        lock(&self.run.waiting).remove(&self.number);
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Run({}, session {})", self.id, self.session().key())
    }
}
