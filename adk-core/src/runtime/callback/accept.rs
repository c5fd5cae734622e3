//! Traits of callbacks: functions and closures, sync or async, that return a plain answer or a
//! `Result`.
//!
//! A callback is a `Fn` of its context and of the values that it may see or change. It returns an
//! [`Answer`] ([`Now`]) or a future of one ([`Later`]). The type parameter `M` selects one of the
//! two; rustc infers it.

use super::{CallbackContext, Said};
use crate::model::{ModelRequest, ModelResponse};
use crate::{BoxError, BoxFuture, Error, FunctionCall, Result};
use serde_json::Value;
use std::marker::PhantomData;

/// Return value of a callback: `()` for no replacement, an `Option` of the replacement, or a
/// `Result` of these with any error.
pub trait Answer<T> {
    /// True if the value may be a replacement: `()` never is.
    const MAY_STAND: bool = true;

    /// Returns the replacement; `None` to continue.
    ///
    /// # Errors
    /// Fails with the error of the callback.
    fn answer(self) -> Result<Option<T>>;
}

impl<T> Answer<T> for () {
    const MAY_STAND: bool = false;

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
    const MAY_STAND: bool = A::MAY_STAND;

    fn answer(self) -> Result<Option<T>> {
        match self {
            Ok(answer) => answer.answer(),
            Err(error) => Err(Error::other(error)),
        }
    }
}

/// Marker of a type that is a callback; `M` is [`Now`] or [`Later`].
///
/// No type has the second marker, `NoCall`. It gives rustc two candidate implementations. When
/// neither applies, rustc prints the message of the trait instead of reporting one missing `Fn`.
#[derive(Clone, Copy, Debug)]
pub struct Call<M>(PhantomData<M>);

/// Marker of no type, see [`Call`].
#[derive(Clone, Copy, Debug)]
pub struct NoCall;

/// Marker of a callback that answers immediately.
#[derive(Clone, Copy, Debug)]
pub struct Now;

/// Marker of a callback that answers later: an `async fn`, an `async` closure, or any function that
/// returns a future.
#[derive(Clone, Copy, Debug)]
pub struct Later;

/// Result of calling a callback: an answer, or a future of one.
pub trait Asked<'a, T, M> {
    /// See [`Answer`].
    const MAY_STAND: bool;

    /// Converts the result into a future.
    fn asked(self) -> BoxFuture<'a, Result<Option<T>>>;
}

impl<'a, T: Send + 'a, A: Answer<T>> Asked<'a, T, Call<Now>> for A {
    const MAY_STAND: bool = A::MAY_STAND;

    fn asked(self) -> BoxFuture<'a, Result<Option<T>>> {
        Box::pin(std::future::ready(self.answer()))
    }
}

impl<'a, T: Send + 'a, F: Future<Output: Answer<T>> + Send + 'a> Asked<'a, T, Call<Later>> for F {
    const MAY_STAND: bool = <F::Output as Answer<T>>::MAY_STAND;

    fn asked(self) -> BoxFuture<'a, Result<Option<T>>> {
        Box::pin(async move { self.await.answer() })
    }
}

/// The error that a callback may return. Converts it into an [`Error`].
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` cannot be the error of a callback; help: give a text, as in \
        `Err(\"...\".into())`, or implement `std::error::Error` for it",
    label = "fails with `{Self}`"
)]
pub trait ClosureError<M> {
    fn into_error(self) -> Error;
}

impl<E: Into<BoxError>> ClosureError<Call<Now>> for E {
    fn into_error(self) -> Error {
        Error::other(self)
    }
}

impl<E: Never> ClosureError<NoCall> for E {
    fn into_error(self) -> Error {
        self.never()
    }
}

/// Function that makes a callback.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` is called here without its arguments; help: if it is the callback, \
        write only its name, without `()`",
    label = "takes arguments, or is not a function"
)]
pub trait CallbackFactory<M> {
    type Callback;
    fn make(self) -> Self::Callback;
}

impl<R, F: FnOnce() -> R> CallbackFactory<Call<Now>> for F {
    type Callback = R;

    fn make(self) -> R {
        self()
    }
}

impl<F: Never> CallbackFactory<NoCall> for F {
    type Callback = Self;

    fn make(self) -> Self {
        self.never()
    }
}

/// Trait without implementations, see [`Call`].
pub trait Never {
    fn never(self) -> !;
}

macro_rules! hooks {
    ($(
        $hook:ident<$takes:ident, $answer:ident>($($ty:ty),*) -> $given:ty:
            $message:literal, $expected:literal, $note:literal, $wrong:literal;
    )*) => {$(
        /// Signature of the callback. The trait extends `Fn`, so that rustc knows the types of a
        /// closure's arguments.
        pub trait $takes<'a, M>: Fn($($ty),*) -> <Self as $takes<'a, M>>::Given {
            /// Return type of the callback.
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

        #[doc = concat!(
            "Function or closure that can be a `", stringify!($hook), "` callback: ", $expected, "."
        )]
        #[diagnostic::on_unimplemented(message = $message, label = $expected, note = $note)]
        pub trait $hook<M>: for<'a> $takes<'a, M> + Send + Sync + 'static {}

        impl<F, M> $hook<M> for F where F: for<'a> $takes<'a, M> + Send + Sync + 'static {}

        /// Return type of a function or closure that is used as this callback.
        #[diagnostic::on_unimplemented(message = $wrong, label = "returns `{Self}`")]
        pub trait $answer<'a, M> {
            fn into_answer(self) -> BoxFuture<'a, Result<Option<$given>>>;
        }

        impl<'a, A: Asked<'a, $given, Call<M>>, M> $answer<'a, Call<M>> for A {
            fn into_answer(self) -> BoxFuture<'a, Result<Option<$given>>> {
                self.asked()
            }
        }

        impl<'a, A: Never> $answer<'a, NoCall> for A {
            fn into_answer(self) -> BoxFuture<'a, Result<Option<$given>>> {
                self.never()
            }
        }
    )*};
}

hooks! {
    BeforeAgent<BeforeAgentForm, BeforeAgentAnswer>(&'a mut CallbackContext) -> Said:
        "syntax: `{Self}` is not a `before_agent` callback; help: write the name of a function of \
         the form `fn(&mut CallbackContext) -> A`, or a closure `|cx| ...`",
        "expected `fn(&mut CallbackContext) -> A`",
        "`A` is `()`, `Option<Content>`, or a `Result` of these; it may be `async`, with a future \
         that is `Send`",
        "syntax: this `before_agent` callback returns `{Self}`; help: return `()`, `None`, \
         `Some(...)` of a `Content` or text, or a `Result` of these";

    AfterAgent<AfterAgentForm, AfterAgentAnswer>(&'a mut CallbackContext) -> Said:
        "syntax: `{Self}` is not an `after_agent` callback; help: write the name of a function of \
         the form `fn(&mut CallbackContext) -> A`, or a closure `|cx| ...`",
        "expected `fn(&mut CallbackContext) -> A`",
        "`A` is `()`, `Option<Content>`, or a `Result` of these; it may be `async`, with a future \
         that is `Send`",
        "syntax: this `after_agent` callback returns `{Self}`; help: return `()`, `None`, \
         `Some(...)` of a `Content` or text, or a `Result` of these";

    BeforeModel<BeforeModelForm, BeforeModelAnswer>(
        &'a mut CallbackContext,
        &'a mut ModelRequest
    ) -> ModelResponse:
        "syntax: `{Self}` is not a `before_model` callback; help: write the name of a function of \
         the form `fn(&mut CallbackContext, &mut ModelRequest) -> A`, or a closure \
         `|cx, request| ...`",
        "expected `fn(&mut CallbackContext, &mut ModelRequest) -> A`",
        "`A` is `()`, `Option<ModelResponse>`, or a `Result` of these; it may be `async`, with a \
         future that is `Send`",
        "syntax: this `before_model` callback returns `{Self}`; help: return `()`, `None`, \
         `Some(...)` of a `ModelResponse` or text, or a `Result` of these";

    AfterModel<AfterModelForm, AfterModelAnswer>(
        &'a mut CallbackContext,
        &'a mut ModelResponse
    ) -> ModelResponse:
        "syntax: `{Self}` is not an `after_model` callback; help: write the name of a function of \
         the form `fn(&mut CallbackContext, &mut ModelResponse) -> A`, or a closure \
         `|cx, response| ...`",
        "expected `fn(&mut CallbackContext, &mut ModelResponse) -> A`",
        "`A` is `()`, `Option<ModelResponse>`, or a `Result` of these; it may be `async`, with a \
         future that is `Send`",
        "syntax: this `after_model` callback returns `{Self}`; help: return `()`, `None`, \
         `Some(...)` of a `ModelResponse` or text, or a `Result` of these";

    OnModelError<OnModelErrorForm, OnModelErrorAnswer>(
        &'a mut CallbackContext,
        &'a ModelRequest,
        &'a Error
    ) -> ModelResponse:
        "syntax: `{Self}` is not an `on_model_error` callback; help: write the name of a function \
         of the form `fn(&mut CallbackContext, &ModelRequest, &Error) -> A`, or a closure \
         `|cx, request, error| ...`",
        "expected `fn(&mut CallbackContext, &ModelRequest, &Error) -> A`",
        "`A` is `()`, `Option<ModelResponse>`, or a `Result` of these; it may be `async`, with a \
         future that is `Send`",
        "syntax: this `on_model_error` callback returns `{Self}`; help: return `()`, `None`, \
         `Some(...)` of a `ModelResponse` or text, or a `Result` of these";

    BeforeTool<BeforeToolForm, BeforeToolAnswer>(
        &'a mut CallbackContext,
        &'a mut FunctionCall
    ) -> Value:
        "syntax: `{Self}` is not a `before_tool` callback; help: write the name of a function of \
         the form `fn(&mut CallbackContext, &mut FunctionCall) -> A`, or a closure \
         `|cx, call| ...`",
        "expected `fn(&mut CallbackContext, &mut FunctionCall) -> A`",
        "`A` is `()`, `Option<serde_json::Value>`, or a `Result` of these; it may be `async`, with \
         a future that is `Send`",
        "syntax: this `before_tool` callback returns `{Self}`; help: return `()`, `None`, \
         `Some(...)` of a `serde_json::Value`, or a `Result` of these";

    AfterTool<AfterToolForm, AfterToolAnswer>(
        &'a mut CallbackContext,
        &'a FunctionCall,
        &'a mut Value
    ) -> Value:
        "syntax: `{Self}` is not an `after_tool` callback; help: write the name of a function of \
         the form `fn(&mut CallbackContext, &FunctionCall, &mut Value) -> A`, or a closure \
         `|cx, call, result| ...`",
        "expected `fn(&mut CallbackContext, &FunctionCall, &mut Value) -> A`",
        "`A` is `()`, `Option<serde_json::Value>`, or a `Result` of these; it may be `async`, with \
         a future that is `Send`",
        "syntax: this `after_tool` callback returns `{Self}`; help: return `()`, `None`, \
         `Some(...)` of a `serde_json::Value`, or a `Result` of these";

    OnToolError<OnToolErrorForm, OnToolErrorAnswer>(
        &'a mut CallbackContext,
        &'a FunctionCall,
        &'a Error
    ) -> Value:
        "syntax: `{Self}` is not an `on_tool_error` callback; help: write the name of a function \
         of the form `fn(&mut CallbackContext, &FunctionCall, &Error) -> A`, or a closure \
         `|cx, call, error| ...`",
        "expected `fn(&mut CallbackContext, &FunctionCall, &Error) -> A`",
        "`A` is `()`, `Option<serde_json::Value>`, or a `Result` of these; it may be `async`, with \
         a future that is `Send`",
        "syntax: this `on_tool_error` callback returns `{Self}`; help: return `()`, `None`, \
         `Some(...)` of a `serde_json::Value`, or a `Result` of these";
}

/// Returns whether the type of a callback allows it to replace its agent or block.
pub const fn may_stand<M, F: BeforeAgent<M>>(_: &F) -> bool {
    <<F as BeforeAgentForm<'static, M>>::Given as Asked<'static, Said, M>>::MAY_STAND
}
