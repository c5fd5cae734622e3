//! Keys that are known at run time.

use super::KeySpec;
use std::any::TypeId;

/// A key with its type, owned.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) ty: String,
    pub(crate) optional: bool,
    pub(crate) any: bool,
    pub(crate) id: Option<fn() -> TypeId>,
}

impl Key {
    /// A key of a type that is known.
    pub(crate) fn of<T: 'static>(name: impl Into<String>) -> Self {
        // A text that is given as `&str` is stored, and read, as any other.
        if TypeId::of::<T>() == TypeId::of::<&'static str>() {
            return Self::of::<String>(name);
        }
        let ty = std::any::type_name::<T>();
        let ty = if ty == std::any::type_name::<String>() { "String" } else { ty };
        Self { name: name.into(), ty: ty.into(), optional: false, any: false, id: Some(TypeId::of::<T>) }
    }

    /// A key that may hold a value of any type.
    pub(crate) fn any(name: impl Into<String>) -> Self {
        let ty = "serde_json::Value".to_owned();
        Self { name: name.into(), ty, optional: false, any: true, id: None }
    }

    pub(crate) fn spec(&self) -> KeySpec<'_> {
        KeySpec::new(&self.name, &self.ty).optional(self.optional).any(self.any).with_id(self.id)
    }
}
