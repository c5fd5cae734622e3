//! [`InputSpec`]: the inputs of a workflow.

use super::KeySpec;

/// An input of a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct InputSpec<'a> {
    /// The key.
    pub name: &'a str,
    /// The type as the user spelled it.
    #[serde(rename = "type")]
    pub ty: &'a str,
    /// Whether the workflow has a default for the input.
    pub has_default: bool,
    #[serde(skip)]
    key: KeySpec<'a>,
}

impl<'a> InputSpec<'a> {
    /// Creates an input.
    pub const fn new(name: &'a str, ty: &'a str, has_default: bool) -> Self {
        Self {
            name,
            ty,
            has_default,
            key: KeySpec::new(name, ty),
        }
    }

    /// Sets the type itself, so that `key-type` does not depend on the spelling of the type.
    #[must_use]
    pub const fn of<T: 'static>(mut self) -> Self {
        self.key = self.key.of::<T>();
        self
    }

    /// Creates an input with the name and the type of a key.
    #[must_use]
    pub const fn typed(key: KeySpec<'a>, has_default: bool) -> Self {
        Self {
            name: key.name,
            ty: key.ty,
            has_default,
            key,
        }
    }

    /// Returns the key with its type.
    pub const fn key(&self) -> KeySpec<'a> {
        self.key
    }
}
