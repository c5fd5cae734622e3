//! [`Replay`]: the recorded part of a resumed run, replayed in the order of the log.

use super::{Run, is_update};
use crate::encode::to_json;
use crate::store::engine::{Body, Claim, ClaimedRun, Done, Reply, Stored, is_failure};
use crate::store::event::{Event, LEFT_OUT_KEY, STATE_UPDATE_KEY, StateDelta};
use crate::store::outbox::CountGuard;
use crate::store::session::{OwnKeys, Session};
use crate::sync::lock;
use crate::{Error, ErrorKind, Name, Path, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
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
    events: Vec<RecordedEvent>,
    /// The index of each event of this run in `events`, by its path and number.
    slots: HashMap<String, usize>,
    temp: HashMap<String, StateDelta>,
    steps: HashMap<String, Value>,
    done: HashMap<String, Done>,
    /// The ids of the waits of the run.
    waits: Vec<String>,
    begins: u64,
    /// The number of events that this execution has emitted at each path.
    seen: Mutex<HashMap<String, u32>>,
    cursor: Mutex<Cursor>,
    is_over: AtomicBool,
}

struct RecordedEvent {
    event: Arc<Event>,
    /// The slot and the path of the event as text; `None` for an event of another run.
    own: Option<(String, String)>,
    /// Whether the event is an update of state, which is not numbered with other events.
    is_update: bool,
    /// The recorded call of the tool that made the update.
    call: Option<String>,
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
        let ClaimedRun {
            claim,
            record,
            events,
            temp,
            steps,
            done,
            waits,
            ..
        } = claimed;
        let before = usize::try_from(record.begins).unwrap_or(usize::MAX);
        let session = Arc::new(live.restored_at(&record.state, before));
        let (mut counts, mut slots) = (HashMap::<String, u32>::new(), HashMap::new());
        let recorded = events.into_iter().enumerate().map(|(index, event)| {
            if event.invocation_id != record.run_id {
                return RecordedEvent {
                    event,
                    own: None,
                    is_update: false,
                    call: None,
                };
            }
            let path = event.path.to_string();
            if is_update(&event) {
                let (slot, call) = update_slot(&event, &path);
                slots.insert(slot.clone(), index);
                return RecordedEvent {
                    event,
                    own: Some((slot, path)),
                    is_update: true,
                    call,
                };
            }
            let nth = counts.entry(path.clone()).or_default();
            let slot = format!("{path}!{nth}");
            *nth += 1;
            slots.insert(slot.clone(), index);
            RecordedEvent {
                event,
                own: Some((slot, path)),
                is_update: false,
                call: None,
            }
        });
        let events: Vec<_> = recorded.collect();
        let done = done
            .into_iter()
            .map(|done| (done.path.to_string(), done))
            .collect();
        let is_over = AtomicBool::new(events.is_empty());
        let (begins, seen, cursor) = (record.begins, Mutex::default(), Mutex::default());
        (
            Self {
                session,
                own: OnceLock::new(),
                events,
                slots,
                temp,
                steps,
                done,
                waits,
                begins,
                seen,
                cursor,
                is_over,
            },
            claim,
        )
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
        let mut events = (first..).map_while(|nth| self.event(&path, nth));
        events.find(|event| !is_summary(event))
    }

    /// Returns whether the next recorded event of this path is a summary.
    pub(crate) fn continues_with_summary(&self, path: &Path) -> bool {
        let path = path.to_string();
        let nth = lock(&self.seen).get(&path).copied().unwrap_or_default();
        self.event(&path, nth)
            .is_some_and(|event| is_summary(event))
    }

    fn event(&self, path: &str, nth: u32) -> Option<&Arc<Event>> {
        let index = *self.slots.get(&format!("{path}!{nth}"))?;
        self.events.get(index).map(|recorded| &recorded.event)
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
        let own = self.events.iter().filter(|recorded| recorded.own.is_some());
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

    /// Returns whether the journal contains anything below that path, which is a round or an
    /// element of a block.
    pub(crate) fn has_begun(&self, path: &Path) -> bool {
        let path = path.to_string();
        let is_inside = |place: &str| {
            place
                .strip_prefix(&*path)
                .is_some_and(|rest| rest.starts_with(['/', ':', '!']))
        };
        self.keys().any(|key| key == path || is_inside(key))
    }

    /// Returns the number of rounds that the loop at that path has begun.
    pub(crate) fn rounds_begun(&self, block: &Path) -> u32 {
        let block = format!("{block}#");
        let number = |key: &str| {
            let rest = key.strip_prefix(&*block)?;
            rest[..rest
                .find(|found: char| !found.is_ascii_digit())
                .unwrap_or(rest.len())]
                .parse()
                .ok()
        };
        self.keys().filter_map(number).max().unwrap_or_default()
    }

    /// Returns the keys of the journal entries of the run: slots of events, calls, marks of
    /// finished agents, and waits. Each begins with its path.
    fn keys(&self) -> impl Iterator<Item = &str> {
        let keys = self
            .slots
            .keys()
            .chain(self.steps.keys())
            .chain(self.temp.keys())
            .chain(self.done.keys());
        let waits = self
            .waits
            .iter()
            .filter_map(|id| Some(id.split_once('/')?.1));
        keys.map(String::as_str).chain(waits)
    }

    /// Returns the branches or elements of a block that have begun, named as in a path after the
    /// block: `[3]` for an element, and the name of its first step for a branch.
    pub(crate) fn parts_begun(&self, block: &Path) -> HashSet<String> {
        let block = block.to_string();
        let part = |key: &str| {
            let inside = key
                .strip_prefix(&*block)
                .filter(|rest| rest.starts_with(['/', '[']))?;
            let inside = inside.strip_prefix('/').unwrap_or(inside);
            let is_end =
                |(at, found): (usize, char)| (at > 0 && "/#[:!@".contains(found)).then_some(at);
            let end = inside
                .char_indices()
                .find_map(is_end)
                .unwrap_or(inside.len());
            Some(inside[..end].to_owned())
        };
        self.keys().filter_map(part).collect()
    }

    /// Returns the number of elements that the `each` at that path executes from a list of that
    /// length; `None` if the journal does not contain its start.
    pub(crate) fn elements(&self, each: &Path, length: usize) -> Option<usize> {
        let path = each.to_string();
        let own = self
            .events
            .iter()
            .filter(|event| event.own.as_ref().is_some_and(|own| own.1 == path));
        let mut cut = own.filter_map(|event| {
            let left_out = event
                .event
                .details
                .as_ref()?
                .custom_metadata
                .get(LEFT_OUT_KEY)?;
            usize::try_from(left_out.get("max")?.as_u64()?).ok()
        });
        let block = format!("{path}[");
        cut.next().or_else(|| {
            self.keys()
                .any(|key| key.starts_with(&block))
                .then_some(length)
        })
    }

    /// Returns the record of a call.
    pub(crate) fn step(&self, key: &str) -> Option<&Value> {
        self.steps.get(key)
    }

    /// Returns the slot of the next recorded event, which no agent has emitted.
    pub(crate) fn next_unemitted(&self) -> Option<String> {
        let at = lock(&self.cursor).at;
        self.events[at.min(self.events.len())..]
            .iter()
            .find_map(|event| Some(event.own.as_ref()?.0.clone()))
    }

    /// Returns whether the agent at this path or an enclosing agent has finished.
    fn has_finished(&self, path: &str) -> bool {
        let ends = path
            .match_indices('/')
            .map(|(at, _)| at)
            .chain([path.len()]);
        let is_done = |end: usize| {
            self.done.contains_key(&path[..end]) || self.done.contains_key(first_turn(&path[..end]))
        };
        !self.done.is_empty() && ends.into_iter().any(is_done)
    }

    /// Waits until every event before `target` is applied.
    async fn wait_until(&self, run: &Run, target: usize) {
        let _held = CountGuard::new(&run.outbox().held);
        poll_fn(|task| {
            let mut cursor = lock(&self.cursor);
            cursor.waiting.push((target, task.waker().clone()));
            self.advance(run, &mut cursor);
            if cursor.at < target.min(self.events.len()) {
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
        }) = self.events.get(cursor.at)
        {
            if let Some((slot, path)) = own {
                let is_gone = cursor.gone.iter().any(|gone| path.starts_with(gone))
                    || call.as_ref().is_some_and(|call| self.is_recorded(call))
                    || cursor.released.contains(&cursor.at);
                if !is_gone && (cursor.at >= wanted || !self.has_finished(path)) {
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
                self.temp.get(slot).unwrap_or(&none),
                &self.session,
                self.own.get(),
            );
        }
        self.session.append_stored(event.clone());
        if let Some(own) = self.own.get().filter(|_| slot.is_some()) {
            own.record_event(event);
        }
        for (key, value) in slot
            .and_then(|slot| self.temp.get(slot))
            .iter()
            .flat_map(|temp| temp.iter())
        {
            run.delivery.set_temp(key.clone(), value.clone());
        }
    }

    fn wake(&self, cursor: &mut Cursor) {
        if cursor.at >= self.events.len() {
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

    /// Returns whether a call is answered from its record.
    fn is_recorded(&self, call: &str) -> bool {
        self.steps
            .get(call)
            .is_some_and(|record| !is_failure(record))
    }

    /// Returns the recorded update of a tool call. A repeated call may make other updates than the
    /// recorded call, so an update does not wait for the events before it.
    pub(super) fn replay_update(&self, run: &Run, slot: &str) -> Option<Stored> {
        let index = *self.slots.get(slot)?;
        let event = self.events.get(index)?.event.clone();
        self.release(run, |at, _| at == index);
        let temp = self.temp.get(slot).cloned().unwrap_or_default();
        Some(Stored::earlier(self.begins + index as u64, event, temp))
    }

    /// Ends a tool call, and releases its recorded updates that the call did not repeat.
    pub(crate) fn end_call(&self, run: &Run, call: impl Fn() -> String) {
        if !self.is_over() && self.events.iter().any(|event| event.call.is_some()) {
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

    /// Returns the number of recorded events at this path, updates excluded.
    pub(crate) fn count_recorded(&self, path: &Path) -> u32 {
        let path = path.to_string();
        let is_own = |event: &RecordedEvent| event.own.as_ref().is_some_and(|own| own.1 == path);
        let own = self
            .events
            .iter()
            .filter(|event| !event.is_update && is_own(event));
        own.fold(0, |count, _| count.saturating_add(1))
    }

    /// Waits for the end of the replay.
    pub(crate) async fn wait_for_end(&self, run: &Run) {
        self.wait_until(run, ALL).await;
    }

    /// Returns whether the journal contains an event from after a block in `branch`. Steps of one
    /// branch run in order. So any event of this branch or of an enclosing one proves it, if it
    /// came after the start of the block and from outside the block.
    pub(crate) fn is_past(&self, block: &Path, branch: Option<&str>) -> bool {
        let block = block.to_string();
        let is_inside = |path: &str| {
            path.strip_prefix(&*block)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '#', '[']))
        };
        let is_around = |event: &Event| match (event.branch.as_deref(), branch) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(outer), Some(own)) => own
                .strip_prefix(outer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
        };
        let own = self
            .events
            .iter()
            .filter_map(|RecordedEvent { event, own, .. }| Some((event, &own.as_ref()?.1)));
        let mut after = own.skip_while(|(_, path)| !is_inside(path));
        after.any(|(event, path)| !is_inside(path) && is_around(event))
    }

    /// Returns the end of a finished agent and the keys that it wrote, after all of its events are
    /// applied.
    pub(crate) async fn replay_finished(
        &self,
        run: &Run,
        path: &Path,
    ) -> Option<(Done, Vec<Name>)> {
        if self.done.is_empty() {
            return None;
        }
        let path = path.to_string();
        let done = self.done.get(&path)?;
        let is_inside = |own: &(String, String)| is_of_agent(&path, &own.1);
        let mut keys = Vec::new();
        let mut end = 0;
        for (index, RecordedEvent { event, own, .. }) in self.events.iter().enumerate() {
            let Some((slot, _)) = own.as_ref().filter(|own| is_inside(own)) else {
                continue;
            };
            end = index + 1;
            self.collect_keys(event, slot, &mut keys);
        }
        self.wait_until(run, end).await;
        Some((done.clone(), keys))
    }

    /// Releases the events at the matching paths, whose agents do not run again, and returns the
    /// keys that they wrote.
    pub(super) fn skip(&self, run: &Run, is_match: impl Fn(&Path) -> bool) -> Vec<Name> {
        let mut cursor = lock(&self.cursor);
        let mut keys = Vec::new();
        for (index, RecordedEvent { event, own, .. }) in self.events.iter().enumerate() {
            let Some((slot, _)) = own.as_ref().filter(|_| is_match(&event.path)) else {
                continue;
            };
            cursor.released.insert(index);
            self.collect_keys(event, slot, &mut keys);
        }
        self.advance(run, &mut cursor);
        keys
    }

    /// Adds the keys that an event wrote.
    fn collect_keys(&self, event: &Event, slot: &str, keys: &mut Vec<Name>) {
        let temp = self.temp.get(slot).into_iter().flat_map(StateDelta::iter);
        keys.extend(
            event
                .actions
                .state_delta
                .iter()
                .chain(temp)
                .map(|(key, _)| key.clone()),
        );
        let unwritten = event.unwritten();
        if !unwritten.is_empty() {
            keys.retain(|key| !unwritten.contains(&key.as_str()));
        }
    }

    /// Returns the recorded event of a slot, once all earlier events are applied. Returns `None`
    /// after the end of the replay, if the journal does not contain the event.
    pub(super) async fn replay_event(
        &self,
        run: &Run,
        slot: &str,
        check: impl FnOnce(&Event) -> Result<()>,
    ) -> Result<Option<Stored>> {
        let index = self.slots.get(slot).copied();
        let target = index.unwrap_or(ALL);
        self.wait_until(run, target).await;
        let Some(RecordedEvent { event, own, .. }) = index.and_then(|index| self.events.get(index))
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
        let temp = self.temp.get(slot).cloned().unwrap_or_default();
        Ok(Some(Stored::earlier(
            self.begins + target as u64,
            event.clone(),
            temp,
        )))
    }
}

fn is_summary(event: &Event) -> bool {
    event.actions.compaction.is_some()
}

/// Returns the slot of an update, and the key of the tool call that made it.
fn update_slot(event: &Event, path: &str) -> (String, Option<String>) {
    let metadata = event
        .details
        .as_ref()
        .and_then(|details| details.custom_metadata.get(STATE_UPDATE_KEY));
    let field = |key: &str| metadata.and_then(|metadata| metadata.get(key)?.as_str());
    let update = field("update").unwrap_or_default();
    match field("call") {
        Some(call) => (
            format!("{path}!{call}/{update}"),
            Some(format!("{path}:{call}")),
        ),
        None => (format!("{path}!update/{update}"), None),
    }
}

/// Returns the path of the first turn of the agent at this path. A later turn has its number
/// (`w/triage@2`), and is marked as finished under the first turn.
fn first_turn(path: &str) -> &str {
    let name = path.rfind('/').map_or(0, |at| at + 1);
    path[name..].find('@').map_or(path, |at| &path[..name + at])
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

/// Returns the recorded event of a commit once all earlier events are applied, or makes the commit
/// after the replay. Recorded summaries that the program does not repeat come before it.
pub(super) async fn commit(run: Arc<Run>, path: Path, nth: u32, body: Body) -> Result<Stored> {
    let Some(replay) = run.kind.replay() else {
        return commit_new(&run, path, nth, body).await;
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
        return commit_new(&run, path, nth, body).await;
    };
    // Rounds of one turn have different paths, but one count of events.
    let temp = replay
        .temp
        .get(&format!("{path}!{nth}"))
        .cloned()
        .unwrap_or_default();
    stored.temp = temp;
    Ok(stored)
}

async fn commit_new(run: &Run, path: Path, nth: u32, body: Body) -> Result<Stored> {
    match run.engine.commit(run.slot(path, nth), body) {
        Reply::Ready(stored) => stored,
        Reply::Later(stored) => stored.await,
    }
}

/// Checks that a repeated event equals the recorded event.
fn check_same(now: &Event, then: &Event, path: &Path) -> Result<()> {
    if now.author == then.author && now.content == then.content && now.actions == then.actions {
        return Ok(());
    }
    let (now, then) = (parts(now), parts(then));
    let names: BTreeSet<_> = now.keys().chain(then.keys()).collect();
    let changed: Vec<_> = names
        .into_iter()
        .filter(|name| now.get(*name) != then.get(*name))
        .collect();
    let Some(first) = changed.first() else {
        return Ok(());
    };
    let show = |part: Option<&Value>| {
        part.map_or_else(|| "nothing".to_owned(), |part| shorten(part.to_string()))
    };
    let message = format!(
        "the event that `{path}` emits differs from its journal in {first}: {} now, {} in the \
         journal",
        show(now.get(*first)),
        show(then.get(*first))
    );
    let changed: Vec<_> = changed.into_iter().map(String::as_str).collect();
    Err(Error::new(ErrorKind::Diverged, message).with_help(format!(
        "nothing was called; the code that decides {} at `{path}` has changed, or reads something \
         that is not in the journal (wrap that in `cx.step(...)`): resume the run with the program \
         that recorded it, or undo the change",
        changed.join(" and ")
    )))
}

/// Returns the parts of an event that a resumed run must repeat, by their names in messages.
fn parts(event: &Event) -> BTreeMap<String, Value> {
    let mut json = to_json(event).unwrap_or_default();
    let mut parts = BTreeMap::new();
    for part in ["author", "content"] {
        if let Some(value) = json
            .get_mut(part)
            .map(Value::take)
            .filter(|value| !value.is_null())
        {
            parts.insert(format!("its {part}"), value);
        }
    }
    let Some(Value::Object(mut actions)) = json.get_mut("actions").map(Value::take) else {
        return parts;
    };
    if let Some(Value::Object(delta)) = actions.remove("stateDelta") {
        parts.extend(
            delta
                .into_iter()
                .map(|(key, value)| (format!("state key `{key}`"), value)),
        );
    }
    parts.extend(
        actions
            .into_iter()
            .map(|(action, value)| (format!("its action `{action}`"), value)),
    );
    parts
}

/// Shortens a text for a message.
fn shorten(mut text: String) -> String {
    const MOST: usize = 120;
    if text.len() > MOST {
        text.truncate(text.floor_char_boundary(MOST));
        text.push_str(" ...");
    }
    text
}
