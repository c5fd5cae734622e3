//! What a closure returns, where its body leaves parts of that open.
//!
//! `Ok(None)` says no value and no error, `Err("no".into())` no type at all. rustc has no default for such a type, but it has
//! an order: a method of a type comes before one of the type that it dereferences to, and one of `Level<Result<T, BoxError>>` is there
//! for a `Level<Result<_, _>>` as well, whose parts are filled in by the call. So what fills in the most comes first, and at the
//! end is a method for every type, which fills in nothing.

use crate::BoxError;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::Deref;

/// What is returned where a `T` is asked for, and how much of it may be filled in: at 0 all.
#[derive(Debug)]
pub struct InferredReturn<const LEVEL: usize, T, R>(PhantomData<fn() -> (T, R)>);

impl<const LEVEL: usize, T, R> InferredReturn<LEVEL, T, R> {
    pub(super) const fn new() -> Self {
        Self(PhantomData)
    }
}

macro_rules! levels {
    ($($level:literal > $next:literal)*) => {
        $(impl<T, R> Deref for InferredReturn<$level, T, R> {
            type Target = InferredReturn<$next, T, R>;

            fn deref(&self) -> &Self::Target {
                &const { InferredReturn::new() }
            }
        })*
    };
}

levels! { 0 > 1  1 > 2  2 > 3  3 > 4  4 > 5 }

impl<T> InferredReturn<0, T, Result<Option<T>, BoxError>> {
    /// `Ok(None)`, `Ok(Some("...".into()))`, `Err("...".into())`, and a body that never ends.
    pub fn read(&self, returned: Result<Option<T>, BoxError>) -> Result<Option<T>, BoxError> {
        returned
    }
}

impl<T, E> InferredReturn<1, T, Result<Option<T>, E>> {
    /// `Ok(None)` beside an error whose type is said.
    pub fn read(&self, returned: Result<Option<T>, E>) -> Result<Option<T>, E> {
        returned
    }
}

impl<T, A> InferredReturn<2, T, Result<A, BoxError>> {
    /// `Ok("...")`, or `Ok(())`: an error that there never is, or one of many.
    pub fn read(&self, returned: Result<A, BoxError>) -> Result<A, BoxError> {
        returned
    }
}

impl<T, A, E> InferredReturn<3, T, Result<A, E>> {
    /// A result whose types are said.
    pub fn read(&self, returned: Result<A, E>) -> Result<A, E> {
        returned
    }
}

impl<T> InferredReturn<4, T, Option<T>> {
    /// `None`, `Some("...".into())`.
    pub fn read(&self, returned: Option<T>) -> Result<Option<T>, Infallible> {
        Ok(returned)
    }
}

impl<T, R> InferredReturn<5, T, R> {
    /// Anything else.
    pub fn read(&self, returned: R) -> Result<R, Infallible> {
        Ok(returned)
    }
}
