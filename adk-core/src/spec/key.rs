//! Keys that are known at run time.

use super::{Accepts, KeySpec};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::any::{Any, TypeId};

/// A key with its type, owned.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) ty: String,
    pub(crate) optional: bool,
    pub(crate) any: bool,
    pub(crate) id: Option<fn() -> TypeId>,
    pub(crate) accepts: Option<Accepts>,
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
        Self {
            name: name.into(),
            ty: ty.into(),
            optional: false,
            any: false,
            id: Some(TypeId::of::<T>),
            accepts: None,
        }
    }

    /// A key of a type that values can be compared with.
    pub(crate) fn read_as<T: DeserializeOwned + 'static>(name: impl Into<String>) -> Self {
        Self { accepts: Some(accepts::<T>), ..Self::of::<T>(name) }
    }

    /// The same as a description has it.
    pub(crate) fn owned(key: &KeySpec<'_>) -> Self {
        let (name, ty) = (key.name.to_owned(), key.ty.to_owned());
        let id = key.known_type();
        Self { name, ty, optional: key.optional, any: key.any, id, accepts: key.accepts }
    }

    /// A key that may hold a value of any type.
    pub(crate) fn any(name: impl Into<String>) -> Self {
        let ty = "serde_json::Value".to_owned();
        Self { name: name.into(), ty, optional: false, any: true, id: None, accepts: None }
    }

    pub(crate) fn spec(&self) -> KeySpec<'_> {
        let key = KeySpec::new(&self.name, &self.ty).optional(self.optional).any(self.any);
        key.with_id(self.id).accepting(self.accepts)
    }
}

/// Says what is wrong with a JSON value that is no `T`.
pub(crate) fn accepts<T: DeserializeOwned>(value: &dyn Any) -> Result<(), String> {
    match value.downcast_ref::<Value>() {
        Some(value) => T::deserialize(value).map(drop).map_err(|error| error.to_string()),
        None => Err("it is no JSON value".to_owned()),
    }
}

/// The same for a list, whose own form is looked at once for all types.
fn accepts_each<T: DeserializeOwned>(value: &dyn Any) -> Result<(), String> {
    accepts::<Vec<Value>>(value)?;
    let items = value.downcast_ref::<Value>().and_then(Value::as_array);
    items.into_iter().flatten().try_for_each(|item| accepts::<T>(item))
}

/// The same for the types that most keys have, where nothing but the type itself, or its name, is known.
pub(crate) fn accepts_of(key: &KeySpec<'_>) -> Option<Accepts> {
    macro_rules! plain {
        ($($ty:ty)*) => {
            match key.type_id() {
                $(Some(id) if id == TypeId::of::<$ty>() || id == TypeId::of::<Vec<$ty>>() => {
                    let is_list = id == TypeId::of::<Vec<$ty>>();
                    Some(if is_list { accepts_each::<$ty> as Accepts } else { accepts::<$ty> })
                })*
                None => match key.ty {
                    $(stringify!($ty) => Some(accepts::<$ty> as Accepts),)*
                    _ => None,
                },
                Some(_) => None,
            }
        };
    }
    let known = || plain!(String bool char u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64);
    key.accepts.or_else(known).filter(|_| !key.any)
}
