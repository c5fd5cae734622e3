//! [`Gate`]: a queue that admits the calls of one provider within its [`RateLimit`].

use super::RateLimit;
use crate::RunId;
use crate::sync::lock;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// The period in which calls and tokens are counted.
const WINDOW: Duration = Duration::from_secs(60);

/// Admits calls of a provider as its limit allows. Runs take turns, so a run with many calls delays
/// another run by only one call.
#[derive(Debug)]
pub struct Gate {
    limit: RateLimit,
    state: Mutex<GateState>,
}

#[derive(Debug, Default)]
struct GateState {
    /// The runs in the order of their turns, each with its waiting calls, at least one.
    waiting: VecDeque<(RunId, VecDeque<Arc<Notify>>)>,
    /// The calls that started in the last minute, oldest first.
    recent: VecDeque<RecentCall>,
    /// The sum of the tokens of `recent`.
    tokens: u64,
    /// Number of calls in flight.
    open: u32,
    /// Number of admitted calls, which numbers them.
    count: u64,
    /// The end of a pause that the provider requested.
    paused_until: Option<Instant>,
}

#[derive(Debug)]
struct RecentCall {
    number: u64,
    at: Instant,
    tokens: u64,
}

impl Gate {
    /// Creates the gate of one model.
    pub fn new(limit: RateLimit) -> Arc<Self> {
        Arc::new(Self {
            limit,
            state: Mutex::default(),
        })
    }

    /// Returns the limit.
    pub fn limit(&self) -> &RateLimit {
        &self.limit
    }

    /// Waits until a call of `run` with an estimated number of tokens may start.
    pub async fn enter(self: &Arc<Self>, run: RunId, tokens: u64) -> Permit {
        let waiting = WaitingCall::enqueue(self, run);
        loop {
            let woken = waiting.turn.notified();
            match waiting.try_pass(tokens) {
                Pass::Through(number) => {
                    return Permit {
                        gate: self.clone(),
                        number,
                    };
                }
                Pass::At(time) => drop(timeout_at(time, woken).await),
                Pass::Later => woken.await,
            }
        }
    }

    /// Admits no calls for this time.
    pub fn pause(&self, wait: Duration) {
        let until = Instant::now().checked_add(wait);
        let mut state = lock(&self.state);
        state.paused_until = state.paused_until.max(until);
    }
}

/// The decision whether a waiting call may start.
enum Pass {
    Through(u64),
    /// The call may not start before this time.
    At(Instant),
    /// The call waits until another call ends or leaves the queue.
    Later,
}

/// A call that waits at the gate. Dropping it removes it from the queue.
struct WaitingCall<'a> {
    gate: &'a Gate,
    run: RunId,
    turn: Arc<Notify>,
}

impl<'a> WaitingCall<'a> {
    fn enqueue(gate: &'a Gate, run: RunId) -> Self {
        let turn = Arc::new(Notify::new());
        let mut state = lock(&gate.state);
        match state.waiting.iter_mut().find(|(other, _)| *other == run) {
            Some((_, calls)) => calls.push_back(turn.clone()),
            None => state
                .waiting
                .push_back((run, VecDeque::from([turn.clone()]))),
        }
        Self { gate, run, turn }
    }

    fn try_pass(&self, tokens: u64) -> Pass {
        let mut state = lock(&self.gate.state);
        if !state
            .next()
            .is_some_and(|next| Arc::ptr_eq(next, &self.turn))
        {
            return Pass::Later;
        }
        let now = Instant::now();
        match state.admit(&self.gate.limit, tokens, now) {
            Pass::Through(number) => {
                state.recent.push_back(RecentCall {
                    number,
                    at: now,
                    tokens,
                });
                (state.tokens, state.open) = (state.tokens.saturating_add(tokens), state.open + 1);
                Pass::Through(number)
            }
            wait => wait,
        }
    }
}

impl Drop for WaitingCall<'_> {
    /// Removes the call from the queue, whether it was admitted or cancelled, and moves the other
    /// waiting calls of its run to the end of the queue.
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

impl GateState {
    fn next(&self) -> Option<&Arc<Notify>> {
        self.waiting.front().and_then(|(_, calls)| calls.front())
    }

    fn wake(&self) {
        if let Some(next) = self.next() {
            next.notify_one();
        }
    }

    /// Decides whether a call with this number of tokens may start now, and numbers the call if it
    /// may.
    fn admit(&mut self, limit: &RateLimit, tokens: u64, now: Instant) -> Pass {
        while let Some(call) = self.recent.pop_front_if(|call| now >= call.at + WINDOW) {
            self.tokens -= call.tokens;
        }
        if limit.concurrency.is_some_and(|most| self.open >= most) {
            return Pass::Later;
        }
        let paused = self.paused_until.filter(|until| *until > now);
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
        match paused.max(calls).max(tokens) {
            Some(time) => Pass::At(time),
            None => {
                self.count += 1;
                Pass::Through(self.count)
            }
        }
    }
}

/// An admitted call. Dropping it ends the call.
#[derive(Debug)]
pub struct Permit {
    gate: Arc<Gate>,
    number: u64,
}

impl Permit {
    /// Replaces the estimated tokens by the actual number.
    pub fn settle(&self, tokens: u64) {
        let mut state = lock(&self.gate.state);
        if let Ok(at) = state
            .recent
            .binary_search_by_key(&self.number, |call| call.number)
            && let Some(call) = state.recent.get_mut(at)
        {
            let before = std::mem::replace(&mut call.tokens, tokens);
            state.tokens = state.tokens.saturating_sub(before).saturating_add(tokens);
        }
        state.wake();
    }

    /// Pauses the provider for the time that it requested.
    pub fn pause(&self, wait: Duration) {
        self.gate.pause(wait);
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
