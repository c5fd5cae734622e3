//! [`Gates`]: the points of a process at which the search decides what happens next.

use adk_core::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

/// The next action of a process.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) action: Action,
    /// The key of the call or event: `paying/payer:tool.pay@0`.
    pub(super) place: String,
    /// The path of the agent; `None` for an action of the whole run.
    pub(super) path: Option<Path>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Makes a call.
    Call,
    /// Makes a call of a model, which may have several answers.
    Ask,
    /// Records the result of a call.
    Record,
    /// Stores an event.
    Commit,
    /// Stores a question to a person.
    Question,
    /// Stores the status of the run: that it waits, or has ended.
    Close,
}

impl Point {
    /// Describes the action as the choice to do it next.
    pub(super) fn as_choice(&self) -> String {
        let place = &self.place;
        match self.action {
            Action::Call | Action::Ask => format!("the call `{place}` is made"),
            Action::Record => format!("the call `{place}` ends"),
            Action::Commit => format!("the event `{place}` is stored"),
            Action::Question => format!("the question `{place}` is stored"),
            Action::Close => "the status of the run is stored".to_owned(),
        }
    }

    /// Describes the time before the action.
    pub(super) fn as_time(&self) -> String {
        let place = &self.place;
        match self.action {
            Action::Call | Action::Ask => format!("before the call `{place}` is made"),
            Action::Record => {
                format!("after the call `{place}` was made, before it is recorded")
            }
            Action::Commit => format!("before the event `{place}` is stored"),
            Action::Question => format!("before the question `{place}` is stored"),
            Action::Close => "before the status of the run is stored".to_owned(),
        }
    }
}

struct Gate {
    id: u64,
    point: Point,
    /// Opens the gate with the number of the answer.
    open: oneshot::Sender<usize>,
}

struct Timer {
    id: u64,
    ends: Instant,
    open: oneshot::Sender<usize>,
}

#[derive(Default)]
struct GateState {
    next: u64,
    gates: Vec<Gate>,
    timers: Vec<Timer>,
    /// The number of calls that were made and have not ended.
    working: usize,
    /// Whether the run passes each gate that it comes to.
    is_ahead: bool,
    /// The gates that the run has come to since the last decision.
    new: Vec<Point>,
}

/// The closed gates of one process, in the order in which the run came to them. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Gates {
    state: Arc<Mutex<GateState>>,
    /// Signals a new gate.
    changed: Arc<Notify>,
}

/// A locked value; a panic of another holder leaves it usable.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gates {
    /// Waits until the search lets the action happen. Returns the number of the answer. A dropped
    /// future removes its gate.
    pub(super) async fn wait(&self, point: Point) -> usize {
        let opened = {
            let mut state = lock(&self.state);
            state.new.push(point.clone());
            if state.is_ahead {
                return 0;
            }
            let id = state.next_id();
            let (open, opened) = oneshot::channel();
            state.gates.push(Gate { id, point, open });
            Closed {
                gates: self,
                id,
                opened,
            }
        };
        self.changed.notify_one();
        opened.open().await
    }

    /// Waits until the search lets the time pass.
    pub(super) async fn sleep(self, ends: Instant) {
        let opened = {
            let mut state = lock(&self.state);
            let id = state.next_id();
            let (open, opened) = oneshot::channel();
            state.timers.push(Timer { id, ends, open });
            Closed {
                gates: &self,
                id,
                opened,
            }
        };
        self.changed.notify_one();
        opened.open().await;
    }

    /// Counts a call as made until the returned value is dropped.
    pub(super) fn begin_work(&self) -> Working {
        lock(&self.state).working += 1;
        Working(self.clone())
    }

    /// Returns the closed gates.
    pub(super) fn points(&self) -> Vec<Point> {
        let state = lock(&self.state);
        state.gates.iter().map(|gate| gate.point.clone()).collect()
    }

    /// Returns whether something may happen when time passes.
    pub(super) fn has_clock(&self) -> bool {
        let state = lock(&self.state);
        state.working > 0 || !state.timers.is_empty()
    }

    /// Opens the gate with this index among [`points`](Self::points). With `ahead`, the run also
    /// passes each gate that it comes to next, until it waits for something else.
    pub(super) fn open(&self, index: usize, answer: usize, ahead: bool) {
        let mut state = lock(&self.state);
        state.is_ahead = ahead;
        if index < state.gates.len() {
            // A receiver that is gone has left its gate.
            let _ = state.gates.remove(index).open.send(answer);
        }
    }

    /// Waits until the run comes to another gate, or until the next timer ends.
    pub(super) async fn pass_time(&self, longest: Instant) {
        let next = lock(&self.state)
            .timers
            .iter()
            .map(|timer| timer.ends)
            .min();
        let ends = next.unwrap_or(longest);
        let changed = std::pin::pin!(self.changed.notified());
        let sleep = std::pin::pin!(tokio::time::sleep_until(ends));
        futures_util::future::select(changed, sleep).await;
        let mut state = lock(&self.state);
        let due = |timer: &Timer| next.is_some_and(|next| timer.ends == next);
        if Instant::now() >= ends
            && let Some(at) = state.timers.iter().position(due)
        {
            let _ = state.timers.remove(at).open.send(0);
        }
    }

    /// Ends a step of the run: it does not pass gates any more. Returns the gates that it has come
    /// to.
    pub(super) fn settle(&self) -> Vec<Point> {
        // Forgets the signals of these gates.
        let mut notified = std::pin::pin!(self.changed.notified());
        let mut task = std::task::Context::from_waker(std::task::Waker::noop());
        let _ = notified.as_mut().poll(&mut task);
        let mut state = lock(&self.state);
        state.is_ahead = false;
        std::mem::take(&mut state.new)
    }
}

impl GateState {
    fn next_id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

/// A gate that its waiter removes when it is dropped.
struct Closed<'a> {
    gates: &'a Gates,
    id: u64,
    opened: oneshot::Receiver<usize>,
}

impl Closed<'_> {
    async fn open(mut self) -> usize {
        match (&mut self.opened).await {
            Ok(answer) => answer,
            // The gates of a process that has died are never opened.
            Err(_) => std::future::pending().await,
        }
    }
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.gates.state);
        state.gates.retain(|gate| gate.id != self.id);
        state.timers.retain(|timer| timer.id != self.id);
    }
}

/// A call that was made and has not ended.
pub(super) struct Working(Gates);

impl Drop for Working {
    fn drop(&mut self) {
        lock(&self.0.state).working -= 1;
    }
}
