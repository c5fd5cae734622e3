//! [`MatchReader`]: the value of a `match` key, in the type of its patterns.

use crate::__private::typed::Absent;
use crate::Result;
use crate::runtime::run::decode;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::marker::PhantomData;

/// Reads a key of type `T` for a `match`: `(&MatchReader::<T>::NEW).__read("severity", value)`.
///
/// A `String` is read as `&str` so that text patterns fit. The inherent method for it wins over the
/// method of [`ReadPlain`].
#[derive(Debug)]
pub struct MatchReader<T>(PhantomData<T>);

impl<T> MatchReader<T> {
    /// The reader.
    pub const NEW: Self = Self(PhantomData);
}

impl MatchReader<String> {
    /// Returns the text of a key.
    ///
    /// # Errors
    /// Fails if the key holds no text.
    pub fn __read<'v>(&self, key: &str, value: &'v Value) -> Result<&'v str> {
        decode(key, value)
    }
}

/// The reader of a key with an unknown type. The patterns determine the type.
impl MatchReader<Absent> {
    /// Returns the value of a key in the type of the patterns.
    ///
    /// # Errors
    /// Fails if the value has another type.
    pub fn __read<'v, T: Deserialize<'v>>(&self, key: &str, value: &'v Value) -> Result<T> {
        decode(key, value)
    }
}

impl MatchReader<Absent> {
    /// Returns the value of a key whose patterns determine no type.
    ///
    /// # Errors
    /// Never fails.
    pub fn __any<'v>(&self, _key: &str, value: &'v Value) -> Result<&'v Value> {
        Ok(value)
    }
}

/// Reads every type except text.
pub trait ReadPlain {
    /// The type of the value.
    type Value;
    /// Returns the value of a key.
    ///
    /// # Errors
    /// Fails if the value has another type.
    fn __read(&self, key: &str, value: &Value) -> Result<Self::Value>;
    /// Returns the value of a key whose patterns determine no type.
    ///
    /// # Errors
    /// Fails if the value has another type.
    fn __any(&self, key: &str, value: &Value) -> Result<Self::Value> {
        self.__read(key, value)
    }
}

impl<T: DeserializeOwned> ReadPlain for MatchReader<T> {
    type Value = T;
    fn __read(&self, key: &str, value: &Value) -> Result<T> {
        decode(key, value)
    }
}

/// A type that patterns may have.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` cannot be matched; help: put `#[adk::data]` on it, or derive \
        `serde::Deserialize`",
    label = "cannot be read from the state"
)]
pub trait MatchedType<'v, T = Self> {
    /// Returns the value of a key.
    ///
    /// # Errors
    /// Fails if the value has another type.
    fn read(key: &str, value: &'v Value) -> Result<T>;
}

#[diagnostic::do_not_recommend]
impl<'v, T: Deserialize<'v>> MatchedType<'v, T> for T {
    fn read(key: &str, value: &'v Value) -> Result<T> {
        decode(key, value)
    }
}

/// Fallback methods for types that no other reader reads. rustc then reports the unsatisfied bound
/// and not a list of methods.
pub trait ReadNothing<T> {
    /// Returns the value of a key.
    ///
    /// # Errors
    /// Fails if the value has another type.
    fn __read<'v>(&self, key: &str, value: &'v Value) -> Result<T>
    where
        T: MatchedType<'v>,
    {
        T::read(key, value)
    }
    /// Returns the value of a key whose patterns determine no type.
    ///
    /// # Errors
    /// Fails if the value has another type.
    fn __any<'v>(&self, key: &str, value: &'v Value) -> Result<T>
    where
        T: MatchedType<'v>,
    {
        T::read(key, value)
    }
}

impl<T> ReadNothing<T> for &MatchReader<T> {}

#[cfg(test)]
mod tests {
    use super::{Absent, MatchReader, ReadPlain as _};
    use crate::ErrorKind;
    use serde_json::json;

    #[test]
    fn text_is_borrowed_and_everything_else_is_decoded() {
        let (text, number) = (json!("high"), json!(7));
        assert_eq!(
            MatchReader::<String>::NEW
                .__read("severity", &text)
                .unwrap(),
            "high"
        );
        assert_eq!(MatchReader::<u8>::NEW.__read("tier", &number).unwrap(), 7);
        let any: &str = MatchReader::<Absent>::NEW
            .__read("severity", &text)
            .unwrap();
        assert_eq!(any, "high");
        assert_eq!(
            MatchReader::<Absent>::NEW.__any("severity", &text).unwrap(),
            "high"
        );
        assert_eq!(MatchReader::<u8>::NEW.__any("tier", &number).unwrap(), 7);
        let error = MatchReader::<u8>::NEW.__read("tier", &text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::KeyType);
        assert!(
            error.to_string().contains("`tier` does not hold a `u8`"),
            "{error}"
        );
        assert!(
            MatchReader::<String>::NEW
                .__read("severity", &number)
                .is_err()
        );
    }
}
