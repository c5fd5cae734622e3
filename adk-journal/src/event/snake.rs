//! [`Snake`]: a serializer wrapper that writes the fields of structs in snake case. Keys of maps
//! are data, and stay unchanged.

use crate::encode::{EncodeError, PRIVATE_STRUCT, to_json};
use serde::Serialize;
use serde::ser::{self, SerializeMap as _, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Display;

/// A value that is serialized with its field names in snake case.
pub(super) struct Snake<'a, T: ?Sized>(pub(super) &'a T);

impl<T: Serialize + ?Sized> Serialize for Snake<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(SnakeSerializer(serializer))
    }
}

/// Converts a name to snake case: `stateDelta` to `state_delta`.
pub(super) fn snake(name: &str) -> Cow<'_, str> {
    if !name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    Cow::Owned(out)
}

struct SnakeSerializer<S>(S);

macro_rules! forward {
    ($($method:ident($type:ty))*) => {$(
        fn $method(self, value: $type) -> Result<S::Ok, S::Error> {
            self.0.$method(value)
        }
    )*};
}

impl<S: Serializer> Serializer for SnakeSerializer<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = SnakeSerializer<S::SerializeSeq>;
    type SerializeTuple = SnakeSerializer<S::SerializeTuple>;
    type SerializeTupleStruct = SnakeSerializer<S::SerializeTupleStruct>;
    type SerializeTupleVariant = SnakeSerializer<S::SerializeTupleVariant>;
    type SerializeMap = SnakeSerializer<S::SerializeMap>;
    type SerializeStruct = SnakeFields<S>;
    type SerializeStructVariant = SnakeSerializer<S::SerializeStructVariant>;

    forward! {
        serialize_bool(bool)
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64)
        serialize_u128(u128)
        serialize_f32(f32) serialize_f64(f64)
        serialize_char(char) serialize_str(&str) serialize_bytes(&[u8])
        serialize_unit_struct(&'static str)
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_none()
    }
    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit()
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_some(&Snake(value))
    }
    fn serialize_unit_variant(
        self,
        name: &'static str,
        i: u32,
        v: &'static str,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit_variant(name, i, v)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_struct(name, &Snake(value))
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0
            .serialize_newtype_variant(name, index, variant, &Snake(value))
    }
    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        self.0.serialize_seq(len).map(SnakeSerializer)
    }
    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple, S::Error> {
        self.0.serialize_tuple(len).map(SnakeSerializer)
    }
    fn serialize_tuple_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        self.0
            .serialize_tuple_struct(name, len)
            .map(SnakeSerializer)
    }
    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        self.0
            .serialize_tuple_variant(name, index, variant, len)
            .map(SnakeSerializer)
    }
    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        self.0.serialize_map(len).map(SnakeSerializer)
    }
    fn serialize_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        if name.starts_with(PRIVATE_STRUCT) {
            self.0.serialize_struct(name, len).map(SnakeFields::Private)
        } else {
            self.0.serialize_map(Some(len)).map(SnakeFields::Named)
        }
    }
    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        self.0
            .serialize_struct_variant(name, index, variant, len)
            .map(SnakeSerializer)
    }
    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.collect_str(value)
    }
}

/// The serializer of the fields of a struct.
enum SnakeFields<S: Serializer> {
    /// Entries of a map, because field names must be `&'static str` and converted names are not.
    Named(S::SerializeMap),
    /// A number of `serde_json`, unchanged.
    Private(S::SerializeStruct),
}

/// Passes the text of a number on as a `Value`. Otherwise `serde_json`'s serializer would also be
/// compiled for the types of all fields, as `crate::encode` explains.
fn serialize_private<S: ser::SerializeStruct>(
    inner: &mut S,
    key: &'static str,
    text: Result<Value, EncodeError>,
) -> Result<(), S::Error> {
    inner.serialize_field(key, &text.map_err(ser::Error::custom)?)
}

impl<S: Serializer> ser::SerializeStruct for SnakeFields<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), S::Error> {
        match self {
            Self::Named(map) => map.serialize_entry(&*snake(key), &Snake(value)),
            Self::Private(inner) => serialize_private(inner, key, to_json(value)),
        }
    }
    fn end(self) -> Result<S::Ok, S::Error> {
        match self {
            Self::Named(map) => map.end(),
            Self::Private(inner) => inner.end(),
        }
    }
}

impl<M: ser::SerializeMap> ser::SerializeMap for SnakeSerializer<M> {
    type Ok = M::Ok;
    type Error = M::Error;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), M::Error> {
        self.0.serialize_key(key)
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), M::Error> {
        self.0.serialize_value(&Snake(value))
    }
    fn end(self) -> Result<M::Ok, M::Error> {
        self.0.end()
    }
}

macro_rules! elements {
    ($($kind:ident::$method:ident)*) => {$(
        impl<C: ser::$kind> ser::$kind for SnakeSerializer<C> {
            type Ok = C::Ok;
            type Error = C::Error;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
                self.0.$method(&Snake(value))
            }
            fn end(self) -> Result<C::Ok, C::Error> {
                self.0.end()
            }
        }
    )*};
}
elements! {
    SerializeSeq::serialize_element
    SerializeTuple::serialize_element
    SerializeTupleStruct::serialize_field
    SerializeTupleVariant::serialize_field
}

impl<C: ser::SerializeStructVariant> ser::SerializeStructVariant for SnakeSerializer<C> {
    type Ok = C::Ok;
    type Error = C::Error;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), C::Error> {
        self.0.serialize_field(key, &Snake(value))
    }
    fn end(self) -> Result<C::Ok, C::Error> {
        self.0.end()
    }
}
