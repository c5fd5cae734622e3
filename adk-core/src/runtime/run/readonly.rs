//! [`ReadonlyContext`]: read access of an instruction function to its run.

use super::{Context, KeyScope, Overlay, Run, accessors, state};
use crate::{Name, Path, Result};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// The handle of a function that renders an instruction: ADK's `ReadonlyContext`.
///
/// The context owns its fields, so that a function may keep it in a future.
#[derive(Clone)]
pub struct ReadonlyContext {
    run: Arc<Run>,
    scope: Option<Arc<KeyScope>>,
    agent: Name,
    path: Path,
    /// The uncommitted writes of the agent.
    overlay: Overlay,
}

impl Context {
    /// Copies the current view of this agent.
    pub(crate) fn readonly(&mut self) -> ReadonlyContext {
        let (agent, path) = (self.author().clone(), self.path().clone());
        let overlay = self.state().overlay.clone();
        ReadonlyContext {
            run: self.run.clone(),
            scope: self.around.scope.clone(),
            agent,
            path,
            overlay,
        }
    }
}

accessors!(ReadonlyContext, self => self.run, &self.agent, &self.path);

impl ReadonlyContext {
    /// Returns the value of a key; `None` when nothing has written it.
    ///
    /// # Errors
    /// When the value is not of that type.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        state::get(key, self.value(key).as_deref())
    }

    /// Returns the JSON value of a key, shared.
    pub fn value(&self, key: &str) -> Option<Arc<Value>> {
        state::value(&self.run, self.scope.as_deref(), (&self.overlay, None), key)
    }
}

impl fmt::Debug for ReadonlyContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReadonlyContext({})", self.path)
    }
}
