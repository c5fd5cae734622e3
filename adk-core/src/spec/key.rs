//! [`Key`]: a key that is declared at run time.

#![allow(
    missing_docs,
    reason = "only `adk-build` uses the key from outside, and its fields are those of `KeySpec`"
)]

use super::{Accepts, KeySpec};
use crate::encode::to_json;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::any::{Any, TypeId};
use std::cell::RefCell;

/// A key with its type; the owned form of [`KeySpec`].
#[derive(Clone, Debug)]
pub struct Key {
    pub name: String,
    pub ty: String,
    pub optional: bool,
    pub any: bool,
    pub id: Option<fn() -> TypeId>,
    pub accepts: Option<Accepts>,
}

impl Key {
    /// Creates a key of a type that the compiler knows.
    pub fn typed<T: 'static>(name: impl Into<String>) -> Self {
        // A `&str` is stored, and read, as a `String`.
        if TypeId::of::<T>() == TypeId::of::<&'static str>() {
            return Self::typed::<String>(name);
        }
        let ty = std::any::type_name::<T>();
        let ty = if ty == std::any::type_name::<String>() {
            "String"
        } else {
            ty
        };
        Self {
            name: name.into(),
            ty: ty.into(),
            optional: false,
            any: false,
            id: Some(TypeId::of::<T>),
            accepts: None,
        }
    }

    /// Creates a key of a type that JSON values can be checked against.
    pub fn read_as<T: DeserializeOwned + 'static>(name: impl Into<String>) -> Self {
        Self {
            accepts: Some(accepts::<T>),
            ..Self::typed::<T>(name)
        }
    }

    /// Copies the key of a description.
    pub fn from_spec(key: &KeySpec<'_>) -> Self {
        let (name, ty) = (key.name.to_owned(), key.ty.to_owned());
        let id = key.known_type();
        Self {
            name,
            ty,
            optional: key.optional,
            any: key.any,
            id,
            accepts: key.accepts,
        }
    }

    /// Creates a key that may hold a value of any type.
    pub fn any(name: impl Into<String>) -> Self {
        let ty = "serde_json::Value".to_owned();
        Self {
            name: name.into(),
            ty,
            optional: false,
            any: true,
            id: None,
            accepts: None,
        }
    }

    pub fn spec(&self) -> KeySpec<'_> {
        let key = KeySpec::new(&self.name, &self.ty)
            .optional(self.optional)
            .any(self.any);
        key.with_id(self.id).accepting(self.accepts)
    }
}

/// Checks that a JSON value deserializes as a `T`, and returns the reason if it does not.
pub fn accepts<T: DeserializeOwned>(value: &dyn Any) -> Result<(), String> {
    match value.downcast_ref::<Value>() {
        Some(value) => T::deserialize(value)
            .map(drop)
            .map_err(|error| error.to_string()),
        None => Err("the value is not JSON".to_owned()),
    }
}

/// Checks a value as [`accepts`] does. A value in a `RefCell` is replaced by the value as its type
/// serializes it, without fields that the type does not have.
pub fn accepts_own<T: DeserializeOwned + Serialize>(value: &dyn Any) -> Result<(), String> {
    let Some(cell) = value.downcast_ref::<RefCell<Value>>() else {
        return accepts::<T>(value);
    };
    let own = T::deserialize(&*cell.borrow()).map_err(|error| error.to_string())?;
    cell.replace(to_json(&own).map_err(|error| format!("it {error}"))?);
    Ok(())
}

/// Checks each element of a JSON list. The form of the list is checked once for all element types.
fn accepts_each<T: DeserializeOwned>(value: &dyn Any) -> Result<(), String> {
    accepts::<Vec<Value>>(value)?;
    let items = value.downcast_ref::<Value>().and_then(Value::as_array);
    items
        .into_iter()
        .flatten()
        .try_for_each(|item| accepts::<T>(item))
}

/// Returns the check of a key: its own, or the one of a common type, which is recognized by type id
/// or name.
pub fn type_check(key: &KeySpec<'_>) -> Option<Accepts> {
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
