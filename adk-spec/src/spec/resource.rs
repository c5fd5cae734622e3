//! What a tool or an agent takes from the program.

use std::any::TypeId;

/// A resource that a tool or an agent takes: a type of which the program gives a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct ResourceSpec<'a> {
    /// The type, as it is written.
    pub name: &'a str,
    /// The type.
    #[serde(skip)]
    pub id: TypeId,
}

impl<'a> ResourceSpec<'a> {
    /// A resource of type `T`, which is written so.
    pub const fn of<T: 'static>(name: &'a str) -> Self {
        Self { name, id: TypeId::of::<T>() }
    }
}
