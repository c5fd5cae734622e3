//! Encoding of values as JSON: [`to_json`] returns the [`Value`] that is stored for a value of the
//! program.
//!
//! `serde_json::to_value` turns NaN and infinities into null, and accepts 128-bit integers only
//! with its feature `arbitrary_precision`. Here both are errors, which name the position inside the
//! value.

use crate::{Error, ErrorKind};
use serde::ser::{self, Error as _, Serialize, Serializer};
use serde_json::value::Serializer as JsonSerializer;
use serde_json::{Map, Value};
use std::fmt::{self, Display, Write as _};

/// The prefix of the struct names that `serde_json` reserves. With `arbitrary_precision` its
/// numbers are structs of such a name, and with `raw_value` its `RawValue` is one. Other
/// serializers must pass them on unchanged.
pub const PRIVATE_STRUCT: &str = "$serde_json::private::";

/// Encodes a value as JSON.
///
/// # Errors
/// If some part of the value has no form in JSON.
pub fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<Value, EncodeError> {
    value.serialize(Encoder { is_key: false })
}

/// The reason why a value has no form in JSON, with the position of the part. Its text continues
/// the name of the value, as in "state key `score`" + " holds NaN, which JSON has no form for".
#[derive(Debug)]
pub struct EncodeError(Box<EncodeErrorData>);

#[derive(Debug)]
struct EncodeErrorData {
    reason: Reason,
    /// The path to the part, innermost step first.
    steps: Vec<PathStep>,
}

#[derive(Debug)]
enum Reason {
    NotFinite(f64),
    /// The digits of an integer that is neither an `i64` nor a `u64`.
    TooLarge(String),
    /// A map has keys that are not text.
    Key,
    /// The `Serialize` of the type fails.
    Other(String),
}

#[derive(Debug)]
enum PathStep {
    Field(String),
    Item(usize),
}

impl EncodeError {
    fn new(reason: Reason) -> Self {
        Self(Box::new(EncodeErrorData {
            reason,
            steps: Vec::new(),
        }))
    }

    /// Returns the error of a run. `what` names the value.
    pub fn into_error(self, kind: ErrorKind, what: impl Display) -> Error {
        Error::new(kind, format!("{what} {self}"))
            .with_help(self.help())
            .with_source(self)
    }

    /// Returns the remedy.
    pub fn help(&self) -> &'static str {
        match self.0.reason {
            Reason::NotFinite(float) if float.is_nan() => {
                "use an `Option<f64>` that is `None` where there is no number"
            }
            Reason::NotFinite(_) => "keep it as text, or use an `Option<f64>`",
            Reason::TooLarge(_) => "keep it as text",
            Reason::Key => "take a type of keys that is text or a number, or keep a list of pairs",
            Reason::Other(_) => "see `Serialize` of its type",
        }
    }

    fn at_step(mut self, step: PathStep) -> Self {
        self.0.steps.push(step);
        self
    }

    fn at_field(self, name: &str) -> Self {
        self.at_step(PathStep::Field(name.to_owned()))
    }

    /// Returns the path to the part, as in `rows[3].mean`.
    fn place(&self) -> String {
        let mut place = String::new();
        for step in self.0.steps.iter().rev() {
            // Writing to a string never fails.
            let _ = match step {
                PathStep::Field(name) if place.is_empty() => write!(place, "{name}"),
                PathStep::Field(name) => write!(place, ".{name}"),
                PathStep::Item(at) => write!(place, "[{at}]"),
            };
        }
        place
    }
}

impl Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.place() {
            place if place.is_empty() => place,
            place => format!(" at `{place}`"),
        };
        match &self.0.reason {
            Reason::NotFinite(float) => {
                write!(f, "holds {float}{place}, which JSON has no form for")
            }
            Reason::TooLarge(digits) => {
                let (least, most) = (i64::MIN, u64::MAX);
                write!(
                    f,
                    "holds {digits}{place}, and integers are kept from {least} to {most}"
                )
            }
            Reason::Key => write!(
                f,
                "holds a map{place} whose keys are neither text nor numbers"
            ),
            Reason::Other(why) => write!(f, "has no form in JSON{place}: {why}"),
        }
    }
}

impl std::error::Error for EncodeError {}

impl ser::Error for EncodeError {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(Reason::Other(message.to_string()))
    }
}

impl From<serde_json::Error> for EncodeError {
    fn from(error: serde_json::Error) -> Self {
        Self::new(Reason::Other(error.to_string()))
    }
}

/// Builds a [`Value`] as `serde_json`'s own serializer does, but refuses numbers that JSON would
/// lose.
#[derive(Clone, Copy)]
struct Encoder {
    /// Whether the value is the key of a map. Such a number may have any size, and a float has the
    /// digits of its own type.
    is_key: bool,
}

impl Encoder {
    fn integer(
        self,
        small: Option<Value>,
        digits: impl FnOnce() -> String,
    ) -> Result<Value, EncodeError> {
        match small {
            Some(value) => Ok(value),
            None if self.is_key => Ok(Value::String(digits())),
            None => Err(EncodeError::new(Reason::TooLarge(digits()))),
        }
    }

    fn float(self, value: f64, json: impl Serialize + Into<Value>) -> Result<Value, EncodeError> {
        if !value.is_finite() {
            Err(EncodeError::new(Reason::NotFinite(value)))
        } else if self.is_key {
            Ok(Value::String(serde_json::to_string(&json)?))
        } else {
            Ok(json.into())
        }
    }
}

macro_rules! delegate {
    ($($method:ident($type:ty))*) => {$(
        fn $method(self, value: $type) -> Result<Value, EncodeError> {
            Ok(JsonSerializer.$method(value)?)
        }
    )*};
}

impl Serializer for Encoder {
    type Ok = Value;
    type Error = EncodeError;
    type SerializeSeq = ListEncoder;
    type SerializeTuple = ListEncoder;
    type SerializeTupleStruct = ListEncoder;
    type SerializeTupleVariant = ListEncoder;
    type SerializeMap = ObjectEncoder;
    type SerializeStruct = StructEncoder;
    type SerializeStructVariant = ObjectEncoder;

    delegate! {
        serialize_bool(bool)
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64)
        serialize_char(char) serialize_str(&str) serialize_bytes(&[u8])
        serialize_unit_struct(&'static str)
    }

    fn serialize_i128(self, value: i128) -> Result<Value, EncodeError> {
        let small = u64::try_from(value)
            .map(Value::from)
            .or_else(|_| i64::try_from(value).map(Value::from));
        self.integer(small.ok(), || value.to_string())
    }
    fn serialize_u128(self, value: u128) -> Result<Value, EncodeError> {
        let small = u64::try_from(value).map(Value::from);
        self.integer(small.ok(), || value.to_string())
    }
    fn serialize_f32(self, value: f32) -> Result<Value, EncodeError> {
        self.float(value.into(), value)
    }
    fn serialize_f64(self, value: f64) -> Result<Value, EncodeError> {
        self.float(value, value)
    }
    fn serialize_none(self) -> Result<Value, EncodeError> {
        Ok(Value::Null)
    }
    fn serialize_unit(self) -> Result<Value, EncodeError> {
        Ok(Value::Null)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value, EncodeError> {
        if self.is_key {
            return Err(EncodeError::new(Reason::Key));
        }
        value.serialize(self)
    }
    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Value, EncodeError> {
        Ok(Value::from(variant))
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Value, EncodeError> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value, EncodeError> {
        let value = to_json(value).map_err(|error| error.at_field(variant))?;
        Ok(wrap_variant(variant, value))
    }
    fn serialize_seq(self, len: Option<usize>) -> Result<ListEncoder, EncodeError> {
        Ok(ListEncoder {
            items: Vec::with_capacity(len.unwrap_or(0)),
            variant: None,
        })
    }
    fn serialize_tuple(self, len: usize) -> Result<ListEncoder, EncodeError> {
        self.serialize_seq(Some(len))
    }
    fn serialize_tuple_struct(
        self,
        _: &'static str,
        len: usize,
    ) -> Result<ListEncoder, EncodeError> {
        self.serialize_seq(Some(len))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<ListEncoder, EncodeError> {
        Ok(ListEncoder {
            items: Vec::with_capacity(len),
            variant: Some(variant),
        })
    }
    fn serialize_map(self, len: Option<usize>) -> Result<ObjectEncoder, EncodeError> {
        let fields = Map::with_capacity(len.unwrap_or(0));
        Ok(ObjectEncoder {
            fields,
            next_key: None,
            variant: None,
        })
    }
    fn serialize_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<StructEncoder, EncodeError> {
        if name.starts_with(PRIVATE_STRUCT) {
            Ok(StructEncoder::Private(
                JsonSerializer.serialize_struct(name, len)?,
            ))
        } else {
            self.serialize_map(Some(len)).map(StructEncoder::Object)
        }
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<ObjectEncoder, EncodeError> {
        Ok(ObjectEncoder {
            fields: Map::with_capacity(len),
            next_key: None,
            variant: Some(variant),
        })
    }
    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<Value, EncodeError> {
        Ok(Value::String(value.to_string()))
    }
}

/// Wraps the value of an enum in an object with the name of its variant.
fn wrap_variant(variant: &'static str, value: Value) -> Value {
    Value::Object(Map::from_iter([(variant.to_owned(), value)]))
}

struct ListEncoder {
    items: Vec<Value>,
    variant: Option<&'static str>,
}

impl ListEncoder {
    fn push(&mut self, encoded: Result<Value, EncodeError>) -> Result<(), EncodeError> {
        let value = encoded.map_err(|error| error.at_step(PathStep::Item(self.items.len())))?;
        self.items.push(value);
        Ok(())
    }

    fn finish(self) -> Value {
        let list = Value::Array(self.items);
        match self.variant {
            Some(variant) => wrap_variant(variant, list),
            None => list,
        }
    }
}

macro_rules! elements {
    ($($trait:ident::$method:ident)*) => {$(
        impl ser::$trait for ListEncoder {
            type Ok = Value;
            type Error = EncodeError;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
                self.push(to_json(value))
            }
            fn end(self) -> Result<Value, EncodeError> {
                Ok(self.finish())
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

struct ObjectEncoder {
    fields: Map<String, Value>,
    next_key: Option<String>,
    variant: Option<&'static str>,
}

impl ObjectEncoder {
    fn insert(
        &mut self,
        key: String,
        encoded: Result<Value, EncodeError>,
    ) -> Result<(), EncodeError> {
        match encoded {
            Ok(value) => drop(self.fields.insert(key, value)),
            Err(error) => return Err(error.at_step(PathStep::Field(key))),
        }
        Ok(())
    }

    fn insert_value(&mut self, encoded: Result<Value, EncodeError>) -> Result<(), EncodeError> {
        let key = self.next_key.take();
        let key =
            key.ok_or_else(|| EncodeError::custom("a value of a map comes before its key"))?;
        self.insert(key, encoded)
    }

    fn finish(self) -> Value {
        let object = Value::Object(self.fields);
        match self.variant {
            Some(variant) => wrap_variant(variant, object),
            None => object,
        }
    }
}

impl ser::SerializeMap for ObjectEncoder {
    type Ok = Value;
    type Error = EncodeError;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), EncodeError> {
        self.next_key = Some(key_text(key)?);
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
        self.insert_value(to_json(value))
    }
    fn end(self) -> Result<Value, EncodeError> {
        Ok(self.finish())
    }
}

impl ser::SerializeStructVariant for ObjectEncoder {
    type Ok = Value;
    type Error = EncodeError;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), EncodeError> {
        self.insert(key.to_owned(), to_json(value))
    }
    fn end(self) -> Result<Value, EncodeError> {
        Ok(self.finish())
    }
}

enum StructEncoder {
    Object(ObjectEncoder),
    /// A number or a raw value of `serde_json`.
    Private(<JsonSerializer as Serializer>::SerializeStruct),
}

impl StructEncoder {
    fn insert(
        &mut self,
        key: &'static str,
        encoded: Result<Value, EncodeError>,
    ) -> Result<(), EncodeError> {
        match self {
            Self::Object(object) => object.insert(key.to_owned(), encoded),
            // The only field is text. It is passed on as a `Value`, because otherwise
            // `serde_json`'s serializer would also be compiled for the types of all fields.
            Self::Private(inner) => Ok(ser::SerializeStruct::serialize_field(
                inner, key, &encoded?,
            )?),
        }
    }
}

impl ser::SerializeStruct for StructEncoder {
    type Ok = Value;
    type Error = EncodeError;
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), EncodeError> {
        self.insert(key, to_json(value))
    }
    fn end(self) -> Result<Value, EncodeError> {
        match self {
            Self::Object(object) => Ok(object.finish()),
            Self::Private(inner) => Ok(ser::SerializeStruct::end(inner)?),
        }
    }
}

/// Returns the text of a map key, as `serde_json` does.
fn key_text<T: Serialize + ?Sized>(key: &T) -> Result<String, EncodeError> {
    match key.serialize(Encoder { is_key: true }) {
        Ok(Value::String(text)) => Ok(text),
        Ok(Value::Number(number)) => Ok(number.to_string()),
        Ok(Value::Bool(truth)) => Ok(truth.to_string()),
        Err(error) if matches!(error.0.reason, Reason::Other(_)) => Err(error),
        Ok(_) | Err(_) => Err(EncodeError::new(Reason::Key)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;
    use serde_json::json;
    use std::collections::BTreeMap;

    #[derive(Serialize)]
    enum EncodedEnum {
        Unit,
        Newtype(u8),
        Tuple(u8, f32),
        Struct { a: Option<u8>, b: () },
    }

    #[derive(Serialize)]
    struct Wrapped(f64);

    #[derive(PartialEq, Serialize)]
    struct FloatKey(f32);

    impl Eq for FloatKey {}

    impl PartialOrd for FloatKey {
        fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
            Some(self.cmp(other))
        }
    }

    impl Ord for FloatKey {
        fn cmp(&self, other: &Self) -> std::cmp::Ordering {
            self.0.total_cmp(&other.0)
        }
    }

    #[derive(Serialize)]
    struct Outer {
        kinds: Vec<EncodedEnum>,
        #[serde(flatten)]
        rest: BTreeMap<char, Wrapped>,
        tuple: (i8, char, &'static str),
        json: Value,
    }

    #[test]
    fn a_value_is_encoded_as_serde_json_does() {
        let kinds = || {
            vec![
                EncodedEnum::Unit,
                EncodedEnum::Newtype(1),
                EncodedEnum::Tuple(2, 0.1),
                EncodedEnum::Struct { a: None, b: () },
            ]
        };
        let rest = BTreeMap::from([('x', Wrapped(-0.0)), ('y', Wrapped(f64::MAX))]);
        let json = json!({"b": [1, -2, 3.5, null, true], "a": {"": u64::MAX}});
        let outer = Outer {
            kinds: kinds(),
            rest,
            tuple: (-1, 'c', "d"),
            json,
        };
        let (own, theirs) = (
            to_json(&outer).unwrap(),
            serde_json::to_value(&outer).unwrap(),
        );
        assert_eq!(own.to_string(), theirs.to_string());
        for (own, theirs) in [
            (
                to_json(&BTreeMap::from([(-1, 2)])).unwrap(),
                json!({"-1": 2}),
            ),
            (
                to_json(&BTreeMap::from([(true, 2)])).unwrap(),
                json!({"true": 2}),
            ),
            (
                to_json(&BTreeMap::from([(u128::MAX, 2)])).unwrap(),
                json!({"340282366920938463463374607431768211455": 2}),
            ),
            (
                to_json(&BTreeMap::from([(FloatKey(0.1), 2)])).unwrap(),
                json!({"0.1": 2}),
            ),
            (to_json(&i128::from(u64::MAX)).unwrap(), json!(u64::MAX)),
            (to_json(&i128::from(i64::MIN)).unwrap(), json!(i64::MIN)),
            (
                to_json(&std::net::Ipv4Addr::LOCALHOST).unwrap(),
                json!("127.0.0.1"),
            ),
        ] {
            assert_eq!(own.to_string(), theirs.to_string());
        }
    }

    #[test]
    fn an_error_names_the_place_of_the_part_without_a_json_form() {
        let nested = |value: f32| {
            BTreeMap::from([("k", vec![EncodedEnum::Unit, EncodedEnum::Tuple(1, value)])])
        };
        for (error, message) in [
            (to_json(&f64::NAN), "holds NaN, which JSON has no form for"),
            (
                to_json(&Wrapped(f64::NEG_INFINITY)),
                "holds -inf, which JSON has no form for",
            ),
            (
                to_json(&nested(f32::INFINITY)),
                "holds inf at `k[1][1]`, which JSON has no form for",
            ),
            (
                to_json(&[u128::MAX]),
                "holds 340282366920938463463374607431768211455 at `[0]`, and integers are kept \
                 from -9223372036854775808 to 18446744073709551615",
            ),
            (
                to_json(&BTreeMap::from([("a", BTreeMap::from([(Some(1), 2)]))])),
                "holds a map at `a` whose keys are neither text nor numbers",
            ),
            (
                to_json(&BTreeMap::from([(FloatKey(f32::NAN), 2)])),
                "holds a map whose keys are neither text nor numbers",
            ),
            (
                to_json(&BTreeMap::from([((), 2)])),
                "holds a map whose keys are neither text nor numbers",
            ),
        ] {
            assert_eq!(error.unwrap_err().to_string(), message);
        }
    }
}
