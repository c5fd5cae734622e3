//! A model that follows a script.

use super::Reply;
use crate::Name;
use crate::models::model::{Model, ModelError, ModelErrorKind, ModelRequest, ModelStream};
use crate::sync::lock;
use futures_util::stream;
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, Mutex};

/// A model that says what the test tells it, and remembers what it was asked.
///
/// Each agent has a script of its own, begun with [`on`](Self::on); what is added before any `on` is for all
/// agents that have none, in the order in which they ask. An agent that asks for more than its script holds gets an
/// error that says so. Clones are one model: keep one to ask it afterwards.
///
/// ```
/// # use adk_core as adk;
/// use adk::testing::{Reply, ScriptedModel};
/// use adk::model::ModelErrorKind;
/// use serde_json::json;
///
/// let model = ScriptedModel::new()
///     .on("writer").text("A cat sat.")
///     .on("critic").text("Too short.").text("Fine.")
///     .on("refiner")
///     .reply(Reply::error(ModelErrorKind::Unavailable, "overloaded"))
///     .text("A cat sat on a mat.")
///     .call("exit_loop", json!({}));
/// // Runner::builder().model(model.clone()) ... and when the run is over:
/// assert_eq!(model.requests().len(), 0);
/// assert_eq!(model.left("critic"), 2);
/// ```
#[derive(Clone, Default)]
pub struct ScriptedModel {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    scripts: Vec<Script>,
    /// The script that is being written; the first is that of all agents.
    at: usize,
    requests: Vec<Arc<ModelRequest>>,
}

#[derive(Default)]
struct Script {
    /// `None`: for agents that have no script of their own.
    agent: Option<Name>,
    replies: Vec<Reply>,
    next: usize,
    repeats: bool,
}

impl ScriptedModel {
    /// A model without a script.
    pub fn new() -> Self {
        Self::default()
    }

    /// Goes on with the script of an agent.
    #[must_use]
    pub fn on(self, agent: impl Into<Name>) -> Self {
        lock(&self.inner).open(Some(agent.into()));
        self
    }

    /// Adds a reply of any kind.
    #[must_use]
    pub fn reply(self, reply: Reply) -> Self {
        lock(&self.inner).script().replies.push(reply);
        self
    }

    /// Adds text.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.reply(Reply::new().text(text))
    }

    /// Adds a value as JSON text.
    #[must_use]
    pub fn json(self, value: impl Serialize) -> Self {
        self.reply(Reply::new().json(value))
    }

    /// Adds a call of a tool, with an object of arguments.
    #[must_use]
    pub fn call(self, name: impl Into<String>, args: Value) -> Self {
        self.reply(Reply::new().call(name, args))
    }

    /// Adds several calls in one reply.
    #[must_use]
    pub fn calls<N: Into<String>>(self, calls: impl IntoIterator<Item = (N, Value)>) -> Self {
        let add = |reply: Reply, (name, args): (N, Value)| reply.call(name, args);
        self.reply(calls.into_iter().fold(Reply::new(), add))
    }

    /// Adds a failed call.
    #[must_use]
    pub fn error(self, kind: ModelErrorKind, message: impl Into<String>) -> Self {
        self.reply(Reply::error(kind, message))
    }

    /// The last reply of this script is given again and again.
    #[must_use]
    pub fn repeat_last(self) -> Self {
        lock(&self.inner).script().repeats = true;
        self
    }

    /// All requests so far, in the order in which they came; a repeated attempt is one more.
    pub fn requests(&self) -> Vec<Arc<ModelRequest>> {
        lock(&self.inner).requests.clone()
    }

    /// The requests of one agent.
    pub fn requests_of(&self, agent: &str) -> Vec<Arc<ModelRequest>> {
        self.requests().into_iter().filter(|request| *request.info.agent == *agent).collect()
    }

    /// How many replies the agent has not asked for yet.
    pub fn left(&self, agent: &str) -> usize {
        let mut inner = lock(&self.inner);
        inner.find(agent).map_or(0, |script| script.replies.len().saturating_sub(script.next))
    }
}

impl Inner {
    /// The script of an agent, made when there is none.
    fn open(&mut self, agent: Option<Name>) {
        let found = self.scripts.iter().position(|script| script.agent == agent);
        self.at = found.unwrap_or(self.scripts.len());
        if found.is_none() {
            self.scripts.push(Script { agent, ..Script::default() });
        }
    }

    /// The script that is being written.
    fn script(&mut self) -> &mut Script {
        if self.scripts.is_empty() {
            self.open(None);
        }
        &mut self.scripts[self.at]
    }

    /// The script that an agent follows.
    fn find(&mut self, agent: &str) -> Option<&mut Script> {
        let own = |script: &Script| script.agent.as_ref().is_some_and(|name| **name == *agent);
        let found = self.scripts.iter().position(own);
        let found = found.or_else(|| self.scripts.iter().position(|script| script.agent.is_none()))?;
        Some(&mut self.scripts[found])
    }

    fn answer(&mut self, agent: &str) -> Result<Reply, ModelError> {
        let over = |message: String| Err(ModelError::new(ModelErrorKind::Other, message));
        let Some(script) = self.find(agent) else {
            return over(format!(
                "the scripted model has no reply for agent `{agent}`: add `.on(\"{agent}\")`"
            ));
        };
        let at = if script.repeats {
            script.next.min(script.replies.len().saturating_sub(1))
        } else {
            script.next
        };
        let count = script.replies.len();
        let Some(reply) = script.replies.get(at) else {
            let whose = match &script.agent {
                Some(agent) => format!("agent `{agent}`"),
                None => format!("all agents, asked by `{agent}`,"),
            };
            return over(format!(
                "the script for {whose} is over: it holds {count} replies, and one more was asked for; \
                 add a reply, or `.repeat_last()`"
            ));
        };
        script.next += 1;
        Ok(reply.clone())
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &str {
        "scripted"
    }

    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        let mut inner = lock(&self.inner);
        inner.requests.push(request.clone());
        match inner.answer(&request.info.agent) {
            Ok(reply) => reply.into_stream(request.stream),
            Err(error) => Box::pin(stream::iter([Err(error)])),
        }
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = lock(&self.inner);
        let scripts = inner.scripts.iter().map(|script| {
            let agent = script.agent.as_deref().unwrap_or("*");
            (agent, script.replies.len().saturating_sub(script.next))
        });
        f.write_str("ScriptedModel ")?;
        f.debug_map().entries(scripts).finish()
    }
}
