//! Waits: values that come from outside.

use super::Context;
use crate::engine::{Wait, Waiting};
use crate::outbox::Counted;
use crate::run::record;
use crate::{Name, Result};
use serde::de::DeserializeOwned;
use serde_json::Value;

impl Context {
    /// A value from outside. Without an answer the agent waits here; when nothing else of the run can go on,
    /// the run pauses.
    ///
    /// # Errors
    /// When the answer is not of that type.
    pub async fn wait<T: DeserializeOwned>(&mut self, name: impl Into<Name>) -> Result<T> {
        let asked = Asked { name: name.into(), call_id: None, question: String::new() };
        let mut values = self.wait_for_all(vec![asked]).await?;
        record::read(record::escaped(values.pop().unwrap_or_default()))
    }

    /// Values from outside, in the order in which they are asked for; the agent waits until all are there.
    pub(crate) async fn wait_for_all(&mut self, asked: Vec<Asked>) -> Result<Vec<Value>> {
        let (mut values, mut open) = (Vec::with_capacity(asked.len()), Vec::new());
        for Asked { name, call_id, question } in asked {
            let key = self.wait_key(name);
            let (id, run_id, path) = (key.id(), key.run_id, key.path.clone());
            let (schema, deadline, otherwise) = (Value::Null, None, None);
            let waiting = Waiting { id, run_id, path, question, schema, deadline, call_id, otherwise };
            let wait = Wait { key, session: self.run.session().key().clone(), waiting: waiting.clone() };
            match self.run.engine.answer(wait).await? {
                Some(answer) => values.push(record::read(answer)?),
                None => open.push(waiting),
            }
        }
        if open.is_empty() {
            return Ok(values);
        }
        let _waits: Vec<_> = open.into_iter().map(|waiting| self.run.add_waiting(waiting)).collect();
        let _parked = Counted::new(&self.run.outbox().parked);
        std::future::pending().await
    }
}

/// What is asked from outside.
pub(crate) struct Asked {
    pub(crate) name: Name,
    /// The call of a long-running tool that it is the answer to.
    pub(crate) call_id: Option<String>,
    pub(crate) question: String,
}
