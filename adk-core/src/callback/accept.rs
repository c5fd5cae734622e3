//! What may be a callback: functions and closures, sync or async, with a plain answer or a `Result`.
//!
//! A callback is a `Fn` of its context and of what it looks at; what it returns is an [`Answer`] ([`Now`]), or a future
//! that gives one ([`Later`]). The type parameter `M` is which of the two; nobody writes it.

use super::CallbackContext;
use crate::model::{ModelRequest, ModelResponse};
use crate::{BoxError, BoxFuture, Content, Error, FunctionCall, Result};
use serde_json::Value;
use std::marker::PhantomData;

/// What a callback may return: `()` for nothing, an `Option` of what is to stand in place of the real thing, or a
/// `Result` of these with any error.
pub trait Answer<T> {
    /// What is to stand in place; `None` to go on.
    ///
    /// # Errors
    /// The callback's own.
    fn answer(self) -> Result<Option<T>>;
}

impl<T> Answer<T> for () {
    fn answer(self) -> Result<Option<T>> {
        Ok(None)
    }
}

impl<T, U: Into<T>> Answer<T> for Option<U> {
    fn answer(self) -> Result<Option<T>> {
        Ok(self.map(Into::into))
    }
}

impl<T, A: Answer<T>, E: Into<BoxError>> Answer<T> for Result<A, E> {
    fn answer(self) -> Result<Option<T>> {
        match self {
            Ok(answer) => answer.answer(),
            // An error of ours stays what it is.
            Err(error) => Err(match error.into().downcast::<Error>() {
                Ok(error) => *error,
                Err(error) => Error::other(error),
            }),
        }
    }
}

/// The mark of what is a callback, and when it answers.
///
/// There is a second mark, which nothing has: where rustc has two ways to go and neither leads to an end, it says what we
/// have said of the trait, and not that one `Fn` is missing.
#[derive(Clone, Copy, Debug)]
pub struct Call<M>(PhantomData<M>);

/// See [`Call`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct NoCall;

/// The mark of a callback that answers at once.
#[derive(Clone, Copy, Debug)]
pub struct Now;

/// The mark of a callback that answers later: an `async fn`, an `async` closure, or any that returns a future.
#[derive(Clone, Copy, Debug)]
pub struct Later;

/// What the call of a callback gives: an answer, or a future of one.
pub trait Asked<'a, T, M> {
    /// As a future.
    fn asked(self) -> BoxFuture<'a, Result<Option<T>>>;
}

impl<'a, T: Send + 'a, A: Answer<T>> Asked<'a, T, Call<Now>> for A {
    fn asked(self) -> BoxFuture<'a, Result<Option<T>>> {
        Box::pin(std::future::ready(self.answer()))
    }
}

impl<'a, T: Send + 'a, F: Future<Output: Answer<T>> + Send + 'a> Asked<'a, T, Call<Later>> for F {
    fn asked(self) -> BoxFuture<'a, Result<Option<T>>> {
        Box::pin(async move { self.await.answer() })
    }
}

/// What a callback of an agent says: text of it is the model's, a [`Content`] is taken as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Said(pub Content);

impl From<Content> for Said {
    fn from(content: Content) -> Self {
        Self(content)
    }
}

impl From<&str> for Said {
    fn from(text: &str) -> Self {
        Self(Content::model(text))
    }
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self(Content::model(text))
    }
}

/// Never true: see [`Call`].
#[doc(hidden)]
pub trait Never {}

macro_rules! hooks {
    ($(
        $hook:ident<$takes:ident>($($ty:ty),*) -> $given:ty: $message:literal, $expected:literal, $note:literal;
    )*) => {$(
        /// What such a callback takes and gives. It is a `Fn`, so that the types of a closure's arguments are known.
        #[doc(hidden)]
        pub trait $takes<'a, M>: Fn($($ty),*) -> <Self as $takes<'a, M>>::Given {
            /// What it returns.
            type Given: Asked<'a, $given, M>;
        }

        impl<'a, F, R, M> $takes<'a, Call<M>> for F
        where
            F: Fn($($ty),*) -> R,
            R: Asked<'a, $given, Call<M>>,
        {
            type Given = R;
        }

        impl<'a, F, R> $takes<'a, NoCall> for F
        where
            F: Fn($($ty),*) -> R + Never,
            R: Asked<'a, $given, NoCall>,
        {
            type Given = R;
        }

        #[doc = concat!("What a `", $expected, "` callback is: any function or closure of that form.")]
        #[diagnostic::on_unimplemented(message = $message, label = $expected, note = $note)]
        pub trait $hook<M>: for<'a> $takes<'a, M> + Send + Sync + 'static {}

        impl<F, M> $hook<M> for F where F: for<'a> $takes<'a, M> + Send + Sync + 'static {}
    )*};
}

hooks! {
    BeforeAgent<BeforeAgentForm>(&'a mut CallbackContext) -> Said:
        "`{Self}` is no `before_agent` callback",
        "expected `fn(&mut CallbackContext) -> A`",
        "`A` is `()`, `Option<Content>`, or a `Result` of these; it may be `async`, with a future that is `Send`";

    AfterAgent<AfterAgentForm>(&'a mut CallbackContext) -> Said:
        "`{Self}` is no `after_agent` callback",
        "expected `fn(&mut CallbackContext) -> A`",
        "`A` is `()`, `Option<Content>`, or a `Result` of these; it may be `async`, with a future that is `Send`";

    BeforeModel<BeforeModelForm>(&'a mut CallbackContext, &'a mut ModelRequest) -> ModelResponse:
        "`{Self}` is no `before_model` callback",
        "expected `fn(&mut CallbackContext, &mut ModelRequest) -> A`",
        "`A` is `()`, `Option<ModelResponse>`, or a `Result` of these; it may be `async`, with a future that is `Send`";

    AfterModel<AfterModelForm>(&'a mut CallbackContext, &'a mut ModelResponse) -> ModelResponse:
        "`{Self}` is no `after_model` callback",
        "expected `fn(&mut CallbackContext, &mut ModelResponse) -> A`",
        "`A` is `()`, `Option<ModelResponse>`, or a `Result` of these; it may be `async`, with a future that is `Send`";

    OnModelError<OnModelErrorForm>(&'a mut CallbackContext, &'a ModelRequest, &'a Error) -> ModelResponse:
        "`{Self}` is no `on_model_error` callback",
        "expected `fn(&mut CallbackContext, &ModelRequest, &Error) -> A`",
        "`A` is `()`, `Option<ModelResponse>`, or a `Result` of these; it may be `async`, with a future that is `Send`";

    BeforeTool<BeforeToolForm>(&'a mut CallbackContext, &'a mut FunctionCall) -> Value:
        "`{Self}` is no `before_tool` callback",
        "expected `fn(&mut CallbackContext, &mut FunctionCall) -> A`",
        "`A` is `()`, `Option<serde_json::Value>`, or a `Result` of these; it may be `async`, with a future that is `Send`";

    AfterTool<AfterToolForm>(&'a mut CallbackContext, &'a FunctionCall, &'a mut Value) -> Value:
        "`{Self}` is no `after_tool` callback",
        "expected `fn(&mut CallbackContext, &FunctionCall, &mut Value) -> A`",
        "`A` is `()`, `Option<serde_json::Value>`, or a `Result` of these; it may be `async`, with a future that is `Send`";

    OnToolError<OnToolErrorForm>(&'a mut CallbackContext, &'a FunctionCall, &'a Error) -> Value:
        "`{Self}` is no `on_tool_error` callback",
        "expected `fn(&mut CallbackContext, &FunctionCall, &Error) -> A`",
        "`A` is `()`, `Option<serde_json::Value>`, or a `Result` of these; it may be `async`, with a future that is `Send`";
}
