//! An engine that keeps runs in memory: they survive their streams, and not the process.

use super::{
    Body, Done, Engine, Fits, Reply, RunInfo, RunRecord, RunStatus, Slot, StepKey, Stored, Taken, Wait,
    Waiting, refuse,
};
use crate::event::{Event, StateDelta};
use crate::session::Session;
use crate::sync::lock;
use crate::{BoxFuture, Result, RunId};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::future::ready;
use std::sync::{Arc, Mutex};

/// Keeps the journal of runs in memory, beside a [`MemoryStore`](crate::session::MemoryStore). A run whose stream was
/// dropped, or that waits for people, is taken up again in the same process. Clones share everything, so that two
/// runners may work on the same runs.
///
/// ```
/// # use adk_core as adk;
/// use adk::Runner;
/// use adk::engine::MemoryJournal;
/// # fn main() -> adk::Result<()> {
/// let runner: Runner = Runner::builder().engine(MemoryJournal::new()).build()?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryJournal {
    runs: Arc<Mutex<BTreeMap<RunId, Kept>>>,
}

/// What is kept of a run. Ids sort by time, so runs are in the order in which they began.
#[derive(Debug)]
struct Kept {
    record: Arc<RunRecord>,
    session: Arc<Session>,
    slots: HashMap<String, Stored>,
    steps: HashMap<String, Value>,
    done: Vec<Done>,
    waits: Vec<Open>,
    status: RunStatus,
    is_driven: bool,
}

/// A wait, and its answer.
#[derive(Debug)]
struct Open {
    waiting: Waiting,
    answer: Option<Value>,
    /// Whether the run has been driven with the answer.
    is_seen: bool,
}

impl MemoryJournal {
    /// A journal without runs.
    pub fn new() -> Self {
        Self::default()
    }

    fn stored(&self, slot: &Slot) -> Option<Stored> {
        let runs = lock(&self.runs);
        let found = runs.get(&slot.run_id)?.slots.get(&slot.to_string())?;
        Some(Stored::earlier(found.place, found.event.clone(), found.temp.clone()))
    }

    fn store(&self, mut slot: Slot, draft: super::Draft) -> Result<Stored> {
        let mut runs = lock(&self.runs);
        let id = slot.run_id;
        if let Some(record) = slot.begins.take() {
            let session = slot.session().clone();
            runs.entry(id).or_insert_with(|| Kept::new(record, session));
        }
        let run = runs.get_mut(&id).ok_or_else(|| refuse::unknown_run(id))?;
        run.done.append(&mut slot.done);
        let key = slot.to_string();
        let stored = slot.append(draft);
        let kept = Stored::earlier(stored.place, stored.event.clone(), stored.temp.clone());
        run.slots.insert(key, kept);
        Ok(stored)
    }
}

impl Kept {
    fn new(record: Arc<RunRecord>, session: Arc<Session>) -> Self {
        Self {
            record,
            session,
            slots: HashMap::new(),
            steps: HashMap::new(),
            done: Vec::new(),
            waits: Vec::new(),
            status: RunStatus::Running,
            is_driven: true,
        }
    }

    /// It is driven from now on: what was recorded of it.
    fn taken(&mut self) -> Taken {
        self.is_driven = true;
        self.status = RunStatus::Running;
        self.waits.iter_mut().for_each(|wait| wait.is_seen = wait.answer.is_some());
        let begins = usize::try_from(self.record.begins).unwrap_or(usize::MAX);
        let places = begins..self.session.len();
        let events: Vec<Arc<Event>> = places.filter_map(|at| self.session.event(at).cloned()).collect();
        let temps = self.slots.iter().filter(|(_, stored)| !stored.temp.is_empty());
        let temp: HashMap<String, StateDelta> =
            temps.map(|(key, stored)| (key.clone(), stored.temp.clone())).collect();
        let (steps, done) = (self.steps.clone(), self.done.clone());
        Taken { events, temp, steps, done, ..Taken::new(RunRecord::clone(&self.record)) }
    }

    fn info(&self) -> RunInfo {
        let answered = self.waits.iter().any(|wait| wait.answer.is_some() && !wait.is_seen);
        let could = match self.status {
            RunStatus::Running => true,
            RunStatus::Paused => answered,
            RunStatus::Finished | RunStatus::Failed(_) => false,
        };
        RunInfo::of(&self.record, self.status.clone(), could && !self.is_driven)
    }
}

impl Engine for MemoryJournal {
    fn is_durable(&self) -> bool {
        false
    }

    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        if let Some(stored) = self.stored(&slot) {
            return Reply::Ready(Ok(stored));
        }
        match body {
            Body::Ready(draft) => Reply::Ready(self.store(slot, draft)),
            Body::Call(work) => Reply::Later(Box::pin(async move {
                let draft = work.await?;
                self.store(slot, draft)
            })),
        }
    }

    fn step(&self, key: StepKey, work: BoxFuture<'static, Result<Value>>) -> BoxFuture<'_, Result<Value>> {
        Box::pin(async move {
            let text = key.to_string();
            let known = lock(&self.runs).get(&key.run_id).and_then(|run| run.steps.get(&text).cloned());
            if let Some(value) = known {
                return Ok(value);
            }
            let value = work.await?;
            let mut runs = lock(&self.runs);
            // A run without an event has no record yet, and nothing that could be taken up again.
            match runs.get_mut(&key.run_id) {
                Some(run) => Ok(run.steps.entry(text).or_insert(value).clone()),
                None => Ok(value),
            }
        })
    }

    fn answer(&self, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        let mut runs = lock(&self.runs);
        let Some(run) = runs.get_mut(&wait.key.run_id) else {
            return Box::pin(ready(Err(refuse::unknown_run(wait.key.run_id))));
        };
        let known = run.waits.iter_mut().find(|open| open.waiting.id == wait.waiting.id);
        let answer = match known {
            Some(open) => {
                open.is_seen = open.answer.is_some();
                open.answer.clone()
            }
            None => {
                run.waits.push(Open { waiting: wait.waiting, answer: None, is_seen: false });
                None
            }
        };
        Box::pin(ready(Ok(answer)))
    }

    fn take(&self, id: RunId, fits: Fits) -> BoxFuture<'_, Result<Taken>> {
        let mut runs = lock(&self.runs);
        let taken = match runs.get_mut(&id) {
            None => Err(refuse::unknown_run(id)),
            Some(run) => fits(&run.record).and_then(|()| match run.is_driven {
                true => Err(refuse::run_busy(id)),
                false => Ok(run.taken()),
            }),
        };
        Box::pin(ready(taken))
    }

    fn finished(&self, id: RunId, mut done: Vec<Done>) -> BoxFuture<'_, Result<()>> {
        if let Some(run) = lock(&self.runs).get_mut(&id) {
            run.done.append(&mut done);
        }
        Box::pin(ready(Ok(())))
    }

    fn close(&self, id: RunId, status: RunStatus) -> BoxFuture<'_, Result<()>> {
        if let Some(run) = lock(&self.runs).get_mut(&id) {
            run.is_driven = false;
            if matches!(status, RunStatus::Finished | RunStatus::Failed(_)) {
                run.waits.retain(|wait| wait.answer.is_some());
            }
            run.status = status;
        }
        Box::pin(ready(Ok(())))
    }

    fn release(&self, id: RunId) {
        if let Some(run) = lock(&self.runs).get_mut(&id) {
            run.is_driven = false;
        }
    }

    fn unfinished<'a>(&'a self, app: &'a str) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        let runs = lock(&self.runs);
        let open = runs.values().filter(|run| {
            run.record.session.app == app && matches!(run.status, RunStatus::Running | RunStatus::Paused)
        });
        Box::pin(ready(Ok(open.map(Kept::info).collect())))
    }

    fn waiting<'a>(&'a self, app: &'a str, run: Option<RunId>) -> BoxFuture<'a, Result<Vec<Waiting>>> {
        let runs = lock(&self.runs);
        let of = runs
            .values()
            .filter(|kept| kept.record.session.app == app && run.is_none_or(|run| run == kept.record.run_id));
        let open = of.flat_map(|kept| &kept.waits).filter(|wait| wait.answer.is_none());
        Box::pin(ready(Ok(open.map(|wait| wait.waiting.clone()).collect())))
    }

    fn withdraw(&self, waits: Vec<String>) -> BoxFuture<'_, Result<()>> {
        let mut runs = lock(&self.runs);
        for run in runs.values_mut() {
            run.waits.retain(|wait| wait.answer.is_some() || !waits.contains(&wait.waiting.id));
        }
        Box::pin(ready(Ok(())))
    }

    fn resolve<'a>(&'a self, app: &'a str, id: &'a str, answer: Value) -> BoxFuture<'a, Result<()>> {
        let mut runs = lock(&self.runs);
        let of = runs.values_mut().filter(|kept| kept.record.session.app == app);
        let wait = of.flat_map(|kept| &mut kept.waits).find(|wait| wait.waiting.id == id);
        let resolved = match wait {
            None => Err(refuse::unknown_wait(id)),
            Some(Open { answer: Some(_), .. }) => Err(refuse::answered(id)),
            Some(wait) => {
                wait.answer = Some(answer);
                Ok(())
            }
        };
        Box::pin(ready(resolved))
    }
}
