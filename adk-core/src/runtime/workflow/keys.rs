//! [`Keys`] and [`Values`]: the keys that a workflow begins with, and the keys that it ends with.

use crate::runtime::run::Run;
use crate::store::event::StateDelta;
use crate::{Content, Error, ErrorKind, Name, Result, secret};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::any::type_name;
use std::fmt;
use std::sync::Arc;

/// Inputs and `let` values at the start of a workflow.
#[derive(Default)]
pub struct Keys {
    inputs: Vec<(Name, Arc<Value>)>,
    lets: Vec<(Name, Arc<Value>)>,
    message: Option<Content>,
    /// Whether the last input is a `String`.
    is_text: bool,
}

impl Keys {
    /// Adds an input.
    ///
    /// # Errors
    /// Returns an error if the value cannot be represented as JSON, as with
    /// [`State::set`](crate::State::set).
    pub fn input<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<()> {
        // The type decides: an enum variant is also a string in JSON, but it is not a message of a
        // user.
        self.is_text = type_name::<T>() == type_name::<String>();
        self.inputs
            .push((key.into(), crate::runtime::run::encode(key, value)?));
        Ok(())
    }

    /// Adds a key with its initial value.
    ///
    /// # Errors
    /// Returns an error if the value cannot be represented as JSON.
    pub fn set(&mut self, key: &'static str, value: &(impl Serialize + ?Sized)) -> Result<()> {
        self.lets
            .push((key.into(), crate::runtime::run::encode(key, value)?));
        Ok(())
    }

    /// Adds a key with its initial value, which is JSON already.
    pub(crate) fn set_shared(&mut self, key: Name, value: Arc<Value>) {
        self.lets.push((key, value));
    }

    /// Sets the message of the user. The message is not a key.
    pub fn message(&mut self, content: Content) {
        self.message = Some(content);
    }

    /// Returns the message of the user: the message that the workflow has set, or its only input if
    /// that is a `String`. Other inputs are not part of the message, so a model only sees the
    /// inputs that its prompt names.
    pub(crate) fn to_message(&self) -> Content {
        let text = match &self.inputs[..] {
            [(_, value)] if self.is_text => value.as_str(),
            _ => None,
        };
        let message = self.message.clone();
        message.unwrap_or_else(|| text.map(Content::user).unwrap_or_default())
    }

    /// Returns the message that the user sent besides the inputs. It has no parts in most
    /// workflows.
    pub(crate) fn user_message(&self) -> Content {
        self.message.clone().unwrap_or_default()
    }

    pub(crate) fn into_delta(self) -> StateDelta {
        if self.inputs.is_empty() && self.lets.is_empty() {
            return StateDelta::default();
        }
        self.inputs.into_iter().chain(self.lets).collect()
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.inputs.iter().chain(&self.lets).map(|(name, _)| name);
        f.write_str("Keys")?;
        f.debug_list().entries(names).finish()
    }
}

/// The keys of a workflow, read at its start or its end.
pub struct Values<'a> {
    pub(crate) run: &'a Run,
}

impl Values<'_> {
    /// Returns `true` if a key holds a value that is not null.
    pub fn has(&self, key: &str) -> bool {
        self.run.get(key).is_some_and(|value| !value.is_null())
    }

    /// Returns the value of a key with its secrets hidden; null if the key holds no value.
    pub(crate) fn display_value(&self, key: &str) -> Value {
        self.run
            .get(key)
            .map(|value| secret::redact(&value))
            .unwrap_or_default()
    }

    /// Returns the value of a key.
    ///
    /// # Errors
    /// Returns an error if the key holds no value, or a value of another type.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<T> {
        match self.run.get(key) {
            Some(value) => crate::runtime::run::decode(key, &value),
            None => Err(Error::new(
                ErrorKind::KeyMissing,
                format!("state key `{key}` holds no value"),
            )),
        }
    }
}

impl fmt::Debug for Values<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Values({:?})", self.run)
    }
}
