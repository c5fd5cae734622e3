//! [`Update`]: an event that changes one key, starting from the value in the store.

use super::slot::Draft;
use crate::event::StateDelta;
use crate::panic::Panic;
use crate::session::Scope;
use crate::{Name, Result};
use serde_json::Value;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// A function that makes the new value of a key.
pub type Change = Box<dyn FnMut(Option<&Value>) -> Result<Arc<Value>> + Send>;

/// An event that changes one key, starting from the value in the store: the content of a
/// [`Body::Update`](super::Body::Update).
pub struct Update {
    key: Name,
    /// The event without the changed key.
    draft: Draft,
    base: Base,
    /// The function that makes the new value. The mutex makes updates `Sync`, so that an engine may
    /// keep them where it keeps drafts; the mutex is never contended.
    change: Mutex<Change>,
}

/// The value that an update starts from.
enum Base {
    /// The value in the store.
    Stored,
    /// A known value; `None` if the key was never written.
    Known(Option<Arc<Value>>),
}

impl Update {
    /// Creates an update of a state key.
    pub fn new(key: Name, draft: Draft, change: Change) -> Self {
        Self {
            key,
            draft,
            base: Base::Stored,
            change: Mutex::new(change),
        }
    }

    /// Moves the change to another event, and returns the event that it was for.
    pub fn replace_draft(mut self, draft: Draft) -> (Draft, Self) {
        let old = std::mem::replace(&mut self.draft, draft);
        (old, self)
    }

    /// Sets the value to start from, instead of the value in the store.
    pub fn set_base(&mut self, base: Option<Arc<Value>>) {
        self.base = Base::Known(base);
    }

    /// Returns whether the current value of the key is known.
    pub fn has_base(&self) -> bool {
        matches!(self.base, Base::Known(_))
    }

    /// Returns the stored key, with the prefix of the session, of its user or of its app.
    pub fn key(&self) -> &Name {
        &self.key
    }

    /// Returns the other writes of the event: keys that were set before.
    pub fn also_writes(&self) -> &StateDelta {
        &self.draft.event.actions.state_delta
    }

    /// Makes the event from the value in the store; `None` if the key was never written. An engine
    /// may call it again after a rollback.
    ///
    /// # Errors
    /// [`KeyType`](adk_model::ErrorKind::KeyType) and [`TooDeep`](adk_model::ErrorKind::TooDeep)
    /// for values that do not fit, and [`Panic`](adk_model::ErrorKind::Panic) for a function that
    /// panics. Then nothing may be stored.
    pub fn apply(&mut self, current: Option<&Value>) -> Result<Draft> {
        let current = match &self.base {
            Base::Known(base) => base.as_deref(),
            Base::Stored => current,
        };
        let change = self
            .change
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let value = catch_unwind(AssertUnwindSafe(|| change(current))).unwrap_or_else(|panic| {
            let what = format!("the update of state key `{}`", self.key);
            let event = &self.draft.event;
            let error = Panic::new(&*panic).into_error(&what, event.invocation_id, &event.path);
            Err(error.with_help("nothing was changed; this is a defect of its function"))
        })?;
        let mut draft = self.draft.clone();
        let delta = match Scope::of(&self.key) {
            Scope::Temp => &mut draft.temp,
            Scope::Session | Scope::User | Scope::App => {
                &mut Arc::make_mut(&mut draft.event).actions.state_delta
            }
        };
        delta.insert(self.key.clone(), value);
        Ok(draft)
    }
}

impl fmt::Debug for Update {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Update({})", self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use serde_json::json;

    #[test]
    fn a_function_that_panics_is_an_error_and_may_be_asked_again() {
        let change = |current: Option<&Value>| match current {
            None => panic!("no value"),
            Some(value) => Ok(Arc::new(json!([value]))),
        };
        let mut update = Update::new("user:n".into(), Draft::default(), Box::new(change));
        let error = update.apply(None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Panic);
        let start = "the update of state key `user:n` panicked (reference ";
        assert!(error.message().starts_with(start), "{error}");
        assert!(format!("{error:?}").ends_with("caused by: no value"));
        let draft = update.apply(Some(&json!(1))).unwrap();
        assert_eq!(
            draft
                .event
                .actions
                .state_delta
                .get("user:n")
                .map(|value| &**value),
            Some(&json!([1]))
        );
    }
}
