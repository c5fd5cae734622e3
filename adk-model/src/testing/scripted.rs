//! [`ScriptedModel`]: a model that follows a script.

use super::Reply;
use crate::model::{Model, ModelError, ModelErrorKind, ModelRequest, ModelStream};
use crate::sync::lock;
use crate::{Name, Path};
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
/// independently of the order of requests, which parallel agents do not fix. A script of
/// [`at`](Self::at) replies by the place of the call, so a call that a resumed run repeats gets its
/// first reply again. Clones share one state: keep a clone to inspect the requests later.
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

/// The requests that a script answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum ScriptOwner {
    /// The requests of all agents without a script.
    #[default]
    All,
    /// The requests of one agent.
    Agent(Name),
    /// The requests of a place, with or without its rounds.
    Place(String),
}

#[derive(Default)]
struct Script {
    owner: ScriptOwner,
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
        lock(&self.state).open(ScriptOwner::Agent(agent.into()));
        self
    }

    /// Continues the script of a place: the path of an agent, such as `paying/reader`. The first
    /// reply is for the first call of a turn of that agent, the second reply for its second call,
    /// and so on. A call that is made again after a crash, and a further attempt of a failed call,
    /// get the same reply.
    ///
    /// A path with rounds, such as `writing/improving#2/critic` or `cities/each_1[0]/guide`, is for
    /// that round only, and wins over the path without rounds, which is for every round. Rules of
    /// [`when`](Self::when) win over places, and places win over the scripts of agents.
    ///
    /// ```
    /// # use adk_build as adk;
    /// use adk::testing::ScriptedModel;
    /// use serde_json::json;
    ///
    /// let model = ScriptedModel::new()
    ///     .at("paying/reader")
    ///     .text("250")
    ///     .at("paying/payer")
    ///     .call("pay", json!({"amount": 250}))
    ///     .text("Paid.");
    /// ```
    #[must_use]
    pub fn at(self, place: impl Into<String>) -> Self {
        lock(&self.state).open(ScriptOwner::Place(place.into()));
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
        let state = lock(&self.state);
        let script = state.of_agent(agent).map(|at| &state.scripts[at]);
        script.map_or(0, |script| script.replies.len().saturating_sub(script.next))
    }
}

impl ScriptState {
    /// Makes the script of an owner current. Creates the script if it does not exist.
    fn open(&mut self, owner: ScriptOwner) {
        let found = self.find(&owner);
        self.at = found.unwrap_or(self.scripts.len());
        if found.is_none() {
            self.scripts.push(Script {
                owner,
                ..Script::default()
            });
        }
    }

    /// Returns the current script.
    fn script(&mut self) -> &mut Script {
        if self.scripts.is_empty() {
            self.open(ScriptOwner::All);
        }
        &mut self.scripts[self.at]
    }

    /// Returns the index of the script of an owner.
    fn find(&self, owner: &ScriptOwner) -> Option<usize> {
        self.scripts
            .iter()
            .position(|script| script.owner == *owner)
    }

    /// Returns the index of the script that the calls of an agent follow in their order.
    fn of_agent(&self, agent: &str) -> Option<usize> {
        self.find(&ScriptOwner::Agent(Name::shared(agent)))
            .or_else(|| self.find(&ScriptOwner::All))
    }

    /// Returns the index of the script of a place. The path with its rounds wins.
    fn of_place(&self, path: &Path) -> Option<usize> {
        self.find(&ScriptOwner::Place(path.to_string()))
            .or_else(|| self.find(&ScriptOwner::Place(without_rounds(path))))
    }

    fn answer(&mut self, request: &ModelRequest) -> Result<Reply, ModelError> {
        if let Some(rule) = self.rules.iter().find(|rule| (rule.accepts)(request)) {
            return Ok(rule.reply.clone());
        }
        let (agent, place) = (&*request.info.agent, self.of_place(&request.info.path));
        let Some(found) = place.or_else(|| self.of_agent(agent)) else {
            let message = format!("the scripted model has no reply for agent `{agent}`");
            let error = ModelError::new(ModelErrorKind::Other, message);
            return Err(error.with_help(format!("add `.on(\"{agent}\")`")));
        };
        let script = &mut self.scripts[found];
        let number = match place {
            Some(_) => request.info.turn as usize,
            None => script.next,
        };
        let count = script.replies.len();
        let at = if script.repeats {
            number.min(count.saturating_sub(1))
        } else {
            number
        };
        let Some(reply) = script.replies.get(at) else {
            let owner = match &script.owner {
                ScriptOwner::Agent(agent) => format!("agent `{agent}`"),
                ScriptOwner::Place(place) => format!("place `{place}`"),
                ScriptOwner::All => "all agents".to_owned(),
            };
            let message = format!(
                "the script of {owner} has {count} replies, and agent `{agent}` requests one more"
            );
            let error = ModelError::new(ModelErrorKind::Other, message);
            return Err(error.with_help("add a reply, or call `.repeat_last()`"));
        };
        script.next = script.next.max(number + 1);
        Ok(reply.clone())
    }
}

/// Returns the text of a path without rounds, elements and further turns.
fn without_rounds(path: &Path) -> String {
    let mut names: Vec<&str> = std::iter::successors(Some(path), |path| path.parent())
        .map(|path| &**path.name())
        .collect();
    names.reverse();
    names.join("/")
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
            let owner = match &script.owner {
                ScriptOwner::All => "*",
                ScriptOwner::Agent(agent) => agent,
                ScriptOwner::Place(place) => place,
            };
            (owner, script.replies.len().saturating_sub(script.next))
        });
        f.write_str("ScriptedModel ")?;
        f.debug_map().entries(scripts).finish()
    }
}
