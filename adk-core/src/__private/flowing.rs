//! [`Flowing`]: return values that contain a [`Flow`].

use crate::Flow;

/// A return value of a function that contains a `Flow`. A method needs this one bound instead of an
/// impl for each type: rustc finds that a type that does not exist fits every impl, and reports an
/// ambiguity.
pub trait Flowing {
    /// The value without the `Flow`.
    type Value;
    /// Separates the value from the `Flow`.
    fn split(self) -> (Self::Value, Flow);
}

impl Flowing for Flow {
    type Value = ();
    fn split(self) -> ((), Flow) {
        ((), self)
    }
}

impl<T> Flowing for (T, Flow) {
    type Value = T;
    fn split(self) -> (T, Flow) {
        self
    }
}
