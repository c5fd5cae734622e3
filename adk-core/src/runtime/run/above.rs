//! What agents have from those above them in the tree.

use super::{Context, KeyScope};
use crate::models::model::ModelRef;
use crate::{BoxFuture, Result};
use std::fmt;
use std::sync::Arc;

/// What an agent has from those above it: where it has no model of its own, the nearest one's, and the instruction that
/// the topmost has given for all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Above {
    pub(crate) model: Option<ModelRef>,
    pub(crate) global: Option<Global>,
    /// There is a root above that is no agent which asks a model: then nobody's own global instruction counts, as in ADK.
    pub(crate) is_settled: bool,
}

impl Context {
    /// Goes into a workflow: `Some(true)` for a tree whose root is a block, `Some(false)` for one that is closed:
    /// its content is not known outside. Returns the previous value, if this changes it.
    pub(crate) fn settle_global(&mut self, is_settled: Option<bool>) -> Option<Option<Arc<Above>>> {
        let before = self.above.as_ref().is_some_and(|above| above.is_settled);
        let is_settled = is_settled.filter(|now| *now != before)?;
        let own = self.above.as_deref().cloned().unwrap_or_default();
        Some(self.above.replace(Arc::new(Above { is_settled, ..own })))
    }
}

/// An instruction for all agents below the one that gives it, with the keys that it reads.
#[derive(Clone, Debug)]
pub(crate) struct Global {
    pub(crate) prompt: Arc<dyn Prompt>,
    pub(crate) scope: Option<Arc<KeyScope>>,
}

impl Global {
    /// The text for the next call.
    pub(crate) async fn text(&self, cx: &mut Context) -> Result<String> {
        let own = std::mem::replace(&mut cx.scope, self.scope.clone());
        let text = self.prompt.text(cx).await;
        cx.scope = own;
        text
    }
}

/// A text that is made anew for each call of a model.
pub(crate) trait Prompt: Send + Sync {
    /// The text, with the values that the state has now.
    fn text<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<String>>;

    /// How many bytes at its beginning never change; `None` for all of it.
    fn fixed_len(&self) -> Option<usize>;
}

impl fmt::Debug for dyn Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prompt")
    }
}
