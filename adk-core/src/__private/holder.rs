//! Holders of parameters: [`Owned`], [`Borrowed`], [`Maybe`] and [`MaybeDeref`]. A holder keeps the
//! decoded value of a parameter while the function runs, and gives it as the parameter takes it.

use std::ops::Deref;

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
    pub(super) const fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the argument.
    pub fn __give(self) -> T {
        self.0
    }
}

impl<T> Borrowed<T> {
    pub(super) const fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the argument.
    pub fn __give(&self) -> &T {
        &self.0
    }
}

impl<T> Maybe<T> {
    pub(super) const fn new(value: Option<T>) -> Self {
        Self(value)
    }

    /// Returns the argument.
    pub fn __give(&self) -> Option<&T> {
        self.0.as_ref()
    }
}

impl<T> MaybeDeref<T> {
    pub(super) const fn new(value: Option<T>) -> Self {
        Self(value)
    }
}

impl<T: Deref> MaybeDeref<T> {
    /// Returns the argument.
    pub fn __give(&self) -> Option<&T::Target> {
        self.0.as_deref()
    }
}
