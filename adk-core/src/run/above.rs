//! What agents have from those above them in the tree.

use super::{Context, KeyScope};
use crate::model::ModelRef;
use crate::{BoxFuture, Result};
use std::fmt;
use std::sync::Arc;

/// What an agent has from those above it: where it has no model of its own, the nearest one's, and the instruction that
/// the topmost has given for all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Above {
    pub(crate) model: Option<ModelRef>,
    pub(crate) global: Option<Global>,
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
}

impl fmt::Debug for dyn Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prompt")
    }
}
