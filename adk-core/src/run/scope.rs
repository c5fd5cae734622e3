//! Which stored key a name stands for, inside a workflow that is a step of another.

use crate::Name;
use crate::session::Scope;
use std::borrow::Cow;
use std::sync::Arc;

/// The keys of a nested workflow: its outputs are keys of the workflow around it, the session's own keys stay
/// what they are, and every other key is stored as `STEP/key`.
#[derive(Debug)]
pub(crate) struct KeyScope {
    pub(crate) outer: Option<Arc<KeyScope>>,
    /// What stands before the keys of this workflow, `outer_step/step/`.
    pub(crate) prefix: String,
    /// Keys that the workflow around it knows as well.
    pub(crate) shared: Vec<Box<str>>,
    /// Keys of the session.
    pub(crate) session: Vec<Box<str>>,
}

impl KeyScope {
    /// The stored key of a name.
    pub(crate) fn resolve(&self, name: &Name) -> Name {
        match self.find(name) {
            Found::Own => Name::from(format!("{}{name}", self.prefix)),
            Found::Session => name.clone(),
            Found::Outer => match &self.outer {
                Some(outer) => outer.resolve(name),
                None => name.clone(),
            },
        }
    }

    /// The stored key of a name that is only looked up.
    pub(crate) fn key<'a>(&self, name: &'a str) -> Cow<'a, str> {
        match self.find(name) {
            Found::Own => Cow::Owned(format!("{}{name}", self.prefix)),
            Found::Session => Cow::Borrowed(name),
            Found::Outer => match &self.outer {
                Some(outer) => outer.key(name),
                None => Cow::Borrowed(name),
            },
        }
    }

    fn find(&self, name: &str) -> Found {
        if Scope::of(name) != Scope::Session || self.session.iter().any(|key| **key == *name) {
            Found::Session
        } else if self.shared.iter().any(|key| **key == *name) {
            Found::Outer
        } else {
            Found::Own
        }
    }
}

enum Found {
    Own,
    Session,
    Outer,
}
