//! [`Awaited`]: an `await` step of `workflow!` as an agent.

use crate::agents::ask::{AnswerForm, Question, value_of};
use crate::agents::llm::OutputKey;
use crate::runtime::agent::{Agent, DynAgent};
use crate::runtime::run::{Context, Prepare};
use crate::spec::{AgentMeta, AnsweredBy};
use crate::{BoxFuture, Flow, Name, Result};
use adk_spec::setters;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

/// The declarations of `await` steps. `workflow!` implements this trait for its own type, once per
/// step number.
pub trait Awaits<const STEP: usize>: 'static {
    /// The declaration.
    const DECL: AwaitDecl;
    /// The description of the step.
    const META: &'static AgentMeta<'static> = &Self::DECL.meta;
}

/// The declaration of an `await`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AwaitDecl {
    meta: AgentMeta<'static>,
    question: &'static str,
    form: OutputKey,
    timeout: Option<fn() -> Duration>,
    otherwise: Option<fn() -> Result<Value>>,
}

impl AwaitDecl {
    /// Creates a declaration without a timeout. The first prompt of the description is the
    /// question.
    pub const fn new(meta: AgentMeta<'static>, key: &'static str, form: OutputKey) -> Self {
        let question = match meta.prompts {
            [question, ..] => question,
            [] => "",
        };
        let form = OutputKey { key, ..form };
        let mut meta = meta.accepts(form.accepts);
        meta.schema = form.described;
        Self {
            meta,
            question,
            form,
            timeout: None,
            otherwise: None,
        }
    }

    setters! { [const]
        /// The time until the answer must arrive.
        timeout(timeout: fn() -> Duration) = Some(timeout);
    }

    /// Sets the value that counts when the timeout expires without an answer.
    #[must_use]
    pub const fn otherwise(mut self, value: fn() -> Result<Value>) -> Self {
        self.otherwise = Some(value);
        self.meta = with_default(self.meta);
        self
    }
}

/// Returns a description that says that there is a default, also if nobody knows its spelling.
const fn with_default(meta: AgentMeta<'static>) -> AgentMeta<'static> {
    if meta.default.is_empty() {
        meta.default("?")
    } else {
        meta
    }
}

/// A type that a user can answer with.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` cannot be awaited",
    label = "has no JSON schema",
    note = "put `#[adk::data]` on `{Self}`, or implement `Serialize`, `Deserialize` and \
        `JsonSchema`"
)]
pub trait Awaitable {
    /// Always `true`: an expansion names this constant to require the trait of a type.
    const YES: bool = true;
    /// The form in which the answer is requested and read. Its key name is empty;
    /// [`AwaitDecl::new`] sets the name.
    const JSON: OutputKey;

    /// Returns a default value as JSON.
    fn json(&self) -> Result<Value>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + schemars::JsonSchema> Awaitable for T {
    const JSON: OutputKey = OutputKey::json::<T>("");

    fn json(&self) -> Result<Value> {
        value_of(self)
    }
}

/// The `await` of a step of `W`. The type has no state and therefore no field.
pub struct Awaited<W, const STEP: usize>(PhantomData<fn() -> W>);

impl<W: Awaits<STEP>, const STEP: usize> Awaited<W, STEP> {
    /// The agent that runs the step.
    pub const AGENT: &'static dyn DynAgent = &Self(PhantomData);
}

#[diagnostic::do_not_recommend]
impl<W: Awaits<STEP>, const STEP: usize> Agent for Awaited<W, STEP> {
    const META: AgentMeta<'static> = W::DECL.meta;

    async fn run(&self, cx: &mut Context) -> Result<Flow> {
        self.boxed(cx).await
    }

    fn prepare(&self, prepare: &mut Prepare<'_>) {
        prepare.default = W::DECL.otherwise;
    }

    fn boxed<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        Box::pin(async move {
            let AwaitDecl {
                meta,
                question,
                form,
                timeout,
                otherwise,
                ..
            } = W::DECL;
            let question = Question {
                key: Name::literal(form.key),
                text: question,
                form: AnswerForm::Type(form),
                by: meta.by.map(AnsweredBy::from),
                timeout: timeout.map(|make| make()),
                otherwise: otherwise.map(|make| make()).transpose()?,
            };
            question.ask(cx).await
        })
    }
}

impl<W, const STEP: usize> fmt::Debug for Awaited<W, STEP> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Awaited({STEP})")
    }
}
