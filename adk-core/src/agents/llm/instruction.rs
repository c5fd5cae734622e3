//! Where an instruction comes from: a prompt with placeholders, or a function.

use super::template;
use crate::panic::caught;
use crate::runtime::run::{Context, PromptSource, ReadonlyContext};
use crate::spec::placeholder::Placeholders;
use crate::store::engine::{CallInputs, CallKind};
use crate::{BoxError, BoxFuture, Error, ErrorKind, Name, Result};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// What an agent tells its model to do.
///
/// ```
/// # use adk_core as adk;
/// use adk::{ReadonlyContext, llm::Instruction};
///
/// // The placeholders of a prompt are filled in.
/// let prompt = Instruction::from("Write about {topic}.");
/// // What a function says goes to the model as it is.
/// let function = Instruction::function(|cx: ReadonlyContext| format!("You are {}.", cx.agent_name()));
/// # assert!(format!("{prompt:?} {function:?}").contains("{topic}"));
/// ```
#[derive(Clone)]
pub struct Instruction(Form);

#[derive(Clone)]
enum Form {
    Prompt(Cow<'static, str>),
    Function(Arc<Function>),
}

type Function = dyn Fn(ReadonlyContext) -> BoxFuture<'static, Result<String>> + Send + Sync;

impl Instruction {
    /// A function that is asked before each call of the model. It gives text or a `Result` of text, at once or as a
    /// future; braces in it are text. It is a recorded step: when a run is taken up again it is not asked once more.
    pub fn function<F, R, M>(function: F) -> Self
    where
        F: Fn(ReadonlyContext) -> R + Send + Sync + 'static,
        R: Instructs<M>,
    {
        Self(Form::Function(Arc::new(move |cx| function(cx).told())))
    }

    /// The prompt, with its placeholders; `None` for a function.
    pub fn prompt(&self) -> Option<&str> {
        match &self.0 {
            Form::Prompt(prompt) => Some(prompt),
            Form::Function(_) => None,
        }
    }

    /// As what is said to all agents below; nothing when it is empty.
    pub(super) fn for_all(self) -> Option<Arc<dyn PromptSource>> {
        match self.prompt() {
            Some("") => None,
            _ => Some(Arc::new(self)),
        }
    }

    /// The text for the next call.
    ///
    /// # Errors
    /// When a prompt reads what is not there, or the function fails.
    pub(super) async fn render(&self, cx: &mut Context) -> Result<String> {
        let function = match &self.0 {
            Form::Prompt(prompt) => return template::render(prompt, "instruction", cx).await,
            Form::Function(function) => function.clone(),
        };
        let readonly = cx.readonly();
        let work = async move {
            // The function itself may panic, and so may its future.
            match caught(async move { function(readonly).await }).await {
                Ok(text) => text,
                Err(panic) => Err(Error::new(ErrorKind::Panic, format!("its instruction panicked: {panic}"))
                    .with_help("this is a defect of the function that makes the instruction")),
            }
        };
        // In a box: most instructions are prompts.
        let (name, inputs) = (Name::literal("instruction"), CallInputs::default());
        Box::pin(cx.recorded_call(CallKind::Instruction, name, inputs, work)).await
    }
}

impl Default for Instruction {
    fn default() -> Self {
        Self::from("")
    }
}

impl From<&'static str> for Instruction {
    fn from(prompt: &'static str) -> Self {
        Self(Form::Prompt(Cow::Borrowed(prompt)))
    }
}

impl From<String> for Instruction {
    fn from(prompt: String) -> Self {
        Self(Form::Prompt(Cow::Owned(prompt)))
    }
}

impl PromptSource for Instruction {
    fn text<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<String>> {
        Box::pin(self.render(cx))
    }

    fn fixed_len(&self) -> Option<usize> {
        match &self.0 {
            Form::Prompt(prompt) => Placeholders::new(prompt).next().map(|first| first.start),
            Form::Function(_) => Some(0),
        }
    }
}

impl fmt::Debug for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Prompt(prompt) => prompt.fmt(f),
            Form::Function(_) => f.write_str("a function"),
        }
    }
}

/// What a function may give as an instruction: text, a `Result` of text, or a future of either. `M` tells these apart and
/// is found by the compiler.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` is no instruction; help: give text, a `Result` of text, or a future of either",
    label = "a function that makes an instruction gives text, a `Result` of text, or a future of either"
)]
pub trait Instructs<M>: Send {
    /// The text, once it is there.
    fn told(self) -> BoxFuture<'static, Result<String>>;
}

/// Text at once.
#[derive(Debug)]
pub struct Text;

/// Text, or an error.
#[derive(Debug)]
pub struct Fallible;

/// One of these, later.
#[derive(Debug)]
pub struct Later<M>(M);

impl<T: Into<String> + Send> Instructs<Text> for T {
    fn told(self) -> BoxFuture<'static, Result<String>> {
        Box::pin(std::future::ready(Ok(self.into())))
    }
}

impl<T: Into<String> + Send, E: Into<BoxError> + Send> Instructs<Fallible> for Result<T, E> {
    fn told(self) -> BoxFuture<'static, Result<String>> {
        Box::pin(std::future::ready(self.map(Into::into).map_err(Error::other)))
    }
}

impl<F, M> Instructs<Later<M>> for F
where
    F: Future + Send + 'static,
    F::Output: Instructs<M>,
{
    fn told(self) -> BoxFuture<'static, Result<String>> {
        Box::pin(async move { self.await.told().await })
    }
}
