//! Holders of parameters. A holder keeps the value of a parameter while the function runs, and
//! gives it as the parameter takes it.

use crate::Context;
use serde_json::Value;
use std::ops::Deref;
use std::sync::Arc;

/// A parameter that takes a `T`.
#[derive(Debug)]
pub struct Owned<T>(T);

/// A parameter that takes a `&T`.
#[derive(Debug)]
pub struct Borrowed<T>(T);

/// A parameter that takes an `Option<&T>`.
#[derive(Debug)]
pub struct Maybe<T>(Option<T>);

/// A parameter that takes an optional reference to the target of a `T`, such as a text, a list or a
/// path.
#[derive(Debug)]
pub struct MaybeDeref<T>(Option<T>);

impl<T> Owned<T> {
    pub(super) fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the argument.
    pub fn __give(self) -> T {
        self.0
    }
}

impl<T> Borrowed<T> {
    pub(super) fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the argument.
    pub fn __give(&self) -> &T {
        &self.0
    }
}

impl<T> Maybe<T> {
    pub(super) fn new(value: Option<T>) -> Self {
        Self(value)
    }

    /// Returns the argument.
    pub fn __give(&self) -> Option<&T> {
        self.0.as_ref()
    }
}

impl<T> MaybeDeref<T> {
    pub(super) fn new(value: Option<T>) -> Self {
        Self(value)
    }
}

impl<T: Deref> MaybeDeref<T> {
    /// Returns the argument.
    pub fn __give(&self) -> Option<&T::Target> {
        self.0.as_deref()
    }
}

/// A parameter that takes a text or any JSON value as a reference. A value of the state is shared
/// and not copied.
#[derive(Debug)]
pub enum Lent<T> {
    /// A value of the state.
    Shared(Arc<Value>),
    /// An argument.
    Own(T),
}

impl Lent<String> {
    /// Returns the argument.
    pub fn __give(&self) -> &str {
        match self {
            Self::Shared(value) => value.as_str().unwrap_or_default(),
            Self::Own(text) => text,
        }
    }
}

impl Deref for Lent<String> {
    type Target = str;

    fn deref(&self) -> &str {
        self.__give()
    }
}

impl Lent<Value> {
    /// Returns the argument.
    pub fn __give(&self) -> &Value {
        match self {
            Self::Shared(value) => value,
            Self::Own(value) => value,
        }
    }
}

/// A placeholder for the context of an agent, which the function gets when it begins.
#[derive(Debug)]
pub struct Lend;

impl Lend {
    /// Is never called, because a const check rejects the function. The method exists so that rustc
    /// reports only that error.
    #[allow(clippy::missing_panics_doc, reason = "never called")]
    pub fn __give(self) -> &'static mut Context {
        unreachable!("a context that is not the first parameter does not compile")
    }
}

/// A context, lent to a parameter.
#[derive(Debug)]
pub struct LentContext<C>(pub(super) C);

impl<C> LentContext<C> {
    /// Returns the argument.
    pub fn __give(self) -> C {
        self.0
    }
}
