//! [`Gate`]: the calls of one provider, let through in turns.

use super::RateLimit;
use crate::RunId;
use crate::sync::lock;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// The time over which calls and tokens are counted.
const WINDOW: Duration = Duration::from_secs(60);

/// Lets calls of a provider through as its limit allows. Runs take turns: one that wants many calls at once delays another by one.
#[derive(Debug)]
pub(crate) struct Gate {
    limit: RateLimit,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The runs in the order of their turns, each with its calls. None is empty.
    waiting: VecDeque<(RunId, VecDeque<Arc<Notify>>)>,
    /// The calls of the last minute, oldest first.
    recent: VecDeque<Call>,
    /// Those of `recent` together.
    tokens: u64,
    /// How many are in flight.
    open: u32,
    /// How many were let through.
    count: u64,
    /// The provider has asked to be left alone until then.
    closed: Option<Instant>,
}

#[derive(Debug)]
struct Call {
    number: u64,
    at: Instant,
    tokens: u64,
}

impl Gate {
    pub(crate) fn new(limit: RateLimit) -> Arc<Self> {
        Arc::new(Self { limit, state: Mutex::default() })
    }

    pub(crate) fn limit(&self) -> &RateLimit {
        &self.limit
    }

    /// Waits until that call of a run may be made, which needs about so many tokens.
    pub(crate) async fn enter(self: &Arc<Self>, run: RunId, tokens: u64) -> Permit {
        let place = Place::take(self, run);
        loop {
            let woken = place.turn.notified();
            match place.try_pass(tokens) {
                Pass::Through(number) => return Permit { gate: self.clone(), number },
                Pass::At(time) => drop(timeout_at(time, woken).await),
                Pass::Later => woken.await,
            }
        }
    }

    /// Lets nothing through for that time.
    pub(crate) fn close(&self, wait: Duration) {
        let until = Instant::now().checked_add(wait);
        let mut state = lock(&self.state);
        state.closed = state.closed.max(until);
    }
}

/// What a call at the gate may do.
enum Pass {
    Through(u64),
    /// Not before that time.
    At(Instant),
    /// When another has ended, or has had its turn.
    Later,
}

/// A call that waits at the gate.
struct Place<'a> {
    gate: &'a Gate,
    run: RunId,
    turn: Arc<Notify>,
}

impl<'a> Place<'a> {
    fn take(gate: &'a Gate, run: RunId) -> Self {
        let turn = Arc::new(Notify::new());
        let mut state = lock(&gate.state);
        match state.waiting.iter_mut().find(|(other, _)| *other == run) {
            Some((_, calls)) => calls.push_back(turn.clone()),
            None => state.waiting.push_back((run, VecDeque::from([turn.clone()]))),
        }
        Self { gate, run, turn }
    }

    fn try_pass(&self, tokens: u64) -> Pass {
        let mut state = lock(&self.gate.state);
        if !state.next().is_some_and(|next| Arc::ptr_eq(next, &self.turn)) {
            return Pass::Later;
        }
        let now = Instant::now();
        match state.blocked(&self.gate.limit, tokens, now) {
            Pass::Through(number) => {
                state.recent.push_back(Call { number, at: now, tokens });
                (state.tokens, state.open) = (state.tokens.saturating_add(tokens), state.open + 1);
                Pass::Through(number)
            }
            wait => wait,
        }
    }
}

impl Drop for Place<'_> {
    /// It has passed, or nobody waits for it any more: the next run is next.
    fn drop(&mut self) {
        let mut state = lock(&self.gate.state);
        if let Some(at) = state.waiting.iter().position(|(run, _)| *run == self.run)
            && let Some((run, mut calls)) = state.waiting.remove(at)
        {
            calls.retain(|turn| !Arc::ptr_eq(turn, &self.turn));
            if !calls.is_empty() {
                state.waiting.push_back((run, calls));
            }
        }
        state.wake();
    }
}

impl State {
    fn next(&self) -> Option<&Arc<Notify>> {
        self.waiting.front().and_then(|(_, calls)| calls.front())
    }

    fn wake(&self) {
        if let Some(next) = self.next() {
            next.notify_one();
        }
    }

    /// What is in the way of a call that needs so many tokens.
    fn blocked(&mut self, limit: &RateLimit, tokens: u64, now: Instant) -> Pass {
        while let Some(call) = self.recent.pop_front_if(|call| now >= call.at + WINDOW) {
            self.tokens -= call.tokens;
        }
        if limit.concurrency.is_some_and(|most| self.open >= most) {
            return Pass::Later;
        }
        let closed = self.closed.filter(|until| *until > now);
        let calls = limit.calls.and_then(|most| {
            let oldest = self.recent.len().checked_sub(most as usize)?;
            self.recent.get(oldest).map(|call| call.at + WINDOW)
        });
        let tokens = limit.tokens.and_then(|most| {
            let mut left = self.tokens;
            let mut oldest = self.recent.iter();
            let mut until = None;
            while left > 0 && left.saturating_add(tokens) > most {
                let call = oldest.next()?;
                (left, until) = (left - call.tokens, Some(call.at + WINDOW));
            }
            until
        });
        match closed.max(calls).max(tokens) {
            Some(time) => Pass::At(time),
            None => {
                self.count += 1;
                Pass::Through(self.count)
            }
        }
    }
}

/// A call that was let through; it has ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    gate: Arc<Gate>,
    number: u64,
}

impl Permit {
    /// So many tokens it was in truth.
    pub(crate) fn settle(&self, tokens: u64) {
        let mut state = lock(&self.gate.state);
        if let Ok(at) = state.recent.binary_search_by_key(&self.number, |call| call.number)
            && let Some(call) = state.recent.get_mut(at)
        {
            let before = std::mem::replace(&mut call.tokens, tokens);
            state.tokens = state.tokens.saturating_sub(before).saturating_add(tokens);
        }
        state.wake();
    }

    /// The provider asks to be left alone for that time.
    pub(crate) fn close(&self, wait: Duration) {
        self.gate.close(wait);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = lock(&self.gate.state);
        state.open = state.open.saturating_sub(1);
        state.wake();
    }
}

#[cfg(test)]
mod tests;
