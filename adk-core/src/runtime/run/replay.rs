//! [`Replay`]: the recorded part of a resumed run, replayed in the order of the log.

mod divergence;
mod journal;

use super::Run;
use crate::store::engine::{Body, Claim, ClaimedRun, Done, Stored};
use crate::store::event::{Event, StateDelta};
use crate::store::outbox::CountGuard;
use crate::store::session::{OwnKeys, Session};
use crate::sync::lock;
use crate::{Name, Path, Result};
use divergence::check_same;
use journal::{RecordedEvent, RunJournal, first_turn};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::future::poll_fn;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Poll, Waker};

/// The journal of a resumed run, while it is replayed. During the replay the run sees a session of
/// its own, to which each event is applied in its turn. State and history therefore have their
/// original values at every point, also between branches.
pub(crate) struct Replay {
    session: Arc<Session>,
    /// Keys written up to the current point of the replay. Set only for a closed workflow.
    own: OnceLock<OwnKeys>,
    pub(crate) journal: RunJournal,
    /// The number of events that this execution has emitted at each path.
    seen: Mutex<HashMap<String, u32>>,
    cursor: Mutex<Cursor>,
    is_over: AtomicBool,
}

/// The target that an event waits for if the journal does not contain it: the end of the replay.
/// The branch of the event may be one that the recorded run cancelled before the event, so the
/// event says nothing about how far the replay has come.
const ALL: usize = usize::MAX;

#[derive(Default)]
struct Cursor {
    at: usize,
    /// Path prefixes of cancelled branches, whose remaining events are not emitted again.
    gone: Vec<String>,
    /// Recorded events that are applied at their position although no agent emits them: updates of
    /// tool calls that were requested or whose call has ended, and events of work that does not run
    /// again.
    released: HashSet<usize>,
    /// Positions in the log, with the tasks that wait until the replay reaches them.
    waiting: Vec<(usize, Waker)>,
}

impl Replay {
    /// Creates the replay of a claimed run. `live` is the current session.
    pub(crate) fn new(claimed: ClaimedRun, live: &Arc<Session>) -> (Self, Claim) {
        let before = usize::try_from(claimed.record.begins).unwrap_or(usize::MAX);
        let session = Arc::new(live.restored_at(&claimed.record.state, before));
        let (journal, claim) = RunJournal::new(claimed);
        let replay = Self {
            session,
            own: OnceLock::new(),
            is_over: AtomicBool::new(journal.events.is_empty()),
            journal,
            seen: Mutex::default(),
            cursor: Mutex::default(),
        };
        (replay, claim)
    }

    /// Applies the recorded summaries that follow at this path, and returns their number.
    pub(super) async fn pass_summaries(&self, run: &Run, path: &Path) -> Result<u32> {
        let mut passed = 0;
        while self.continues_with_summary(path) {
            let slot = self.take_slot(path);
            self.replay_event(run, &slot, |_| Ok(())).await?;
            passed += 1;
        }
        Ok(passed)
    }

    /// Returns the next recorded event of this path, summaries excluded.
    pub(crate) fn next_event(&self, path: &Path) -> Option<&Arc<Event>> {
        let path = path.to_string();
        let first = lock(&self.seen).get(&path).copied().unwrap_or_default();
        let mut events = (first..).map_while(|nth| self.journal.event(&path, nth));
        events.find(|event| !is_summary(event))
    }

    /// Returns whether the next recorded event of this path is a summary.
    pub(crate) fn continues_with_summary(&self, path: &Path) -> bool {
        let path = path.to_string();
        let nth = lock(&self.seen).get(&path).copied().unwrap_or_default();
        self.journal
            .event(&path, nth)
            .is_some_and(|event| is_summary(event))
    }

    /// Returns the session of the replay; `None` after the replay.
    pub(crate) fn session(&self) -> Option<&Arc<Session>> {
        (!self.is_over()).then_some(&self.session)
    }

    /// Returns the keys of a closed workflow up to the current point; `None` after the replay.
    pub(crate) fn own_keys(&self) -> Option<&OwnKeys> {
        if self.is_over() { None } else { self.own.get() }
    }

    /// Sets the keys that hold the writes of the run. `live` gets all recorded writes at once, as
    /// in the store.
    pub(crate) fn set_own_keys(&self, live: &OwnKeys) {
        let _ = self.own.set(live.copy());
        let own = self
            .journal
            .events
            .iter()
            .filter(|recorded| recorded.own.is_some());
        own.for_each(|recorded| live.record_event(&recorded.event));
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Acquire)
    }

    /// Returns the slot of the next event of this path. Events of one path are emitted in the order
    /// of the log.
    fn take_slot(&self, path: &Path) -> String {
        let path = path.to_string();
        let mut seen = lock(&self.seen);
        let nth = seen.entry(path.clone()).or_default();
        *nth += 1;
        format!("{path}!{}", *nth - 1)
    }

    /// Returns the slot of the next recorded event, which no agent has emitted.
    pub(crate) fn next_unemitted(&self) -> Option<String> {
        let at = lock(&self.cursor).at;
        self.journal.events[at.min(self.journal.events.len())..]
            .iter()
            .find_map(|event| Some(event.own.as_ref()?.0.clone()))
    }

    /// Waits until every event before `target` is applied.
    async fn wait_until(&self, run: &Run, target: usize) {
        let _held = CountGuard::new(&run.outbox().held);
        poll_fn(|task| {
            let mut cursor = lock(&self.cursor);
            cursor.waiting.push((target, task.waker().clone()));
            self.advance(run, &mut cursor);
            if cursor.at < target.min(self.journal.events.len()) {
                return Poll::Pending;
            }
            let at = cursor.at;
            cursor.waiting.retain(|(wanted, _)| *wanted > at);
            Poll::Ready(())
        })
        .await;
    }

    /// Applies events that are not emitted again: events of other runs, of cancelled branches, and
    /// of finished agents. An event of a finished agent applies only when the walk has reached that
    /// agent or a later step, because an earlier block must read the state of its own time.
    fn advance(&self, run: &Run, cursor: &mut Cursor) {
        let from = cursor.at;
        let wanted = cursor
            .waiting
            .iter()
            .map(|(wanted, _)| *wanted)
            .filter(|wanted| *wanted != ALL);
        let wanted = wanted.max().unwrap_or_default();
        while let Some(RecordedEvent {
            event, own, call, ..
        }) = self.journal.events.get(cursor.at)
        {
            if let Some((slot, path)) = own {
                let is_gone = cursor.gone.iter().any(|gone| path.starts_with(gone))
                    || call
                        .as_ref()
                        .is_some_and(|call| self.journal.is_recorded(call))
                    || cursor.released.contains(&cursor.at);
                if !is_gone && (cursor.at >= wanted || !self.journal.has_finished(path)) {
                    break;
                }
                self.apply(run, event, Some(slot));
            } else {
                self.apply(run, event, None);
            }
            cursor.at += 1;
        }
        if cursor.at > from {
            self.wake(cursor);
        }
    }

    fn apply(&self, run: &Run, event: &Arc<Event>, slot: Option<&str>) {
        if let Some(slot) = slot {
            let none = StateDelta::default();
            run.delivery.note(
                event,
                self.journal.temp.get(slot).unwrap_or(&none),
                &self.session,
                self.own.get(),
            );
        }
        self.session.append_stored(event.clone());
        if let Some(own) = self.own.get().filter(|_| slot.is_some()) {
            own.record_event(event);
        }
        for (key, value) in slot
            .and_then(|slot| self.journal.temp.get(slot))
            .iter()
            .flat_map(|temp| temp.iter())
        {
            run.delivery.set_temp(key.clone(), value.clone());
        }
    }

    fn wake(&self, cursor: &mut Cursor) {
        if cursor.at >= self.journal.events.len() {
            self.is_over.store(true, Release);
        }
        cursor.waiting.drain(..).for_each(|(_, waker)| waker.wake());
    }

    /// Records that the branches with this path prefix were cancelled.
    pub(crate) fn drop_branches(&self, run: &Run, prefix: String) {
        if self.is_over() {
            return;
        }
        let mut cursor = lock(&self.cursor);
        cursor.gone.push(prefix);
        self.advance(run, &mut cursor);
    }

    /// Returns the recorded update of a tool call. A repeated call may make other updates than the
    /// recorded call, so an update does not wait for the events before it.
    pub(super) fn replay_update(&self, run: &Run, slot: &str) -> Option<Stored> {
        let index = *self.journal.slots.get(slot)?;
        let event = self.journal.events.get(index)?.event.clone();
        self.release(run, |at, _| at == index);
        let temp = self.journal.temp.get(slot).cloned().unwrap_or_default();
        Some(Stored::earlier(
            self.journal.begins + index as u64,
            event,
            temp,
        ))
    }

    /// Ends a tool call, and releases its recorded updates that the call did not repeat.
    pub(crate) fn end_call(&self, run: &Run, call: impl Fn() -> String) {
        if !self.is_over() && self.journal.events.iter().any(|event| event.call.is_some()) {
            let call = call();
            self.release(run, |_, other| other == call);
        }
    }

    fn release(&self, run: &Run, is_match: impl Fn(usize, &str) -> bool) {
        if self.is_over() {
            return;
        }
        let mut cursor = lock(&self.cursor);
        let calls = self
            .journal
            .events
            .iter()
            .enumerate()
            .filter_map(|(at, event)| Some((at, event.call.as_deref()?)));
        cursor.released.extend(
            calls
                .filter(|(at, call)| is_match(*at, call))
                .map(|(at, _)| at),
        );
        self.advance(run, &mut cursor);
    }

    /// Waits for the end of the replay.
    pub(crate) async fn wait_for_end(&self, run: &Run) {
        self.wait_until(run, ALL).await;
    }

    /// Returns the end of a finished agent and the keys that it wrote, after all of its events are
    /// applied.
    pub(crate) async fn replay_finished(
        &self,
        run: &Run,
        path: &Path,
    ) -> Option<(Done, Vec<Name>)> {
        if self.journal.done.is_empty() {
            return None;
        }
        let path = path.to_string();
        let done = self.journal.done.get(&path)?;
        let is_inside = |own: &(String, String)| is_of_agent(&path, &own.1);
        let mut keys = Vec::new();
        let mut end = 0;
        for (index, RecordedEvent { event, own, .. }) in self.journal.events.iter().enumerate() {
            let Some((slot, _)) = own.as_ref().filter(|own| is_inside(own)) else {
                continue;
            };
            end = index + 1;
            self.journal.collect_keys(event, slot, &mut keys);
        }
        self.wait_until(run, end).await;
        Some((done.clone(), keys))
    }

    /// Releases the events at the matching paths, whose agents do not run again, and returns the
    /// keys that they wrote.
    pub(super) fn skip(&self, run: &Run, is_match: impl Fn(&Path) -> bool) -> Vec<Name> {
        let mut cursor = lock(&self.cursor);
        let mut keys = Vec::new();
        for (index, RecordedEvent { event, own, .. }) in self.journal.events.iter().enumerate() {
            let Some((slot, _)) = own.as_ref().filter(|_| is_match(&event.path)) else {
                continue;
            };
            cursor.released.insert(index);
            self.journal.collect_keys(event, slot, &mut keys);
        }
        self.advance(run, &mut cursor);
        keys
    }

    /// Returns the recorded event of a slot, once all earlier events are applied. Returns `None`
    /// after the end of the replay, if the journal does not contain the event.
    pub(super) async fn replay_event(
        &self,
        run: &Run,
        slot: &str,
        check: impl FnOnce(&Event) -> Result<()>,
    ) -> Result<Option<Stored>> {
        let index = self.journal.slots.get(slot).copied();
        let target = index.unwrap_or(ALL);
        self.wait_until(run, target).await;
        let Some(RecordedEvent { event, own, .. }) =
            index.and_then(|index| self.journal.events.get(index))
        else {
            return Ok(None);
        };
        check(event)?;
        let mut cursor = lock(&self.cursor);
        let own = own.as_ref().map(|(slot, _)| &**slot);
        if cursor.at == target {
            self.apply(run, event, own);
            cursor.at += 1;
            self.advance(run, &mut cursor);
            self.wake(&mut cursor);
        }
        let temp = self.journal.temp.get(slot).cloned().unwrap_or_default();
        Ok(Some(Stored::earlier(
            self.journal.begins + target as u64,
            event.clone(),
            temp,
        )))
    }
}

fn is_summary(event: &Event) -> bool {
    event.actions.compaction.is_some()
}

/// Returns whether `path` belongs to the agent at `own`: the path itself, a later turn, or a path
/// below one of them.
fn is_of_agent(own: &str, path: &str) -> bool {
    let Some(rest) = path.strip_prefix(own) else {
        return false;
    };
    match rest.as_bytes().first() {
        None | Some(b'/') => true,
        Some(b'@') => own == first_turn(own),
        Some(_) => false,
    }
}

impl Run {
    /// Returns the event that the journal has next at a path, until the run has repeated all of its
    /// journal. Earlier versions have recorded other forms of some events, which are repeated.
    pub(crate) fn recorded_event(&self, path: &Path) -> Option<&Arc<Event>> {
        self.kind.active_replay()?.next_event(path)
    }

    /// Returns whether the journal has this value of a stored key in its next event at a path.
    pub(crate) fn has_recorded(&self, path: &Path, key: &str, value: &Value) -> bool {
        self.recorded_event(path).is_some_and(|event| {
            let recorded = event.actions.state_delta.get(key);
            recorded.is_some_and(|recorded| **recorded == *value)
        })
    }
}

/// Returns the recorded event of a commit once all earlier events are applied, or makes the commit
/// after the replay. Recorded summaries that the program does not repeat come before it.
pub(super) async fn commit(run: Arc<Run>, path: Path, nth: u32, body: Body) -> Result<Stored> {
    let Some(replay) = run.kind.replay() else {
        return run.commit(run.slot(path, nth, None), body).await;
    };
    let now = match &body {
        Body::Ready(draft) => Some(&draft.event),
        Body::Call(_) | Body::Update(_) => None,
    };
    let check = |event: &Event| now.map_or(Ok(()), |now| check_same(now, event, &path));
    let slot = replay.take_slot(&path);
    let Some(mut stored) = replay
        .replay_event(&run, &slot, check)
        .await
        .map_err(|error| error.at(&path))?
    else {
        return run.commit(run.slot(path, nth, None), body).await;
    };
    // Rounds of one turn have different paths, but one count of events.
    let temp = replay
        .journal
        .temp
        .get(&format!("{path}!{nth}"))
        .cloned()
        .unwrap_or_default();
    stored.temp = temp;
    Ok(stored)
}
