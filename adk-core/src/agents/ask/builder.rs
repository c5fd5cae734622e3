//! An `await` that is made at run time.

use super::{Form, Question, value_of};
use crate::agents::about::{About, Parts};
use crate::agents::llm::OutputKey;
use crate::runtime::agent::DynAgent;
use crate::runtime::run::{Context, Prepare};
use crate::spec::{AgentKind, AgentMeta, AnsweredBy, Key, schema};
use crate::{BoxFuture, Error, Flow, Name, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// A step that waits for a value from outside, mostly a person's decision, and writes it to a key: `await` in a
/// workflow, this in a tree that is made at run time.
///
/// The run pauses and is listed by [`Runner::waiting`](crate::Runner::waiting); [`Runner::answer`](crate::Runner::answer)
/// gives the value, in this process or another.
///
/// ```
/// # use adk_core as adk;
/// use adk::{Await, SequentialAgent, llm::LlmAgent};
/// use std::time::Duration;
///
/// let drafter = LlmAgent::builder("drafter").instruction("Write a post.").output_key("draft").build()?;
/// let decision = Await::builder::<bool>("approved")
///     .question("May this be published? {draft}")
///     .timeout(Duration::from_secs(72 * 3600))
///     .default(false);
/// let tree = SequentialAgent::builder("publishing").sub_agents((drafter, decision.build())).build()?;
/// # Ok::<(), adk::BuildError>(())
/// ```
pub struct Await {
    about: About,
    key: Name,
    question: String,
    form: Form,
    timeout: Option<Duration>,
    /// What counts when nobody has answered in time, or why it has no form in JSON.
    otherwise: Option<Result<Value, Arc<Error>>>,
}

impl Await {
    /// Waits for a value of that type, which it writes to `key`. It is called like the key, unless it has a name.
    pub fn builder<T>(key: impl Into<String>) -> AwaitBuilder<T>
    where
        T: Serialize + DeserializeOwned + schemars::JsonSchema + 'static,
    {
        let (key, name, question) = (key.into(), None, String::new());
        AwaitBuilder { key, name, question, by: None, timeout: None, otherwise: None, value: PhantomData }
    }

    /// Waits for ever for a value of a form that is known at run time.
    pub(crate) fn of(name: String, key: Key, question: String, form: Form, by: Option<AnsweredBy>) -> Self {
        let mut parts = Parts::new(AgentKind::Await, name);
        parts.description.clone_from(&question);
        parts.prompts = vec![question.clone()];
        parts.by = by;
        (parts.accepts, parts.schema) = match &form {
            Form::Type(output) => (Some(output.accepts), output.described),
            // An answer is held against the schema that is stored with the wait.
            Form::Schema(schema) => (None, Some(schema::value_schema(schema))),
        };
        let name = Name::shared(&key.name);
        parts.writes = vec![key];
        Self { about: About::made(parts), key: name, question, form, timeout: None, otherwise: None }
    }

    /// How long it waits, and what counts then.
    pub(crate) fn until(self, timeout: Option<Duration>, otherwise: Option<Value>) -> Self {
        Self { timeout, otherwise: otherwise.map(Ok), ..self }
    }
}

/// An [`Await`] to be. Without any setting it asks nothing in particular and waits for ever.
#[must_use = "it waits for nothing until it is built and placed in a tree"]
pub struct AwaitBuilder<T> {
    key: String,
    name: Option<String>,
    question: String,
    by: Option<AnsweredBy>,
    timeout: Option<Duration>,
    otherwise: Option<Result<Value, Arc<Error>>>,
    value: PhantomData<fn() -> T>,
}

impl<T> AwaitBuilder<T>
where
    T: Serialize + DeserializeOwned + schemars::JsonSchema + 'static,
{
    /// The name of the step: the author of its event. Default: the key, without its prefix.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// What is asked. Placeholders such as `{draft}` are filled from the state.
    pub fn question(mut self, question: impl Into<String>) -> Self {
        self.question = question.into();
        self
    }

    /// Who may answer: users with a role, or each user but the one who began the run. Default: the user who began the run.
    /// See [`Runner::answer_as`](crate::Runner::answer_as).
    pub fn by(mut self, by: AnsweredBy) -> Self {
        self.by = Some(by);
        self
    }

    /// How long it waits. Default: for ever. When nobody has answered by then, the [default](Self::default) counts, and
    /// without one the run fails with [`ErrorKind::Expired`](crate::ErrorKind::Expired);
    /// [`Runner::retry`](crate::Runner::retry) asks again.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// What counts when nobody has answered in time. It says nothing without a [timeout](Self::timeout).
    pub fn default(mut self, value: T) -> Self {
        self.otherwise = Some(value_of(&value).map_err(Arc::new));
        self
    }

    /// The step.
    pub fn build(self) -> Await {
        let Self { key, name, question, by, timeout, otherwise, .. } = self;
        let own = key.rsplit(':').next().unwrap_or_default();
        let name = name.unwrap_or_else(|| own.to_owned());
        let form = Form::Type(OutputKey::json::<T>(""));
        Await { timeout, otherwise, ..Await::of(name, Key::typed::<T>(&*key), question, form, by) }
    }
}

impl DynAgent for Await {
    fn meta(&self) -> &AgentMeta<'_> {
        self.about.meta()
    }

    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        Box::pin(async move {
            let otherwise = self.otherwise.clone().transpose();
            let question = Question {
                key: self.key.clone(),
                text: &self.question,
                form: self.form.clone(),
                by: self.meta().by.map(AnsweredBy::from),
                timeout: self.timeout,
                otherwise: otherwise.map_err(|error| error.copy())?,
            };
            question.ask(cx).await
        })
    }

    fn announced_dyn(&self) -> crate::runtime::agent::AnnouncedKeys {
        self.about.announced()
    }

    fn prepare_dyn(&self, prepare: &mut Prepare<'_>) {
        if let Some(Err(error)) = &self.otherwise {
            prepare.fail(error.copy());
        }
    }
}

impl fmt::Debug for Await {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Await({})", self.key)
    }
}

impl<T> fmt::Debug for AwaitBuilder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AwaitBuilder({})", self.key)
    }
}
