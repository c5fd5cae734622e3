//! [`Out`]: a key that a parameter writes.

use crate::sync::lock;
use std::fmt;
use std::sync::{Arc, Mutex};

/// A key that a tool or a function writes beside its return value: `#[key] completed: Out<bool>`.
///
/// A [`set`](Self::set) value is written after the function has returned without an error, under
/// the name of the parameter or, with `#[key(user:best)]`, under that key. A key that is not set is
/// not written, so its readers must not rely on it. A test creates its own value:
///
/// ```
/// # use adk_core as adk;
/// use adk::Out;
/// fn finish(completed: Out<bool>) {
///     completed.set(true);
/// }
/// let completed = Out::new();
/// finish(completed.clone());
/// assert_eq!(completed.take(), Some(true));
/// ```
pub struct Out<T>(Arc<Mutex<Option<T>>>);

impl<T> Out<T> {
    /// Creates a key without a value.
    pub fn new() -> Self {
        Self(Arc::default())
    }

    /// Sets the value. The last value counts.
    pub fn set(&self, value: T) {
        *lock(&self.0) = Some(value);
    }

    /// Takes the value out, if it was set.
    pub fn take(&self) -> Option<T> {
        lock(&self.0).take()
    }
}

impl<T> Default for Out<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns a handle to the same key.
impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: fmt::Debug> fmt::Debug for Out<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Out({:?})", lock(&self.0))
    }
}
