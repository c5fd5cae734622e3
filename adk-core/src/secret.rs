//! [`Secret`]: a value that no model, event, span or page shows.

use crate::encode::EncodeError;
use crate::{Name, Path};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::{Map, Value, json};
use std::any::type_name;
use std::fmt;

/// What is shown in place of a secret.
pub(crate) const SHOWN: &str = "[secret]";

/// The key of the object that a secret is while it is a value of its run.
const SECRET: &str = "$secret";
/// The key of the object that is in an event and in the state of a session in place of one.
const KEPT: &str = "$kept";
/// How the names begin under which a run keeps secrets. No state key is read by such a name.
const PREFIX: &str = "secret:";

/// A value that no model, event, span or page shows, such as a token of a user.
///
/// As the type of a key it goes from inputs, functions and tools to functions and tools, which read it with
/// [`expose`](Self::expose):
///
/// ```
/// # use adk_core as adk;
/// use adk::Secret;
/// let token: Secret<String> = "ghp_1234".into();
/// assert_eq!((format!("{token:?}"), serde_json::to_string(&token)?), ("Secret".into(), r#""[secret]""#.into()));
/// assert_eq!(token.expose(), "ghp_1234");
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// **A model sees none.** A placeholder of such a key does not compile (`key-type`), nor does a `Secret` as an argument or an
/// answer of a model, as a part of `#[data]`, or as what an `await` asks for. What the compiler cannot know, such as a type of
/// yours that holds one, fails when it runs: a prompt with the kind [`KeyType`](crate::ErrorKind::KeyType), the result of a
/// tool as an error result.
///
/// **Where it is kept.** In the memory of its run and, not encrypted, in its journal, so that the run can be resumed: in SQLite
/// and Postgres in the column `temp` of `adkw_log` (and SQLite's `adkw_tail`), in `adkw_steps` where a recorded call returned or
/// set it, and in `adkw_runs` where it is an input. Events, the state of the session and exports hold a reference in its place,
/// `{"$kept": ...}`, which only its run can follow: to a later run of the session the key is absent, also a `state` key.
///
/// It has no [`update`](crate::State::update), and is not erased from memory when it is dropped.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Holds a secret.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value itself. What is done with it from here on is up to the caller.
    pub const fn expose(&self) -> &T {
        &self.0
    }

    /// Gives the value out.
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

/// Only the runtime writes the value, into the state of a run. For all others it is the text `[secret]`.
impl<T: Serialize> Serialize for Secret<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The error is private, so no other serializer has it.
        if type_name::<S::Error>() != type_name::<EncodeError>() {
            return serializer.serialize_str(SHOWN);
        }
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(SECRET, &self.0)?;
        map.end()
    }
}

/// Reads what the runtime has written, and nothing else.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Secret<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Written<T> {
            #[serde(rename = "$secret")]
            value: T,
        }
        // The words of serde say the value.
        let read = Written::deserialize(deserializer)
            .map_err(|_| D::Error::custom(format_args!("it is no secret `{}`", type_name::<T>())))?;
        Ok(Self(read.value))
    }
}

/// Whether a value is a secret, or holds one.
pub(crate) fn is_in(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(is_in),
        Value::Object(fields) => is_secret(fields) || fields.values().any(is_in),
        _ => false,
    }
}

/// Reports whether an object is the written form of a secret.
pub(crate) fn is_secret(fields: &Map<String, Value>) -> bool {
    fields.len() == 1 && fields.contains_key(SECRET)
}

/// A value that comes from outside, as a [`Secret`] is read.
pub(crate) fn written(value: &Value) -> Value {
    json!({SECRET: value})
}

/// A value as it may be shown.
pub(crate) fn shown(value: &Value) -> Value {
    if is_in(value) || reference(value).is_some() { SHOWN.into() } else { value.clone() }
}

/// The name under which a run keeps a secret that was written at a path, and what is in the event in its place. What is
/// written there again takes the place of the first.
pub(crate) fn keep(key: &str, path: &Path) -> (Name, Value) {
    let name = format!("{PREFIX}{key}@{path}");
    let kept = json!({KEPT: name});
    (name.into(), kept)
}

/// The name under which a run keeps the value of a key.
pub(crate) fn kept<'v>(key: &str, value: &'v Value) -> Option<&'v str> {
    let name = reference(value)?;
    // A reference that the runtime has not written leads nowhere else.
    name[PREFIX.len()..].strip_prefix(key)?.starts_with('@').then_some(name)
}

fn reference(value: &Value) -> Option<&str> {
    let fields = value.as_object().filter(|fields| fields.len() == 1)?;
    fields.get(KEPT)?.as_str().filter(|name| name.starts_with(PREFIX))
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
        assert_eq!(kept("token", &kept_left), Some(&*name));
        for (key, value) in [
            ("tok", kept_left.clone()),
            ("token", json!({KEPT: "temp:token@w"})),
            ("token", json!({KEPT: name, "x": 1})),
            ("token", json!("secret:token@w")),
        ] {
            assert_eq!(kept(key, &value), None, "{value}");
        }
        assert!(!is_in(&kept_left) && shown(&kept_left) == SHOWN);
    }

    #[test]
    fn only_the_runtime_writes_a_secret_and_reads_what_it_wrote() {
        let read = |value: Value| serde_json::from_value::<Secret<u8>>(value);
        let written = to_json(&[Some(Secret::new(7_u8))]).unwrap();
        assert!(is_in(&written) && shown(&written) == SHOWN, "{written}");
        assert_eq!(read(written[0].clone()).unwrap().into_inner(), 7);
        for value in [json!(7), json!(Secret::new(7)), json!({SECRET: 1234}), json!({KEPT: "secret:k@w"})] {
            assert!(!is_in(&value) || value[SECRET] == 1234);
            assert_eq!(read(value).unwrap_err().to_string(), "it is no secret `u8`");
        }
    }
}
