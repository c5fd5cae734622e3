//! [`ScriptedModel`]: a model that follows a script.

use super::Reply;
use crate::Name;
use crate::model::{Model, ModelError, ModelErrorKind, ModelRequest, ModelStream};
use crate::sync::lock;
use futures_util::stream;
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, Mutex};

/// A model that replies by a script and records its requests.
///
/// Each agent has its own script, which begins with [`on`](Self::on). Replies before any `on` are
/// for all agents without a script, in the order of their requests. An agent that exceeds its
/// script gets an error with this reason. A rule of [`when`](Self::when) replies by the request,
/// independently of the order of requests, which parallel agents do not fix. Clones share one
/// state: keep a clone to inspect the requests later.
///
/// ```
/// # use adk_build as adk;
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
    state: Arc<Mutex<ScriptState>>,
}

#[derive(Default)]
struct ScriptState {
    scripts: Vec<Script>,
    rules: Vec<Rule>,
    /// Index of the script that the builder extends.
    at: usize,
    requests: Vec<Arc<ModelRequest>>,
}

#[derive(Default)]
struct Script {
    /// `None` for the script of all agents without their own script.
    agent: Option<Name>,
    replies: Vec<Reply>,
    next: usize,
    repeats: bool,
}

/// Replies to the requests that its test accepts.
struct Rule {
    accepts: Box<dyn Fn(&ModelRequest) -> bool + Send + Sync>,
    reply: Reply,
}

impl ScriptedModel {
    /// Creates a model without a script.
    pub fn new() -> Self {
        Self::default()
    }

    /// Continues the script of an agent. Creates the script if it does not exist.
    #[must_use]
    pub fn on(self, agent: impl Into<Name>) -> Self {
        lock(&self.state).open(Some(agent.into()));
        self
    }

    /// Adds a reply of any kind.
    #[must_use]
    pub fn reply(self, reply: Reply) -> Self {
        lock(&self.state).script().replies.push(reply);
        self
    }

    /// Adds text. It does not arrive in pieces, unless [`Reply::pieces`] sets them.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.reply(Reply::new().text(text))
    }

    /// Adds a value as JSON text.
    #[must_use]
    pub fn json(self, value: impl Serialize) -> Self {
        self.reply(Reply::new().json(value))
    }

    /// Adds a tool call with an object of arguments.
    #[must_use]
    pub fn call(self, name: impl Into<String>, args: Value) -> Self {
        self.reply(Reply::new().call(name, args))
    }

    /// Adds several tool calls in one reply.
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

    /// Repeats the last reply of this script without end.
    #[must_use]
    pub fn repeat_last(self) -> Self {
        lock(&self.state).script().repeats = true;
        self
    }

    /// Replies to each request that the test accepts, of any agent and any number of times. The
    /// first rule that accepts a request wins, and rules win over scripts.
    ///
    /// ```
    /// # use adk_build as adk;
    /// use adk::testing::{Reply, ScriptedModel};
    ///
    /// let model = ScriptedModel::new()
    ///     // By the text of the prompt ...
    ///     .when(|request| request.prompt().contains("Paris"), Reply::new().text("Sunny."))
    ///     // ... and by the place, here the third element of an `each`.
    ///     .when(|request| request.info.path.to_string().contains("each_1[2]"),
    /// Reply::new().text("Rain."))
    ///     .on("writer")
    ///     .text("A cat sat.");
    /// ```
    #[must_use]
    pub fn when(
        self,
        accepts: impl Fn(&ModelRequest) -> bool + Send + Sync + 'static,
        reply: Reply,
    ) -> Self {
        let accepts = Box::new(accepts);
        lock(&self.state).rules.push(Rule { accepts, reply });
        self
    }

    /// Returns all requests so far in their order of arrival. A repeated attempt is a further
    /// request.
    pub fn requests(&self) -> Vec<Arc<ModelRequest>> {
        lock(&self.state).requests.clone()
    }

    /// Returns the requests of one agent.
    pub fn requests_of(&self, agent: &str) -> Vec<Arc<ModelRequest>> {
        self.requests()
            .into_iter()
            .filter(|request| *request.info.agent == *agent)
            .collect()
    }

    /// Returns how many replies of the agent's script are unused.
    pub fn left(&self, agent: &str) -> usize {
        let mut state = lock(&self.state);
        state
            .find(agent)
            .map_or(0, |script| script.replies.len().saturating_sub(script.next))
    }
}

impl ScriptState {
    /// Makes the script of an agent current. Creates the script if it does not exist.
    fn open(&mut self, agent: Option<Name>) {
        let found = self.scripts.iter().position(|script| script.agent == agent);
        self.at = found.unwrap_or(self.scripts.len());
        if found.is_none() {
            self.scripts.push(Script {
                agent,
                ..Script::default()
            });
        }
    }

    /// Returns the current script.
    fn script(&mut self) -> &mut Script {
        if self.scripts.is_empty() {
            self.open(None);
        }
        &mut self.scripts[self.at]
    }

    /// Returns the script that an agent follows.
    fn find(&mut self, agent: &str) -> Option<&mut Script> {
        let own = |script: &Script| script.agent.as_ref().is_some_and(|name| **name == *agent);
        let found = self.scripts.iter().position(own);
        let found = found.or_else(|| {
            self.scripts
                .iter()
                .position(|script| script.agent.is_none())
        })?;
        Some(&mut self.scripts[found])
    }

    fn answer(&mut self, request: &ModelRequest) -> Result<Reply, ModelError> {
        if let Some(rule) = self.rules.iter().find(|rule| (rule.accepts)(request)) {
            return Ok(rule.reply.clone());
        }
        let agent = &*request.info.agent;
        let Some(script) = self.find(agent) else {
            let message = format!("the scripted model has no reply for agent `{agent}`");
            let error = ModelError::new(ModelErrorKind::Other, message);
            return Err(error.with_help(format!("add `.on(\"{agent}\")`")));
        };
        let at = if script.repeats {
            script.next.min(script.replies.len().saturating_sub(1))
        } else {
            script.next
        };
        let count = script.replies.len();
        let Some(reply) = script.replies.get(at) else {
            let owner = match &script.agent {
                Some(agent) => format!("agent `{agent}`"),
                None => "all agents".to_owned(),
            };
            let message = format!(
                "the script of {owner} has {count} replies, and agent `{agent}` requests one more"
            );
            let error = ModelError::new(ModelErrorKind::Other, message);
            return Err(error.with_help("add a reply, or call `.repeat_last()`"));
        };
        script.next += 1;
        Ok(reply.clone())
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &str {
        "scripted"
    }

    /// Accepts all tools. None is run.
    fn check_provider_tool(&self, _: &str, _: bool) -> Result<(), ModelError> {
        Ok(())
    }

    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        let mut state = lock(&self.state);
        state.requests.push(request.clone());
        match state.answer(&request) {
            Ok(reply) => reply.into_stream(request.stream),
            Err(error) => Box::pin(stream::iter([Err(error)])),
        }
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = lock(&self.state);
        let scripts = state.scripts.iter().map(|script| {
            let agent = script.agent.as_deref().unwrap_or("*");
            (agent, script.replies.len().saturating_sub(script.next))
        });
        f.write_str("ScriptedModel ")?;
        f.debug_map().entries(scripts).finish()
    }
}
