//! [`Batch`]: recorded calls that share one `ctx.run` entry in the journal of Restate. The name of
//! the entry consists of the keys of the calls.

use crate::posted::{Answer, Commit, fails_attempt};
use adk_core::engine::{Engine, Reply, Slot, Stored, error_from_value, error_to_value};
use adk_core::{BoxFuture, Error, ErrorKind, Result};
use futures_util::future::{Either, select};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

/// A recorded call: a step, or a call whose result is stored as an event.
pub(crate) struct Work {
    /// Name of the call: `writing/critic:model@0`, or the path of the agent for a call with an
    /// event.
    pub(crate) name: String,
    doing: Doing,
    answer: Receiver,
    /// The result, until it is recorded in the journal.
    given: Option<Result<CallResult>>,
}

enum Doing {
    Step(BoxFuture<'static, Result<Value>>),
    Call(Option<Commit>),
    Commit(BoxFuture<'static, Result<Stored>>),
}

enum Receiver {
    Step(Answer<Result<Value>>),
    Call(Answer<Result<Stored>>),
}

enum CallResult {
    Value(Value),
    Event(Stored),
}

/// The content of a journal entry.
#[derive(Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Results in the order of the names; null for a call that has not ended.
    results: Vec<Option<Recorded>>,
    /// Reason why some calls have not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stopped: Option<Stopped>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Recorded {
    Value(Value),
    /// The place of the event in the log.
    Event(u64),
    Error(Value),
}

/// Reason to interrupt calls that are running.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stopped {
    /// A time limit of the run has passed.
    Limit,
    /// The handler checks whether the run was cancelled.
    Look,
}

/// A call whose result is an event. Its journal entry holds only the event's place in the log.
pub(crate) struct FinishedCall {
    pub(crate) place: u64,
    pub(crate) event: FinishedEvent,
    pub(crate) answer: Answer<Result<Stored>>,
}

/// Where the event of a finished call comes from.
pub(crate) enum FinishedEvent {
    /// This attempt has made the call.
    Stored(Stored),
    /// An earlier attempt of the handler has made the call. The store has the event of this slot.
    Earlier(Slot),
}

impl Work {
    pub(crate) fn step(
        name: String,
        work: BoxFuture<'static, Result<Value>>,
        answer: Answer<Result<Value>>,
    ) -> Self {
        Self {
            name,
            doing: Doing::Step(work),
            answer: Receiver::Step(answer),
            given: None,
        }
    }

    pub(crate) fn call(call: Commit, answer: Answer<Result<Stored>>) -> Self {
        let (name, doing) = (call.0.path.to_string(), Doing::Call(Some(call)));
        Self {
            name,
            doing,
            answer: Receiver::Call(answer),
            given: None,
        }
    }

    /// Reports whether the receiver of the result has been dropped.
    pub(crate) fn is_abandoned(&self) -> bool {
        match &self.answer {
            Receiver::Step(answer) => answer.is_closed(),
            Receiver::Call(answer) => answer.is_closed(),
        }
    }

    fn poll(&mut self, engine: &Arc<dyn Engine>, task: &mut Context<'_>) -> Poll<()> {
        if self.given.is_some() {
            return Poll::Ready(());
        }
        let call = if let Doing::Call(call) = &mut self.doing {
            call.take()
        } else {
            None
        };
        if let Some(call) = call {
            let ((slot, body), engine) = (*call, engine.clone());
            self.doing = Doing::Commit(Box::pin(async move {
                match engine.commit(slot, body) {
                    Reply::Ready(stored) => stored,
                    Reply::Later(stored) => stored.await,
                }
            }));
        }
        let given = match &mut self.doing {
            Doing::Step(work) => work.as_mut().poll(task).map_ok(CallResult::Value),
            Doing::Commit(stored) => stored.as_mut().poll(task).map_ok(CallResult::Event),
            Doing::Call(_) => Poll::Pending,
        };
        given.map(|given| self.given = Some(given))
    }

    fn record(&self) -> Option<Recorded> {
        self.given.as_ref().map(|given| match given {
            Ok(CallResult::Value(value)) => Recorded::Value(value.clone()),
            Ok(CallResult::Event(stored)) => Recorded::Event(stored.place),
            Err(error) => Recorded::Error(error_to_value(error)),
        })
    }

    /// Sends a recorded result to its receiver. A call whose result is an event is returned
    /// instead, because its event has to be delivered in the order of the log.
    fn settle(self, recorded: Recorded) -> Option<FinishedCall> {
        let failed = |error: &Value| {
            error_from_value(error).unwrap_or_else(|| {
                Error::new(
                    ErrorKind::Diverged,
                    format!("the journal has an unreadable record for `{}`", self.name),
                )
            })
        };
        match (self.answer, recorded) {
            (Receiver::Step(answer), Recorded::Value(value)) => drop(answer.send(Ok(value))),
            (Receiver::Step(answer), Recorded::Error(error)) => {
                drop(answer.send(Err(failed(&error))))
            }
            (Receiver::Call(answer), Recorded::Error(error)) => {
                drop(answer.send(Err(failed(&error))))
            }
            (Receiver::Call(answer), Recorded::Event(place)) => {
                let event = match (self.given, self.doing) {
                    (Some(Ok(CallResult::Event(stored))), _) => FinishedEvent::Stored(stored),
                    (_, Doing::Call(Some(call))) => FinishedEvent::Earlier(call.0),
                    _ => return None,
                };
                return Some(FinishedCall {
                    place,
                    event,
                    answer,
                });
            }
            (Receiver::Step(answer), Recorded::Event(_)) => {
                drop(answer.send(Err(failed(&Value::Null))))
            }
            (Receiver::Call(answer), Recorded::Value(_)) => {
                drop(answer.send(Err(failed(&Value::Null))))
            }
        }
        None
    }
}

/// Recorded calls of one journal entry. Clones share the calls.
#[derive(Clone)]
pub(crate) struct Batch(Arc<Mutex<Vec<Work>>>);

impl Batch {
    pub(crate) fn new(mut works: Vec<Work>) -> Self {
        works.sort_by(|one, other| one.name.cmp(&other.name));
        Self(Arc::new(Mutex::new(works)))
    }

    fn with<T>(&self, act: impl FnOnce(&mut Vec<Work>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn name(&self) -> String {
        self.with(|works| {
            works
                .iter()
                .map(|work| &*work.name)
                .collect::<Vec<_>>()
                .join("+")
        })
    }

    /// Executes the calls until all have ended, the time `limit` has come, or the time `look` has
    /// passed.
    ///
    /// # Errors
    /// Fails when the store fails, which makes the attempt of the handler fail.
    pub(crate) async fn perform(
        self,
        engine: Arc<dyn Engine>,
        limit: Option<Instant>,
        look: Duration,
    ) -> Result<Entry> {
        let all = poll_fn(|task| {
            let left = |works: &mut Vec<Work>| {
                works
                    .iter_mut()
                    .filter_map(|work| work.poll(&engine, task).is_pending().then_some(()))
                    .count()
            };
            if self.with(left) == 0 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        });
        let limit = async {
            match limit {
                Some(limit) => sleep_until(limit).await,
                None => pending().await,
            }
        };
        let stopped = match select(pin!(all), pin!(select(pin!(limit), pin!(sleep(look))))).await {
            Either::Left(_) => None,
            Either::Right((Either::Left(_), _)) => Some(Stopped::Limit),
            Either::Right((Either::Right(_), _)) => Some(Stopped::Look),
        };
        self.with(|works| {
            for work in works.iter_mut() {
                if let Some(Err(error)) = work
                    .given
                    .take_if(|given| given.as_ref().is_err_and(fails_attempt))
                {
                    return Err(error);
                }
            }
            Ok(Entry {
                results: works.iter().map(Work::record).collect(),
                stopped,
            })
        })
    }

    /// Sends the recorded results to their receivers. Returns the calls with events, and the calls
    /// that have not ended.
    pub(crate) fn settle(self, entry: Entry) -> (Vec<FinishedCall>, Vec<Work>) {
        let (mut called, mut left) = (Vec::new(), Vec::new());
        let mut results = entry.results.into_iter();
        for work in self.with(std::mem::take) {
            match results.next().flatten() {
                Some(recorded) => called.extend(work.settle(recorded)),
                None => left.push(work),
            }
        }
        called.sort_by_key(|called| called.place);
        (called, left)
    }
}
