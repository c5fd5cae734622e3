//! [`InferredReturn`]: the return type of a closure whose body leaves parts of the type unknown.
//!
//! `Ok(None)` determines neither the value nor the error type, and `Err("no".into())` determines no
//! type. rustc has no default for such types, but method resolution has an order: a method of a
//! type comes before a method of its `Deref` target. A method of
//! `InferredReturn<N, T, Result<T, BoxError>>` also applies to a type with the unknown parts
//! `Result<_, _>`, and the call then fills them in. The level that fills in the most is therefore
//! first. The last level applies to every type and fills in nothing.

use crate::BoxError;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::Deref;

/// A return type `R` where the caller expects a `T`. Level 0 fills in the most unknown parts.
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
    /// Reads `Ok(None)`, `Ok(Some("...".into()))`, `Err("...".into())`, and a body that never
    /// returns.
    pub fn read(&self, returned: Result<Option<T>, BoxError>) -> Result<Option<T>, BoxError> {
        returned
    }
}

impl<T, E> InferredReturn<1, T, Result<Option<T>, E>> {
    /// Reads `Ok(None)` with a known error type.
    pub fn read(&self, returned: Result<Option<T>, E>) -> Result<Option<T>, E> {
        returned
    }
}

impl<T, A> InferredReturn<2, T, Result<A, BoxError>> {
    /// Reads `Ok("...")` or `Ok(())`, whose error type is unknown or ambiguous.
    pub fn read(&self, returned: Result<A, BoxError>) -> Result<A, BoxError> {
        returned
    }
}

impl<T, A, E> InferredReturn<3, T, Result<A, E>> {
    /// Reads a result whose types are known.
    pub fn read(&self, returned: Result<A, E>) -> Result<A, E> {
        returned
    }
}

impl<T> InferredReturn<4, T, Option<T>> {
    /// Reads `None` or `Some("...".into())`.
    pub fn read(&self, returned: Option<T>) -> Result<Option<T>, Infallible> {
        Ok(returned)
    }
}

impl<T, R> InferredReturn<5, T, R> {
    /// Reads any other value.
    pub fn read(&self, returned: R) -> Result<R, Infallible> {
        Ok(returned)
    }
}
