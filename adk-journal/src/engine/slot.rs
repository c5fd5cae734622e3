//! [`Slot`] and [`Body`]: the place of an event and its content, and the delivery of a stored event
//! to the session and the consumer.

use super::claim::ClaimId;
use super::parts::OpenBlocks;
use super::registry::{Done, RunRecord};
use super::update::Update;
use crate::event::{Event, StateDelta};
use crate::id::IdSeed;
use crate::outbox::Outbox;
use crate::session::own_keys::OwnKeys;
use crate::session::{Scope, Session, SessionKey, StateMap};
use crate::sync::{read, write};
use crate::{BoxFuture, Error, ErrorKind, Name, Path, Result, RunId};
use serde_json::Value;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock, RwLock};

/// The targets of the events of a run: the log of its session, and its consumer.
#[derive(Debug)]
pub struct Delivery {
    /// The session.
    pub session: Arc<Session>,
    /// The seed of the ids of events.
    pub seed: IdSeed,
    /// The queue of events to the consumer.
    pub outbox: Outbox,
    /// The keys that the run itself has written. Set only for a [closed](OwnKeys) workflow.
    pub own: OnceLock<Box<OwnKeys>>,
    /// The `temp:` keys and secrets of the run.
    pub temp: RwLock<StateMap>,
    /// The blocks whose parts may be discarded.
    blocks: OnceLock<Box<OpenBlocks>>,
}

impl Delivery {
    /// Creates the slot of an event. `update` names the slot of an update of state.
    pub fn slot(
        self: Arc<Self>,
        claim: ClaimId,
        path: Path,
        nth: u32,
        update: Option<Name>,
    ) -> Slot {
        self.outbox.begin_commit();
        Slot {
            run_id: claim.run_id,
            epoch: claim.epoch,
            path,
            nth,
            done: Vec::new(),
            begins: None,
            update,
            delivery: Committing(self),
        }
    }

    /// Creates the delivery of a run.
    pub fn new(session: Arc<Session>, seed: IdSeed) -> Self {
        Self {
            session,
            seed,
            outbox: Outbox::default(),
            own: OnceLock::new(),
            temp: RwLock::default(),
            blocks: OnceLock::new(),
        }
    }

    /// Records the writes of the run.
    pub fn record(&self, event: &Event) {
        if let Some(own) = self.live_own() {
            own.record_event(event);
        }
    }

    /// Notes an event of the run that is about to be applied to its session.
    pub fn note(&self, event: &Event, temp: &StateDelta, session: &Session, own: Option<&OwnKeys>) {
        if let Some(blocks) = self.open_blocks() {
            blocks.note(event, temp, |key| self.value(key, session, own));
        }
    }

    fn value(&self, key: &str, session: &Session, own: Option<&OwnKeys>) -> Option<Arc<Value>> {
        match own.filter(|own| own.has(key)) {
            _ if Scope::of(key) == Scope::Temp => self.temp(key),
            Some(own) => own.get(key),
            None => session.get(key),
        }
    }

    /// Returns the values of keys, if a block is open that may need them.
    fn values_before<'k>(
        &self,
        keys: impl Iterator<Item = &'k Name>,
    ) -> Vec<(Name, Option<Arc<Value>>)> {
        if self.open_blocks().is_none() {
            return Vec::new();
        }
        keys.map(|key| (key.clone(), self.value(key, &self.session, self.live_own())))
            .collect()
    }

    fn note_live(&self, event: &Event, temp: &StateDelta) {
        self.note(event, temp, &self.session, self.live_own());
    }

    /// Returns the keys of a closed workflow with the values that the store has for them.
    pub fn live_own(&self) -> Option<&OwnKeys> {
        self.own.get().map(|own| &**own)
    }

    /// Returns the blocks whose parts may be discarded. Few runs have such blocks.
    pub fn blocks(&self) -> &OpenBlocks {
        self.blocks.get_or_init(Box::default)
    }

    fn open_blocks(&self) -> Option<&OpenBlocks> {
        self.blocks
            .get()
            .map(|blocks| &**blocks)
            .filter(|blocks| blocks.is_any())
    }

    /// Returns a `temp:` key of the run.
    pub fn temp(&self, key: &str) -> Option<Arc<Value>> {
        read(&self.temp).get(key).cloned()
    }

    /// Sets a `temp:` key of the run.
    pub fn set_temp(&self, key: Name, value: Arc<Value>) {
        write(&self.temp).insert(key, value);
    }

    /// Appends an event to the session in memory, and queues it for the consumer.
    pub fn append(&self, draft: Draft) -> Stored {
        let mut ticket = 0;
        self.note_live(&draft.event, &draft.temp);
        let put = |event: &Arc<Event>| ticket = self.put(event);
        let (place, event) = self.session.append(draft.event, self.seed, put);
        Stored {
            place,
            event,
            temp: draft.temp,
            ticket: Some(ticket),
        }
    }

    fn put(&self, event: &Arc<Event>) -> u64 {
        self.record(event);
        self.outbox.push(event.clone())
    }
}

/// A commit in flight: the run does not end before the result of the commit is known.
struct Committing(Arc<Delivery>);

impl Deref for Committing {
    type Target = Delivery;
    fn deref(&self) -> &Delivery {
        &self.0
    }
}

impl Drop for Committing {
    fn drop(&mut self) {
        self.0.outbox.end_commit();
    }
}

/// The slot of an event; its key is (run, path with rounds, nth). An update of state is not
/// numbered with the other events of its agent. It has a name instead, which the text of the slot
/// contains: `writing/clerk!update/user:n@3`, or `writing/clerk!tool.add@2/user:n@0` in a tool
/// call. Stores keep slots as text.
///
/// A slot owns its data and may be sent anywhere. The run does not end while one of its slots
/// lives, so an engine drops a slot as soon as it knows the result of the commit.
pub struct Slot {
    /// The run.
    pub run_id: RunId,
    /// The number of the claim that writes, see [`ClaimId`].
    pub epoch: u64,
    /// The path of the agent that emits.
    pub path: Path,
    /// The number of events that this agent has emitted before in this turn.
    pub nth: u32,
    /// The agents of this run that have finished since its last commit.
    pub done: Vec<Done>,
    /// The record of the run; set only in the slot of the run's first event.
    pub begins: Option<Arc<RunRecord>>,
    /// The name of an update of state, which replaces `nth`.
    update: Option<Name>,
    delivery: Committing,
}

/// An event before its commit.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Draft {
    /// The event, without id, time and place. No other holder shares it yet.
    pub event: Arc<Event>,
    /// The `temp:` keys and secrets that it sets. They are kept in the journal of the run and
    /// never in an event.
    pub temp: StateDelta,
}

/// The content of a slot: a known event, or the result of a call that this event records.
#[allow(missing_debug_implementations)]
pub enum Body {
    /// A known event.
    Ready(Draft),
    /// The result of this call. An error of the call is not recorded.
    Call(BoxFuture<'static, Result<Draft>>),
    /// An event that is made in the transaction, from the value that the store has for a key: an
    /// atomic read and write.
    Update(Box<Update>),
}

/// A stored event.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stored {
    /// The place in the log of the session.
    pub place: u64,
    /// The event.
    pub event: Arc<Event>,
    /// The `temp:` keys and secrets that came with it.
    pub temp: StateDelta,
    /// The place in the outbox; `None` when it was stored before and is not delivered again.
    pub ticket: Option<u64>,
}

impl Stored {
    /// Creates an event that an earlier attempt has stored, and that the session in memory holds
    /// already.
    pub fn earlier(place: u64, event: Arc<Event>, temp: StateDelta) -> Self {
        Self {
            place,
            event,
            temp,
            ticket: None,
        }
    }
}

impl Slot {
    /// Returns the claim that writes.
    pub fn claim(&self) -> ClaimId {
        ClaimId {
            run_id: self.run_id,
            epoch: self.epoch,
        }
    }

    /// Returns the session that the event belongs to.
    pub fn session(&self) -> &Arc<Session> {
        &self.delivery.session
    }

    /// Returns the key of that session.
    pub fn session_key(&self) -> &SessionKey {
        self.delivery.session.key()
    }

    /// Assigns an id and a time to the event, for a store that knows the time of the latest event
    /// in the log, in microseconds since 1970. The new time is later, even if the clock was set
    /// back, so that ids sort as the log does.
    pub fn stamp(&self, event: &mut Event, latest: u64) {
        event.timestamp = crate::session::now_micros().max(latest.saturating_add(1));
        event.id = self.delivery.seed.event(event.timestamp, 0);
    }

    /// Commits an event, for an engine whose log is the session in memory: assigns its id, time and
    /// place, applies it to the session, appends it to its log, and queues it for the consumer, in
    /// one step.
    pub fn append(self, draft: Draft) -> Stored {
        self.delivery.append(draft)
    }

    /// Commits a [`Body::Update`], as [`append`](Self::append) does: the value is read, changed and
    /// written in one step.
    ///
    /// # Errors
    /// The error of [`Update::apply`]. Nothing has changed then.
    pub fn append_update(self, mut update: Update) -> Result<Stored> {
        let delivery = &self.delivery;
        let mut ticket = 0;
        let put = |event: &Arc<Event>| ticket = delivery.put(event);
        let (key, mut temp) = (update.key().clone(), StateDelta::default());
        // The session is locked while the value is made, so the values are read before.
        let before = delivery.values_before(
            update
                .also_writes()
                .iter()
                .map(|(key, _)| key)
                .chain([&key]),
        );
        let make = |current: Option<&Value>| {
            let draft = update.apply(current)?;
            temp = draft.temp;
            Ok(draft.event)
        };
        let (place, event) = delivery
            .session
            .append_update(&key, make, delivery.seed, put)?;
        if let Some(blocks) = delivery.open_blocks() {
            blocks.note(&event, &temp, |key| {
                before
                    .iter()
                    .find(|(written, _)| written == key)
                    .and_then(|(_, value)| value.clone())
            });
        }
        Ok(Stored {
            place,
            event,
            temp,
            ticket: Some(ticket),
        })
    }

    /// Delivers an event, for an engine with its own log, which has stored the event at this place
    /// with its id and time. Applies the event to the session in memory and queues it for the
    /// consumer. Must be called in the order of the log.
    pub fn deliver(self, place: u64, event: Arc<Event>, temp: StateDelta) -> Stored {
        let delivery = &self.delivery;
        delivery.note_live(&event, &temp);
        delivery.session.append_stored(event.clone());
        let ticket = Some(delivery.put(&event));
        Stored {
            place,
            event,
            temp,
            ticket,
        }
    }
}

impl Draft {
    /// Creates a draft that sets no `temp:` key and no secret.
    pub fn new(event: impl Into<Arc<Event>>) -> Self {
        Self {
            event: event.into(),
            temp: StateDelta::default(),
        }
    }
}

impl Body {
    /// Returns the draft, after the call if it has one.
    ///
    /// # Errors
    /// Errors of the call. A [`Body::Update`] has no draft before its transaction: an engine
    /// matches it first.
    pub async fn draft(self) -> Result<Draft> {
        match self {
            Self::Ready(draft) => Ok(draft),
            Self::Call(work) => work.await,
            Self::Update(update) => {
                let message = format!(
                    "the engine of this runner cannot update state key `{}`",
                    update.key()
                );
                Err(Error::new(ErrorKind::Config, message)
                    .with_help("handle `Body::Update` in its `commit`, or read the key and set it"))
            }
        }
    }
}

/// The text of the slot within its run, as it is stored: `writing/critic!0`.
impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.update {
            Some(update) => write!(f, "{}!{update}", self.path),
            None => write!(f, "{}!{}", self.path, self.nth),
        }
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Slot({self} of {})", self.run_id)
    }
}
