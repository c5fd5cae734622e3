//! [`Log`]: data that outlives every process: events with their slots, records of calls, answers.

use adk_build::engine::{DrivenRun, RunRecord, RunStatus, Slot, Stored, Update, Waiting};
use adk_build::session::{
    EventFilter, Location, Opening, Session, SessionKey, SessionSnapshot, SessionStore, StateMap,
};
use adk_build::{BoxFuture, Event, Result, StateDelta};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Kept>>, pub Arc<Notify>);

#[derive(Default)]
struct Kept {
    sessions: BTreeMap<SessionKey, StateDelta>,
    record: Option<Arc<RunRecord>>,
    events: Vec<Arc<Event>>,
    slots: HashMap<String, (usize, StateDelta)>,
    steps: HashMap<String, Value>,
    answers: HashMap<String, Value>,
    asked: Vec<Waiting>,
    status: Option<RunStatus>,
    report: Option<Value>,
    branches: usize,
}

impl Log {
    /// Returns the event that a slot already holds. Every caller gets it.
    pub fn stored(&self, slot: &Slot) -> Option<Stored> {
        let kept = self.0.lock().unwrap();
        let (place, temp) = kept.slots.get(&slot.to_string())?;
        Some(Stored::earlier(
            *place as u64,
            kept.events[*place].clone(),
            temp.clone(),
        ))
    }

    /// Applies an update. The lock of the log prevents writes between its read and its write.
    pub fn update(&self, slot: &mut Slot, update: &mut Update) -> Result<Stored> {
        let mut kept = self.0.lock().unwrap();
        let deltas = kept
            .events
            .iter()
            .rev()
            .map(|event| &event.actions.state_delta);
        let initial = kept.sessions.get(slot.session_key());
        let current = deltas
            .chain(initial)
            .find_map(|delta| delta.get(update.key()).cloned());
        let draft = update.apply(current.as_deref())?;
        Ok(Self::put(&mut kept, slot, draft.event, draft.temp))
    }

    pub fn append(&self, slot: &mut Slot, event: Arc<Event>, temp: StateDelta) -> Stored {
        Self::put(&mut self.0.lock().unwrap(), slot, event, temp)
    }

    fn put(kept: &mut Kept, slot: &mut Slot, mut event: Arc<Event>, temp: StateDelta) -> Stored {
        if let Some(record) = slot.begins.take() {
            kept.record = Some(record);
        }
        let latest = kept.events.last().map_or(0, |event| event.timestamp);
        slot.stamp(Arc::make_mut(&mut event), latest);
        let place = kept.events.len();
        kept.events.push(event.clone());
        kept.slots.insert(slot.to_string(), (place, temp.clone()));
        Stored::earlier(place as u64, event, temp)
    }

    pub fn step(&self, key: &str) -> Option<Value> {
        self.0.lock().unwrap().steps.get(key).cloned()
    }

    /// Records a call. Panics if the call is already recorded.
    pub fn record(&self, key: String, value: Value) {
        let before = self.0.lock().unwrap().steps.insert(key.clone(), value);
        assert!(before.is_none(), "{key} was executed again");
    }

    /// Returns the answer to a wait, if any.
    pub fn answer_of(&self, waiting: &Waiting) -> Option<Value> {
        let mut kept = self.0.lock().unwrap();
        if !kept.asked.iter().any(|asked| asked.id == waiting.id) {
            kept.asked.push(waiting.clone());
        }
        let answer = kept.answers.get(&waiting.id).cloned();
        kept.status = Some(if answer.is_some() {
            RunStatus::Running
        } else {
            RunStatus::Paused
        });
        answer
    }

    pub fn question_ids(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap()
            .asked
            .iter()
            .map(|asked| asked.id.clone())
            .collect()
    }

    pub fn waiting(&self) -> Vec<Waiting> {
        let kept = self.0.lock().unwrap();
        kept.asked
            .iter()
            .filter(|asked| !kept.answers.contains_key(&asked.id))
            .cloned()
            .collect()
    }

    pub fn is(&self, status: RunStatus) {
        self.0.lock().unwrap().status = Some(status);
    }

    pub fn ended(&self, report: Value) {
        self.0.lock().unwrap().report = Some(report);
        self.1.notify_waiters();
    }

    pub fn report(&self) -> Option<Value> {
        self.0.lock().unwrap().report.clone()
    }

    pub fn driven(&self, from: u64) -> Option<DrivenRun> {
        let record = self.record_of_run()?;
        let places: Vec<_> = (from..self.events().len() as u64).collect();
        let events = self
            .at(&places)
            .into_iter()
            .map(|stored| (String::new(), stored))
            .collect();
        let status = self
            .0
            .lock()
            .unwrap()
            .status
            .clone()
            .unwrap_or(RunStatus::Running);
        Some(DrivenRun::new((*record).clone(), status, None, events))
    }

    pub fn answer(&self, id: &str, value: Value) {
        self.0.lock().unwrap().answers.insert(id.to_owned(), value);
        self.1.notify_waiters();
    }

    pub fn record_of_run(&self) -> Option<Arc<RunRecord>> {
        self.0.lock().unwrap().record.clone()
    }

    pub fn events(&self) -> Vec<Arc<Event>> {
        self.0.lock().unwrap().events.clone()
    }

    pub fn at(&self, places: &[u64]) -> Vec<Stored> {
        let kept = self.0.lock().unwrap();
        let stored_at = |place: &u64| {
            let temp = kept
                .slots
                .values()
                .find(|(at, _)| *at as u64 == *place)
                .unwrap()
                .1
                .clone();
            Stored::earlier(*place, kept.events[*place as usize].clone(), temp)
        };
        places.iter().map(stored_at).collect()
    }

    pub fn count_branch(&self) -> usize {
        let mut kept = self.0.lock().unwrap();
        kept.branches += 1;
        kept.branches
    }

    pub fn branches(&self) -> usize {
        self.0.lock().unwrap().branches
    }
}

/// Each process opens the session from the log and shares no value with others.
impl SessionStore for Log {
    fn location(&self) -> Location {
        Location::Memory
    }
    fn create(&self, key: SessionKey, state: StateDelta) -> BoxFuture<'_, Result<Arc<Session>>> {
        Box::pin(async move {
            self.0.lock().unwrap().sessions.insert(key.clone(), state);
            Ok(self.get(&key).await?.unwrap())
        })
    }
    fn get<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Option<Arc<Session>>>> {
        Box::pin(async move {
            let kept = self.0.lock().unwrap();
            let Some(initial) = kept.sessions.get(key) else {
                return Ok(None);
            };
            let deltas = kept.events.iter().map(|event| &event.actions.state_delta);
            let own: StateMap = [initial]
                .into_iter()
                .chain(deltas)
                .flat_map(|delta| {
                    delta
                        .iter()
                        .map(|(key, value)| (key.clone(), value.clone()))
                })
                .collect();
            let opening = Opening {
                own,
                newest: kept.events.clone(),
                ..Opening::default()
            };
            Ok(Some(Arc::new(Session::open(key.clone(), opening, None))))
        })
    }
    fn read<'a>(
        &'a self,
        _: &'a SessionKey,
        _: &'a EventFilter,
    ) -> BoxFuture<'a, Result<Option<SessionSnapshot>>> {
        unreachable!("a run does not read")
    }
    fn append<'a>(&'a self, _: &'a SessionKey, _: Vec<Event>) -> BoxFuture<'a, Result<()>> {
        unreachable!("a run does not append past its engine")
    }
    fn list<'a>(
        &'a self,
        _: &'a str,
        _: Option<&'a str>,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Vec<SessionSnapshot>>> {
        unreachable!("a run does not list")
    }
    fn delete<'a>(&'a self, _: &'a SessionKey) -> BoxFuture<'a, Result<bool>> {
        unreachable!("a run does not delete")
    }
}
