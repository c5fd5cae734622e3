//! [`Secret`]: a value that no model, event, span or page shows.

use crate::encode::EncodeError;
use crate::{Name, Path};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::{Map, Value, json};
use std::any::type_name;
use std::fmt;

/// The text that replaces a secret in any output.
pub const REDACTED: &str = "[secret]";

/// The key of the object that represents a secret in the values of its run.
const SECRET: &str = "$secret";
/// The key of the object that refers to a secret in events and in the state of a session.
const KEPT: &str = "$kept";
/// The prefix of the names under which a run keeps secrets. State keys cannot have it.
const PREFIX: &str = "secret:";

/// A value that no model, event, span or page shows, such as a token of a user.
///
/// As the type of a key it passes from inputs, functions and tools to functions and tools, which
/// read it with [`expose`](Self::expose):
///
/// ```
/// # use adk_build as adk;
/// use adk::Secret;
/// let token: Secret<String> = "ghp_1234".into();
/// assert_eq!(format!("{token:?}"), "Secret");
/// assert_eq!(serde_json::to_string(&token)?, r#""[secret]""#);
/// assert_eq!(token.expose(), "ghp_1234");
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// **Models never get a secret.** A placeholder of such a key does not compile (`key-type`), nor
/// does a `Secret` as an argument or answer of a model, as a part of `#[data]`, or as the value of
/// an `await`. Cases that the compiler cannot see, such as a type of yours that holds a secret,
/// fail at run time: a prompt with the kind [`KeyType`](crate::ErrorKind::KeyType), the result of a
/// tool as an error result.
///
/// **Storage.** A secret is kept in the memory of its run and, not encrypted, in its journal, so
/// that the run can be resumed. SQLite and Postgres keep it in the column `temp` of `adkw_log`
/// (SQLite also in `adkw_tail`), in `adkw_steps` where a recorded call returned or set it, and in
/// `adkw_runs` where it is an input. Events, the state of the session and exports hold a reference
/// instead, `{"$kept": ...}`, which only its run can follow: for a later run of the session the key
/// is absent, even a `state` key.
///
/// A secret has no `update`, and its memory is not erased when it is
/// dropped.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the value. The caller is responsible for keeping it secret.
    pub const fn expose(&self) -> &T {
        &self.0
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> From<T> for Secret<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl From<&str> for Secret<String> {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Writes the value only for the runtime, into the state of a run. All other serializers get the
/// text `[secret]`.
impl<T: Serialize> Serialize for Secret<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The error type is private, so no other serializer has it.
        if type_name::<S::Error>() != type_name::<EncodeError>() {
            return serializer.serialize_str(REDACTED);
        }
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(SECRET, &self.0)?;
        map.end()
    }
}

/// Reads only what the runtime has written.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Secret<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct WrittenSecret<T> {
            #[serde(rename = "$secret")]
            value: T,
        }
        // serde's message would contain the value.
        let read = WrittenSecret::deserialize(deserializer).map_err(|_| {
            D::Error::custom(format_args!(
                "the value is not a secret `{}`",
                type_name::<T>()
            ))
        })?;
        Ok(Self(read.value))
    }
}

/// Returns whether a value is a secret, or holds one.
pub fn has_secret(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_secret),
        Value::Object(fields) => is_secret(fields) || fields.values().any(has_secret),
        _ => false,
    }
}

/// Reports whether an object is the written form of a secret.
pub fn is_secret(fields: &Map<String, Value>) -> bool {
    fields.len() == 1 && fields.contains_key(SECRET)
}

/// Wraps a value that comes from outside in the form that [`Secret`] reads.
pub fn wrap(value: &Value) -> Value {
    json!({SECRET: value})
}

/// Returns a value in a form that may be shown.
pub fn redact(value: &Value) -> Value {
    if has_secret(value) || reference(value).is_some() {
        REDACTED.into()
    } else {
        value.clone()
    }
}

/// Returns the name under which a run keeps a secret that was written at a path, and the reference
/// that replaces the secret in the event. A later secret of the same key and path replaces the
/// earlier one.
pub fn keep(key: &str, path: &Path) -> (Name, Value) {
    let name = format!("{PREFIX}{key}@{path}");
    let kept = json!({KEPT: name});
    (name.into(), kept)
}

/// Returns the name under which a run keeps the secret value of a key.
pub fn kept_name<'v>(key: &str, value: &'v Value) -> Option<&'v str> {
    let name = reference(value)?;
    // A forged reference must not lead to the secret of another key.
    name[PREFIX.len()..]
        .strip_prefix(key)?
        .starts_with('@')
        .then_some(name)
}

fn reference(value: &Value) -> Option<&str> {
    let fields = value.as_object().filter(|fields| fields.len() == 1)?;
    fields
        .get(KEPT)?
        .as_str()
        .filter(|name| name.starts_with(PREFIX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::to_json;

    #[test]
    fn a_reference_leads_to_the_secret_of_its_key_and_path() {
        let (left, right) = (Path::root("w"), Path::root("v"));
        let ((name, kept_left), (other, _)) = (keep("token", &left), keep("token", &right));
        assert_ne!(name, other, "branches have their own");
        assert_eq!(kept_name("token", &kept_left), Some(&*name));
        for (key, value) in [
            ("tok", kept_left.clone()),
            ("token", json!({KEPT: "temp:token@w"})),
            ("token", json!({KEPT: name, "x": 1})),
            ("token", json!("secret:token@w")),
        ] {
            assert_eq!(kept_name(key, &value), None, "{value}");
        }
        assert!(!has_secret(&kept_left) && redact(&kept_left) == REDACTED);
    }

    #[test]
    fn only_the_runtime_writes_a_secret_and_reads_what_it_wrote() {
        let read = |value: Value| serde_json::from_value::<Secret<u8>>(value);
        let written = to_json(&[Some(Secret::new(7_u8))]).unwrap();
        assert!(
            has_secret(&written) && redact(&written) == REDACTED,
            "{written}"
        );
        assert_eq!(read(written[0].clone()).unwrap().into_inner(), 7);
        for value in [
            json!(7),
            json!(Secret::new(7)),
            json!({SECRET: 1234}),
            json!({KEPT: "secret:k@w"}),
        ] {
            assert!(!has_secret(&value) || value[SECRET] == 1234);
            assert_eq!(
                read(value).unwrap_err().to_string(),
                "the value is not a secret `u8`"
            );
        }
    }
}
