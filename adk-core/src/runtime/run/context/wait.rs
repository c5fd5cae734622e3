//! [`Context::wait`]: values from outside of the run. `await`, long-running tools and confirmations
//! all use it.

use super::Context;
use crate::runtime::run::OpenWait;
use crate::runtime::run::record::{self, RecordSubject};
use crate::spec::AnsweredBy;
use crate::store::engine::{Wait, Waiting, is_failure, now_micros};
use crate::{Name, Result};
use futures_util::future::try_join_all;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::time::Duration;

impl Context {
    /// Waits for a value from outside. The agent waits here until the answer comes; the run pauses
    /// when no other part of it can continue.
    ///
    /// The answering process does not know the type. An answer of another type is accepted, and is
    /// an error of this agent. An [`Await`](crate::Await) rejects such an answer and keeps waiting.
    ///
    /// # Errors
    /// When the answer is not of that type.
    pub async fn wait<T: DeserializeOwned>(&mut self, name: impl Into<Name>) -> Result<T> {
        let name = name.into();
        let mut values = self
            .wait_for_all(vec![WaitQuestion::new(name.clone())])
            .await?;
        record::read(
            record::escape(values.pop().unwrap_or_default()),
            RecordSubject::Wait(&name),
        )
    }

    /// Waits for an answer to `question`, as [`wait`](Self::wait) does. `schema` is the JSON schema
    /// of the answer; null accepts any answer.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn wait_for(
        &mut self,
        name: impl Into<Name>,
        question: impl Into<String>,
        schema: Value,
    ) -> Result<Value> {
        let asked = WaitQuestion {
            question: question.into(),
            schema,
            ..WaitQuestion::new(name.into())
        };
        Ok(self
            .wait_for_all(vec![asked])
            .await?
            .pop()
            .unwrap_or_default())
    }

    /// Waits for several values from outside, and returns them in the order of the questions.
    pub(crate) async fn wait_for_all(&mut self, asked: Vec<WaitQuestion>) -> Result<Vec<Value>> {
        let (mut values, mut open) = (Vec::with_capacity(asked.len()), Vec::new());
        let now = self.time_of_waits(&asked).await?;
        let waits: Vec<_> = asked
            .into_iter()
            .map(|asked| self.wait_of(asked, now))
            .collect();
        // The questions are asked concurrently, because an engine may keep each of them pending
        // until its answer comes.
        let answers = waits.into_iter().map(|wait| self.answer(wait));
        for answer in try_join_all(answers).await? {
            match answer {
                WaitAnswer::There(value) => values.push(value),
                WaitAnswer::Open(waiting) => open.push(*waiting),
            }
        }
        if open.is_empty() {
            Ok(values)
        } else {
            match self.run.park(open).await {}
        }
    }

    /// Asks a question without waiting for the answer. Returns the answer, or the open wait.
    ///
    /// # Errors
    /// When the store fails, or the answer is an error, such as that of a wait without an answer in
    /// time.
    pub(crate) async fn ask(&mut self, asked: WaitQuestion) -> Result<WaitAnswer> {
        let now = self.time_of_waits(std::slice::from_ref(&asked)).await?;
        let wait = self.wait_of(asked, now);
        self.answer(wait).await
    }

    /// Returns the start of the timeouts of these questions, by the clock that their deadlines are
    /// compared with.
    async fn time_of_waits(&self, asked: &[WaitQuestion]) -> Result<u64> {
        match self.run.engine.waits() {
            Some(waits) if asked.iter().any(|asked| asked.timeout.is_some()) => waits.now().await,
            _ => Ok(now_micros()),
        }
    }

    /// Numbers a question that is asked `now`, and returns its wait.
    fn wait_of(&mut self, asked: WaitQuestion, now: u64) -> Wait {
        let WaitQuestion {
            name,
            by,
            call_id,
            question,
            schema,
            timeout,
            otherwise,
        } = asked;
        let key = self.wait_key(name);
        let (id, run_id, path) = (key.id(), key.run_id, key.path.clone());
        // The engine keeps the first deadline, so it does not move when the run is executed again.
        let deadline = timeout.map(|timeout| {
            now.saturating_add(u64::try_from(timeout.as_micros()).unwrap_or(u64::MAX))
        });
        let otherwise = otherwise.map(record::escape);
        let session = self.run.session().key().clone();
        let mut waiting = Waiting::new(id, run_id, path, question, schema).of(session.clone());
        waiting.by = by;
        waiting.deadline = deadline;
        waiting.call_id = call_id;
        waiting.otherwise = otherwise;
        Wait::new(key, session, waiting)
    }

    async fn answer(&self, wait: Wait) -> Result<WaitAnswer> {
        let (run, key) = (&self.run, wait.key.clone());
        if let Some(settled) = run.settle(&key.path) {
            settled.await?;
        }
        let mut open = Box::new(OpenWait::new(run, key.clone(), wait.waiting.clone()));
        // If the run has continued without an answer, the journal has an entry for the lost wait.
        let answer = match run.kind.recorded_result(&key) {
            Some(record) => Some(record),
            None => run.engine.answer(run.identity.claim, wait).await?,
        };
        let Some(answer) = answer else {
            return Ok(WaitAnswer::Open(open));
        };
        open.settle();
        if record::is_withdrawn(&answer) {
            return Ok(WaitAnswer::Open(open));
        }
        if is_failure(&answer) {
            run.record_failure(key.clone(), answer.clone());
        }
        Ok(WaitAnswer::There(record::read(
            answer,
            RecordSubject::Wait(&key.name),
        )?))
    }
}

/// The state of a question after it was asked.
pub(crate) enum WaitAnswer {
    /// The answer has come.
    There(Value),
    /// The answer is still to come.
    Open(Box<OpenWait>),
}

/// A question to the outside.
pub(crate) struct WaitQuestion {
    pub(crate) name: Name,
    /// The actor that may answer; `None` for the user who began the run.
    pub(crate) by: Option<AnsweredBy>,
    /// The call of the long-running tool whose result is the answer.
    pub(crate) call_id: Option<String>,
    pub(crate) question: String,
    /// The JSON schema of an answer; null accepts any answer.
    pub(crate) schema: Value,
    /// The time that the wait allows for an answer.
    pub(crate) timeout: Option<Duration>,
    /// The answer that counts after the timeout.
    pub(crate) otherwise: Option<Value>,
}

impl WaitQuestion {
    /// Creates a question that accepts any answer at any time.
    pub(crate) fn new(name: Name) -> Self {
        let (question, schema) = (String::new(), Value::Null);
        Self {
            name,
            by: None,
            call_id: None,
            question,
            schema,
            timeout: None,
            otherwise: None,
        }
    }
}
