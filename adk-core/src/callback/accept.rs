//! What may be a callback: functions and closures, sync or async, with a plain answer or a `Result`.
//!
//! A callback is a `Fn` of its context and of what it looks at; what it returns is an [`Answer`] ([`Now`]), or a future
//! that gives one ([`Later`]). The type parameter `M` is which of the two; nobody writes it.

use crate::{BoxError, BoxFuture, Content, Error, Result};

/// What a callback may return: `()` for nothing, an `Option` of what is to stand in place of the real thing, or a
/// `Result` of these with any error.
#[diagnostic::on_unimplemented(
    message = "a callback cannot return `{Self}`",
    label = "is no answer of a callback",
    note = "a callback returns `()`, `Option<T>`, or a `Result` of these, where `T` is what stands in place of the real \
            thing: `Content` for agents, `ModelResponse` for models, `serde_json::Value` for tools"
)]
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

/// The mark of a callback that answers at once.
#[derive(Clone, Copy, Debug)]
pub struct Now;

/// The mark of a callback that answers later: an `async fn`, an `async` closure, or any that returns a future.
#[derive(Clone, Copy, Debug)]
pub struct Later;

/// What the call of a callback gives: an answer, or a future of one.
#[diagnostic::on_unimplemented(
    message = "a callback cannot return `{Self}`",
    label = "returns what is no answer of a callback",
    note = "a callback returns `()`, `Option<T>`, or a `Result` of these, where `T` is what stands in place of the real \
            thing: `Content` for agents, `ModelResponse` for models, `serde_json::Value` for tools; it may be `async`"
)]
pub trait Asked<'a, T, M> {
    /// As a future.
    fn asked(self) -> BoxFuture<'a, Result<Option<T>>>;
}

impl<'a, T: Send + 'a, A: Answer<T>> Asked<'a, T, Now> for A {
    fn asked(self) -> BoxFuture<'a, Result<Option<T>>> {
        Box::pin(std::future::ready(self.answer()))
    }
}

impl<'a, T: Send + 'a, F: Future<Output: Answer<T>> + Send + 'a> Asked<'a, T, Later> for F {
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

macro_rules! with {
    ($(#[$meta:meta])* $name:ident($($arg:ident),+)) => {
        $(#[$meta])*
        pub trait $name<'a, $($arg: 'a,)+ T, M>: Fn($($arg),+) -> <Self as $name<'a, $($arg,)+ T, M>>::Given {
            /// What it returns.
            type Given: Asked<'a, T, M>;
        }

        impl<'a, $($arg: 'a,)+ T, M, F, R> $name<'a, $($arg,)+ T, M> for F
        where
            F: Fn($($arg),+) -> R,
            R: Asked<'a, T, M>,
        {
            type Given = R;
        }
    };
}
with! {
    /// A callback that gets its context.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no callback of an agent or a block",
        label = "expected a function of `&mut CallbackContext`",
        note = "such a callback is `fn(&mut CallbackContext) -> A` or a closure of that form, `async` or not, where `A` is \
                `()`, `Option<Content>`, or a `Result` of these"
    )]
    With1(A)
}
with! {
    /// A callback that gets its context and what it looks at.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no callback of this kind",
        label = "expected a function of `&mut CallbackContext` and `{B}`",
        note = "such a callback is a function or a closure, `async` or not, that returns `()`, `Option<{T}>`, or a `Result` of \
                these; what it returns stands in place of the real thing"
    )]
    With2(A, B)
}
with! {
    /// A callback that gets its context, what was asked, and what came of it.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no callback of this kind",
        label = "expected a function of `&mut CallbackContext`, `{B}` and `{C}`",
        note = "such a callback is a function or a closure, `async` or not, that returns `()`, `Option<{T}>`, or a `Result` of \
                these; what it returns stands in place of the real thing"
    )]
    With3(A, B, C)
}
