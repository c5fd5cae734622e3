//! [`Tape`]: the record of a run while the run replays it, or makes it.

use super::answers::{Answer, AnswerResult, Recording};
use super::failure::Failure;
use super::order::{CommitNote, CommitOrder, is_inside, shares_block};
use super::place::{CallPlace, natural, without_root};
use super::secrets;
use super::{Redact, RunMode, Tools};
use adk_core::engine::{CallInputs, CallKind, RunRecord, StepKey};
use adk_core::{Error, Path, Result};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The record of a run, and the progress of the run that uses it.
pub(super) struct Tape {
    pub(super) mode: RunMode,
    pub(super) tools: Tools,
    pub(super) redact: Option<Redact>,
    pub(super) secrets: BTreeMap<String, Value>,
    /// Answers of people, by the name of their step.
    pub(super) people: BTreeMap<String, Value>,
    /// Tools that may be called again although their arguments have changed.
    pub(super) harmless: BTreeSet<String>,
    pub(super) recorded: Option<Recording>,
    pub(super) order: CommitOrder,
    state: Mutex<TapeState>,
    moved: Notify,
}

/// The progress of a run.
#[derive(Default)]
pub(super) struct TapeState {
    pub(super) begin: Option<Arc<RunRecord>>,
    pub(super) calls: Vec<CallNote>,
    pub(super) given: BTreeMap<CallPlace, Answer>,
    pub(super) commits: Vec<CommitNote>,
    /// Paths of calls and commits that were cancelled.
    pub(super) cancelled: Vec<String>,
    /// The number of calls that execute now.
    active: usize,
    /// Calls and commits that wait for an event of another branch.
    held: Vec<Held>,
    next_held: u64,
    /// Limits that the recorded run reached, and that end now.
    fired: BTreeSet<CallPlace>,
    /// The number of events of the record's order that are committed.
    listed: usize,
    /// Events without a record that may be committed, since the record has ended.
    released: BTreeSet<String>,
    /// Why the replay cannot continue.
    pub(super) failure: Option<Failure>,
}

/// A recorded call that the run made.
#[derive(Clone)]
pub(super) struct CallNote {
    pub(super) place: CallPlace,
    pub(super) kind: CallKind,
    pub(super) name: String,
    pub(super) model: Option<String>,
    pub(super) inputs: Option<Value>,
    pub(super) source: AnswerSource,
    /// The number of events before the call.
    pub(super) after: usize,
    /// Whether the call is inside a block with concurrent parts.
    pub(super) is_beside: bool,
}

/// Where the answer of a call came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerSource {
    /// From the record, with the same inputs.
    Recorded,
    /// From the record, with other inputs.
    Stale,
    /// From the model, tool or function itself.
    Made,
}

/// Something that waits until another part of the run has moved.
#[derive(Clone, Debug)]
struct Held {
    id: u64,
    /// Whether it is part of a tool call that executes.
    is_inside: bool,
    what: HeldWork,
}

#[derive(Clone, Debug, PartialEq)]
enum HeldWork {
    Commit(String),
    Call(CallPlace, Vec<String>),
    Limit(CallPlace),
}

impl Tape {
    pub(super) fn new(mode: RunMode, tools: Tools, recorded: Option<Recording>) -> Self {
        let order = match (&recorded, mode) {
            (Some(recorded), RunMode::Check | RunMode::Changed) => {
                CommitOrder::new(&recorded.head.order)
            }
            _ => CommitOrder::default(),
        };
        Self {
            mode,
            tools,
            redact: None,
            secrets: BTreeMap::new(),
            people: BTreeMap::new(),
            harmless: BTreeSet::new(),
            recorded,
            order,
            state: Mutex::default(),
            moved: Notify::new(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, TapeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether calls execute now, apart from those that wait for a call inside them.
    pub(super) fn is_active(&self) -> bool {
        let state = self.state();
        let inside = state.held.iter().filter(|held| held.is_inside).count();
        state.active > inside
    }

    /// Returns whether something waits for another part of the run.
    pub(super) fn is_held(&self) -> bool {
        !self.state().held.is_empty()
    }

    fn answer(&self, place: &CallPlace) -> Option<&Answer> {
        self.recorded.as_ref()?.answers.get(place)
    }

    /// Answers a call from the record, or makes it.
    pub(super) async fn call(
        &self,
        key: StepKey,
        inputs: &CallInputs,
        work: impl Future<Output = Result<Value>>,
    ) -> Result<Value> {
        let place = CallPlace::of_key(&key.to_string());
        let path = key.path.to_string();
        if !is_recorded(key.kind) || inputs.is_derived() {
            return self.working(&path, work).await;
        }
        // The runtime settles the record of a failed call when the run continues. The answer stays.
        if self.state().given.contains_key(&place) {
            return work.await;
        }
        let always = key.kind == CallKind::Tool && self.tools == Tools::Run;
        let digest = inputs.digest().map(|digest| digest.to_string());
        let recorded = self.answer(&place).cloned();
        let is_same = recorded
            .as_ref()
            .is_some_and(|answer| answer.asked.is_none() || answer.asked == digest);
        let note = |source| CallNote {
            place: place.clone(),
            kind: key.kind,
            name: key.name.to_string(),
            model: inputs.model().map(ToString::to_string),
            inputs: inputs.value().cloned(),
            source,
            after: 0,
            is_beside: !key.path.parts().is_empty(),
        };
        let makes = match (self.mode, &recorded) {
            (RunMode::Record, _) => true,
            _ if always => true,
            (RunMode::Check, Some(_)) => false,
            (RunMode::Changed, Some(answer)) => !is_same || answer.given_to.is_some(),
            (RunMode::Changed, None) => true,
            (RunMode::Check, None) => {
                self.note(note(AnswerSource::Stale));
                let blocks = blocks_of(&key.path);
                // Only a call beside others may be one that the recorded run cancelled.
                if blocks.is_empty() && !self.is_limited(&place) {
                    let nearest = self.nearest(&place);
                    return Err(self.fail(Failure::Missing { place, nearest }));
                }
                return Err(self.hold_call(&place, blocks, key.within.is_some()).await);
            }
        };
        if !makes {
            self.note(note(if is_same {
                AnswerSource::Recorded
            } else {
                AnswerSource::Stale
            }));
            return Ok(self.replay(recorded.unwrap_or_else(|| no_answer(&place)), digest));
        }
        self.note(note(AnswerSource::Made));
        if self.mode == RunMode::Changed && self.may_act_again(&key) {
            return Err(self.fail(Failure::ActsAgain(place)));
        }
        let mut record = self.working(&path, work).await?;
        if let (Some(redact), Some(fields)) = (&self.redact, record.as_object_mut()) {
            // The facts beside the value are no texts of the run.
            fields
                .iter_mut()
                .filter(|(key, _)| *key != "$call")
                .for_each(|(_, value)| secrets::map_texts(value, &**redact));
        }
        let by = inputs.model().map(ToString::to_string);
        self.give(Answer {
            at: place,
            by,
            asked: digest,
            given_to: None,
            result: result_of(&record),
        });
        Ok(record)
    }

    /// Gives a recorded answer to a call with these inputs.
    fn replay(&self, answer: Answer, digest: Option<String>) -> Value {
        let record = self.record_of(&answer);
        let given_to = match (&answer.asked, &digest) {
            (Some(asked), Some(now)) if asked != now => {
                answer.given_to.clone().or_else(|| Some(asked.clone()))
            }
            _ => answer.given_to.clone(),
        };
        let asked = digest.or_else(|| answer.asked.clone());
        self.give(Answer {
            asked,
            given_to,
            ..answer
        });
        record
    }

    /// Returns whether the recorded run reached a limit around a call.
    fn is_limited(&self, place: &CallPlace) -> bool {
        let answers = self.recorded.iter().flat_map(|all| all.answers.values());
        answers
            .filter(|answer| answer.is_limit())
            .any(|answer| is_inside(place.path(), answer.at.path()))
    }

    /// Returns whether a call that the record does not answer needs a person, since its tool may
    /// have acted before.
    fn may_act_again(&self, key: &StepKey) -> bool {
        key.kind == CallKind::Tool
            && self.tools == Tools::Recorded
            && !self.harmless.contains(&*key.name)
    }

    /// Returns the answer of a person.
    pub(super) fn wait(&self, key: &StepKey, question: &Value) -> Option<Value> {
        let place = CallPlace::of_key(&key.to_string());
        let inputs = CallInputs::new(question, true);
        let digest = inputs.digest().map(|digest| digest.to_string());
        let recorded = self.answer(&place).filter(|_| self.mode != RunMode::Record);
        let names = [key.path.name().as_str(), key.name.as_str(), place.path()];
        let given = || {
            names
                .iter()
                .find_map(|name| self.people.get(*name))
                .cloned()
        };
        let (answer, source) = match recorded {
            Some(answer) => {
                let is_same = answer.asked == digest;
                let (was, old) = (answer.asked.clone(), answer.given_to.clone());
                let given_to = old.or(was.filter(|_| !is_same));
                let answer = Answer {
                    asked: digest,
                    given_to,
                    ..answer.clone()
                };
                let source = if is_same {
                    AnswerSource::Recorded
                } else {
                    AnswerSource::Stale
                };
                (answer, source)
            }
            None if self.mode == RunMode::Check => return None,
            None => {
                let answer = Answer {
                    at: place.clone(),
                    by: None,
                    asked: digest,
                    given_to: None,
                    result: AnswerResult::Gave(given()?),
                };
                (answer, AnswerSource::Made)
            }
        };
        self.note(CallNote {
            place,
            kind: CallKind::Wait,
            name: key.name.to_string(),
            model: None,
            inputs: Some(question.clone()),
            source,
            after: 0,
            is_beside: !key.path.parts().is_empty(),
        });
        let (AnswerResult::Gave(value) | AnswerResult::Failed(value)) = answer.result.clone();
        self.give(answer);
        Some(value)
    }

    fn note(&self, mut call: CallNote) {
        let mut state = self.state();
        call.after = state.commits.len();
        state.calls.push(call);
    }

    fn give(&self, mut answer: Answer) {
        let (AnswerResult::Gave(value) | AnswerResult::Failed(value)) = &mut answer.result;
        secrets::hide(value);
        if answer.at.call().starts_with("tool.") {
            prune(value);
        }
        self.state().given.insert(answer.at.clone(), answer);
    }

    /// Returns the record that the runtime reads.
    fn record_of(&self, answer: &Answer) -> Value {
        match &answer.result {
            AnswerResult::Gave(value) => {
                let mut value = value.clone();
                secrets::fill(&mut value, &self.secrets);
                json!({ "$call": {}, "$value": value })
            }
            AnswerResult::Failed(error) => json!({ "$failed": error }),
        }
    }

    /// Counts a call while it executes, and notes that it was cancelled if it is dropped.
    async fn working<T>(&self, path: &str, work: impl Future<Output = T>) -> T {
        self.state().active += 1;
        let mut guard = AnsweringCall {
            tape: self,
            path,
            is_done: false,
        };
        let done = work.await;
        guard.is_done = true;
        done
    }

    /// Waits until the recorded run would commit this event, and calls `commit`.
    pub(super) async fn commit<T>(
        &self,
        slot: String,
        path: &Path,
        commit: impl FnOnce(&mut CommitNote) -> Result<T>,
    ) -> Result<T> {
        let mut note = CommitNote {
            slot: without_root(&slot).to_owned(),
            blocks: blocks_of(path),
            escalates: false,
            is_update: false,
        };
        let mut held = None;
        loop {
            let moved = self.moved.notified();
            {
                let mut state = self.state();
                if let Some(failure) = state.failure.as_ref().filter(|_| held.is_some()) {
                    return Err(failure.error());
                }
                if state.released.contains(&note.slot)
                    || self.order.is_next(&note.slot, &note.blocks, state.listed)
                {
                    break;
                }
                if held.is_none() {
                    let what = HeldWork::Commit(note.slot.clone());
                    held = Some(self.hold(&mut state, what, false));
                }
            }
            moved.await;
        }
        drop(held);
        let committed = commit(&mut note)?;
        {
            let mut state = self.state();
            if self.order.awaited(state.listed) == Some(note.slot.as_str()) {
                state.listed += 1;
            }
            state.commits.push(note);
        }
        self.moved.notify_waiters();
        Ok(committed)
    }

    /// Waits until the replay fails, or is cancelled.
    async fn hold_call(&self, place: &CallPlace, blocks: Vec<String>, is_inside: bool) -> Error {
        let mut held = None;
        loop {
            let moved = self.moved.notified();
            {
                let mut state = self.state();
                if let Some(failure) = &state.failure {
                    return failure.error();
                }
                if held.is_none() {
                    let what = HeldWork::Call(place.clone(), blocks.clone());
                    held = Some(self.hold(&mut state, what, is_inside));
                }
            }
            moved.await;
        }
    }

    /// Waits until a limit ends: only if the recorded run reached it, and when nothing else moves.
    pub(super) async fn limit(&self, place: CallPlace) {
        if self.answer(&place).is_none() {
            return std::future::pending().await;
        }
        let mut held = None;
        loop {
            let moved = self.moved.notified();
            {
                let mut state = self.state();
                if state.fired.contains(&place) {
                    break;
                }
                if held.is_none() {
                    held = Some(self.hold(&mut state, HeldWork::Limit(place.clone()), false));
                }
            }
            moved.await;
        }
        drop(held);
        self.note_limit(place);
    }

    /// Records that the run reached a limit.
    pub(super) fn note_limit(&self, place: CallPlace) {
        self.give(Answer {
            at: place,
            by: None,
            asked: None,
            given_to: None,
            result: AnswerResult::Gave(super::answers::REACHED.into()),
        });
    }

    fn hold(&self, state: &mut TapeState, what: HeldWork, is_inside: bool) -> Holding<'_> {
        let id = state.next_held;
        state.next_held += 1;
        state.held.push(Held {
            id,
            is_inside,
            what,
        });
        Holding { tape: self, id }
    }

    /// Lets the first limit end or new events be committed, or fails the replay: nothing in it
    /// moves any more.
    pub(super) fn give_up(&self) {
        let mut state = self.state();
        let limit = state.held.iter().find_map(|held| match &held.what {
            HeldWork::Limit(place) => Some(place.clone()),
            _ => None,
        });
        match limit {
            Some(place) => {
                state.fired.insert(place);
            }
            None if self.order.awaited(state.listed).is_none() && state.releases() => {}
            // The program may have changed. The new order is recorded.
            None if self.mode == RunMode::Changed => state.listed += 1,
            None => {
                let failure = self.failure(&state);
                state.failure = failure;
            }
        }
        drop(state);
        self.moved.notify_waiters();
    }

    fn fail(&self, failure: Failure) -> Error {
        let error = failure.error();
        self.state().failure.get_or_insert(failure);
        error
    }

    /// Finds the first cause of a halt. A call without a record is the cause, except where the
    /// recorded run cancelled the call after an event that never comes.
    fn failure(&self, state: &TapeState) -> Option<Failure> {
        let mut calls: Vec<_> = state
            .held
            .iter()
            .filter_map(|held| match &held.what {
                HeldWork::Call(place, blocks) => Some((place, blocks)),
                _ => None,
            })
            .collect();
        calls.sort_by(|(one, _), (other, _)| natural(one.as_str(), other.as_str()));
        let awaited = self.order.awaited(state.listed);
        let is_awaited = |place: &CallPlace| {
            awaited.is_some_and(|slot| {
                slot.split_once('!')
                    .is_some_and(|(path, _)| path == place.path())
            })
        };
        let is_loser = |blocks: &[String]| awaited.is_some_and(|slot| shares_block(slot, blocks));
        let missing = calls
            .iter()
            .find(|(place, _)| is_awaited(place))
            .or_else(|| calls.iter().find(|(_, blocks)| !is_loser(blocks)));
        match (missing, awaited) {
            (Some((place, _)), _) => Some(Failure::Missing {
                place: (*place).clone(),
                nearest: self.nearest(place),
            }),
            (None, Some(slot)) => Some(Failure::LostEvent(slot.to_owned())),
            (None, None) => None,
        }
    }

    /// Returns the recorded place that shares the most with a place.
    fn nearest(&self, place: &CallPlace) -> Option<CallPlace> {
        let shared = |other: &CallPlace| {
            let (a, b) = (place.as_str(), other.as_str());
            let start = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
            let rest = a.bytes().rev().zip(b.bytes().rev());
            start + rest.take_while(|(a, b)| a == b).count()
        };
        let answers = &self.recorded.as_ref()?.answers;
        answers.keys().max_by_key(|other| shared(other)).cloned()
    }
}

impl TapeState {
    /// Releases the events that wait for the record. Returns whether there were any.
    fn releases(&mut self) -> bool {
        let slots = self.held.iter().filter_map(|held| match &held.what {
            HeldWork::Commit(slot) => Some(slot.clone()),
            _ => None,
        });
        let before = self.released.len();
        self.released.extend(slots);
        self.released.len() > before
    }
}

/// Counts a call that executes.
struct AnsweringCall<'a> {
    tape: &'a Tape,
    path: &'a str,
    is_done: bool,
}

impl Drop for AnsweringCall<'_> {
    fn drop(&mut self) {
        let mut state = self.tape.state();
        state.active -= 1;
        if !self.is_done {
            state.cancelled.push(without_root(self.path).to_owned());
        }
    }
}

/// Registers something that waits.
struct Holding<'a> {
    tape: &'a Tape,
    id: u64,
}

impl Drop for Holding<'_> {
    fn drop(&mut self) {
        self.tape.state().held.retain(|held| held.id != self.id);
    }
}

/// Returns the paths of the concurrent blocks around a path.
fn blocks_of(path: &Path) -> Vec<String> {
    let parts = path.parts();
    parts
        .into_iter()
        .map(|(block, _)| {
            let text = block.to_string();
            let block = without_root(&text);
            // An element is part of the path of its block.
            let end = block.rfind('[').filter(|_| block.ends_with(']'));
            block[..end.unwrap_or(block.len())].to_owned()
        })
        .collect()
}

/// Returns whether calls of a kind are answered from the record. The others are made again: they
/// run code of the program, whose effects the record does not need.
fn is_recorded(kind: CallKind) -> bool {
    !matches!(
        kind,
        CallKind::Instruction
            | CallKind::Event
            | CallKind::Update
            | CallKind::Block
            | CallKind::Confirmation
            | CallKind::Timer
    )
}

fn no_answer(place: &CallPlace) -> Answer {
    Answer {
        at: place.clone(),
        by: None,
        asked: None,
        given_to: None,
        result: AnswerResult::Gave(Value::Null),
    }
}

/// Removes what a tool call left empty.
fn prune(call: &mut Value) {
    let is_empty = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    let Some(left) = call.get_mut("left").and_then(Value::as_object_mut) else {
        return;
    };
    if let Some(actions) = left.get_mut("actions").and_then(Value::as_object_mut) {
        actions.retain(|_, value| !is_empty(value));
    }
    left.retain(|_, value| !is_empty(value));
}

/// Returns the result in a record of the runtime.
fn result_of(record: &Value) -> AnswerResult {
    if let Some(error) = record.get("$failed") {
        return AnswerResult::Failed(error.clone());
    }
    AnswerResult::Gave(record.get("$value").cloned().unwrap_or_default())
}
