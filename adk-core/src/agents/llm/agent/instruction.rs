//! [`Instruction`]: the source of an agent's instruction, which is a prompt with placeholders or a
//! function.

use super::template;
use crate::panic::catch_panic;
use crate::runtime::run::{Context, PromptSource, ReadonlyContext};
use crate::spec::placeholder::Placeholders;
use crate::store::engine::{CallInputs, CallKind};
use crate::{BoxError, BoxFuture, Error, Name, Result};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The instruction of an agent for its model.
///
/// ```
/// # use adk_core as adk;
/// use adk::{ReadonlyContext, llm::Instruction};
///
/// // The placeholders of a prompt are replaced.
/// let prompt = Instruction::from("Write about {topic}.");
/// // The text of a function is not changed.
/// let name = |cx: ReadonlyContext| format!("You are {}.", cx.agent_name());
/// let function = Instruction::function(name);
/// # assert!(format!("{prompt:?} {function:?}").contains("{topic}"));
/// ```
#[derive(Clone)]
pub struct Instruction(InstructionSource);

#[derive(Clone)]
enum InstructionSource {
    Prompt(Cow<'static, str>),
    Function(Arc<Function>),
}

type Function = dyn Fn(ReadonlyContext) -> BoxFuture<'static, Result<String>> + Send + Sync;

impl Instruction {
    /// Creates an instruction from a function that is called before each model call. The function
    /// returns text or a `Result` of text, directly or as a future. Braces in the text have no
    /// special meaning. The call is a recorded step: a resumed run does not repeat it.
    pub fn function<F, R, M>(function: F) -> Self
    where
        F: Fn(ReadonlyContext) -> R + Send + Sync + 'static,
        R: Instructs<M>,
    {
        Self(InstructionSource::Function(Arc::new(move |cx| {
            function(cx).told()
        })))
    }

    /// Returns the prompt with its placeholders; `None` for a function.
    pub fn prompt(&self) -> Option<&str> {
        match &self.0 {
            InstructionSource::Prompt(prompt) => Some(prompt),
            InstructionSource::Function(_) => None,
        }
    }

    /// Returns the instruction as a prompt for all agents below; `None` if it is empty.
    pub(in crate::agents::llm) fn for_all(self) -> Option<Arc<dyn PromptSource>> {
        match self.prompt() {
            Some("") => None,
            _ => Some(Arc::new(self)),
        }
    }

    /// Returns the text for the next call.
    ///
    /// # Errors
    /// Fails if a prompt reads a missing value, or if the function fails.
    pub(in crate::agents::llm) async fn render(&self, cx: &mut Context) -> Result<String> {
        let function = match &self.0 {
            InstructionSource::Prompt(prompt) => {
                return template::render(prompt, "instruction", cx).await;
            }
            InstructionSource::Function(function) => function.clone(),
        };
        // A recorded instruction does not read again.
        if let Some(cell) = cx.cell() {
            cell.join(cx.marks_of_everything());
        }
        let (readonly, run, path) = (cx.readonly(), cx.run_id(), cx.path().clone());
        let work = async move {
            // The function itself may panic, and also its future.
            match catch_panic(async move { function(readonly).await }).await {
                Ok(text) => text,
                Err(panic) => Err(panic
                    .into_error("its instruction", run, &path)
                    .with_help("correct the function that makes the instruction")),
            }
        };
        // Boxed to keep the future small, because most instructions are prompts.
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
        Self(InstructionSource::Prompt(Cow::Borrowed(prompt)))
    }
}

impl From<String> for Instruction {
    fn from(prompt: String) -> Self {
        Self(InstructionSource::Prompt(Cow::Owned(prompt)))
    }
}

impl PromptSource for Instruction {
    fn text<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<String>> {
        Box::pin(self.render(cx))
    }

    fn fixed_len(&self) -> Option<usize> {
        match &self.0 {
            InstructionSource::Prompt(prompt) => {
                Placeholders::new(prompt).next().map(|first| first.start)
            }
            InstructionSource::Function(_) => Some(0),
        }
    }
}

impl fmt::Debug for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            InstructionSource::Prompt(prompt) => prompt.fmt(f),
            InstructionSource::Function(_) => f.write_str("a function"),
        }
    }
}

/// Return type of an instruction function: text, a `Result` of text, or a future of either. `M`
/// distinguishes these types, and the compiler infers it.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` is not an instruction; help: return text, a `Result` of text, or a \
        future of either",
    label = "an instruction function returns text, a `Result` of text, or a future of either"
)]
pub trait Instructs<M>: Send {
    /// Returns a future of the text.
    fn told(self) -> BoxFuture<'static, Result<String>>;
}

/// Marker for text.
#[derive(Debug)]
pub struct Text;

/// Marker for a `Result` of text.
#[derive(Debug)]
pub struct Fallible;

/// Marker for a future.
#[derive(Debug)]
pub struct AsyncInstruction<M>(M);

impl<T: Into<String> + Send> Instructs<Text> for T {
    fn told(self) -> BoxFuture<'static, Result<String>> {
        Box::pin(std::future::ready(Ok(self.into())))
    }
}

impl<T: Into<String> + Send, E: Into<BoxError> + Send> Instructs<Fallible> for Result<T, E> {
    fn told(self) -> BoxFuture<'static, Result<String>> {
        Box::pin(std::future::ready(
            self.map(Into::into).map_err(Error::other),
        ))
    }
}

impl<F, M> Instructs<AsyncInstruction<M>> for F
where
    F: Future + Send + 'static,
    F::Output: Instructs<M>,
{
    fn told(self) -> BoxFuture<'static, Result<String>> {
        Box::pin(async move { self.await.told().await })
    }
}
