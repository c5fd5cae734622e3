//! The scopes of state: a key's prefix says how long it lives and who shares it.

use crate::Name;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Keys and values. Values are shared with the events that wrote them.
pub type StateMap = BTreeMap<Name, Arc<Value>>;

/// How long a key lives and who shares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// No prefix: the session.
    Session,
    /// `user:`, all sessions of a user within the app.
    User,
    /// `app:`, all sessions of the app.
    App,
    /// `temp:`, the run; never stored.
    Temp,
}

impl Scope {
    /// The scope of a key.
    ///
    /// ```
    /// # use adk_core as adk;
    /// use adk::session::Scope;
    /// assert_eq!(Scope::of("user:name"), Scope::User);
    /// assert_eq!(Scope::of("draft"), Scope::Session);
    /// ```
    pub fn of(key: &str) -> Self {
        // Asked for each key that is read or written.
        match key.as_bytes() {
            [b'u', b's', b'e', b'r', b':', ..] => Self::User,
            [b'a', b'p', b'p', b':', ..] => Self::App,
            [b't', b'e', b'm', b'p', b':', ..] => Self::Temp,
            _ => Self::Session,
        }
    }
}
