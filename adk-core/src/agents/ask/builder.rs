//! [`Await`]: an `await` step that is built at run time.

use super::{AnswerForm, Question, value_of};
use crate::agents::description::{AgentDescription, DescribedAnswer, DescriptionParts};
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

/// A step that waits for a value from outside, mostly a decision of a person, and writes the value
/// to a key. A workflow declares it as `await`; a tree that is built at run time contains this
/// type.
///
/// The run pauses, and [`Runner::waiting`](crate::Runner::waiting) lists it.
/// [`Runner::answer`](crate::Runner::answer) passes the value, in this process or another process.
///
/// ```
/// # use adk_build as adk;
/// use adk::{Await, SequentialAgent, llm::LlmAgent};
/// use std::time::Duration;
///
/// let drafter = LlmAgent::builder("drafter")
///     .instruction("Write a post.")
///     .output_key("draft")
///     .build()?;
/// let decision = Await::builder::<bool>("approved")
///     .question("May this be published? {draft}")
///     .timeout(Duration::from_secs(72 * 3600))
///     .default(false);
/// let tree = SequentialAgent::builder("publishing")
///     .sub_agents((drafter, decision.build()))
///     .build()?;
/// # Ok::<(), adk::BuildError>(())
/// ```
pub struct Await {
    description: AgentDescription,
    key: Name,
    question: String,
    form: AnswerForm,
    timeout: Option<Duration>,
    /// The default for an expired timeout, or the error of its conversion to JSON.
    otherwise: Option<Result<Value, Arc<Error>>>,
}

impl Await {
    /// Returns a builder for a step that waits for a value of type `T` and writes it to `key`. The
    /// default name of the step is the key.
    pub fn builder<T>(key: impl Into<String>) -> AwaitBuilder<T>
    where
        T: Serialize + DeserializeOwned + schemars::JsonSchema + 'static,
    {
        let (key, name, question) = (key.into(), None, String::new());
        AwaitBuilder {
            key,
            name,
            question,
            by: None,
            timeout: None,
            otherwise: None,
            value: PhantomData,
        }
    }

    /// Creates a step without a timeout, for a form that is known at run time.
    pub(crate) fn with_form(
        name: String,
        key: Key,
        question: String,
        form: AnswerForm,
        (by, has_default): (Option<AnsweredBy>, bool),
    ) -> Self {
        let mut parts = DescriptionParts::new(AgentKind::Await, name);
        parts.description.clone_from(&question);
        parts.prompts = vec![question.clone()];
        let (accepts, schema) = match &form {
            AnswerForm::Type(output) => (Some(output.accepts), output.described),
            // The runner checks an answer against the schema that is stored with the wait.
            AnswerForm::Schema(schema) => (None, Some(schema::value_schema(schema))),
        };
        parts.answer = DescribedAnswer {
            by,
            accepts,
            schema,
            has_default,
        };
        let name = Name::shared(&key.name);
        parts.writes = vec![key];
        Self {
            description: AgentDescription::from_parts(parts),
            key: name,
            question,
            form,
            timeout: None,
            otherwise: None,
        }
    }

    /// Sets the timeout and its default.
    pub(crate) fn with_timeout(self, timeout: Option<Duration>, otherwise: Option<Value>) -> Self {
        Self {
            timeout,
            otherwise: otherwise.map(Ok),
            ..self
        }
    }
}

/// Builder of an [`Await`]. The default is an empty question without a timeout.
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
    /// Sets the name of the step, which is the author of its event. Default: the key without its
    /// prefix.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the question. Placeholders such as `{draft}` are filled from the state.
    pub fn question(mut self, question: impl Into<String>) -> Self {
        self.question = question.into();
        self
    }

    /// Sets who may answer: users with a role, or each user except the one who started the run.
    /// Default: the user who started the run. See [`Runner::answer_as`](crate::Runner::answer_as).
    pub fn by(mut self, by: AnsweredBy) -> Self {
        self.by = Some(by);
        self
    }

    /// Sets how long the step waits. Default: without end. When the timeout expires, the step
    /// writes the [default](Self::default). Without a default the run fails with
    /// [`ErrorKind::Expired`](crate::ErrorKind::Expired); [`Runner::retry`](crate::Runner::retry)
    /// asks again.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the value for an expired timeout. Has no effect without a [timeout](Self::timeout).
    pub fn default(mut self, value: T) -> Self {
        self.otherwise = Some(value_of(&value).map_err(Arc::new));
        self
    }

    /// Builds the step.
    pub fn build(self) -> Await {
        let Self {
            key,
            name,
            question,
            by,
            timeout,
            otherwise,
            ..
        } = self;
        let own = key.rsplit(':').next().unwrap_or_default();
        let name = name.unwrap_or_else(|| own.to_owned());
        let form = AnswerForm::Type(OutputKey::json::<T>(""));
        let by = (by, otherwise.is_some());
        Await {
            timeout,
            otherwise,
            ..Await::with_form(name, Key::typed::<T>(&*key), question, form, by)
        }
    }
}

impl DynAgent for Await {
    fn meta(&self) -> &AgentMeta<'_> {
        self.description.meta()
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
        self.description.announced()
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
