//! [`Inherited`]: the settings that agents inherit from their ancestors in the tree.

use super::{Context, KeyScope};
use crate::model::ModelRef;
use crate::{BoxFuture, Result};
use std::fmt;
use std::sync::Arc;

/// Settings that an agent inherits: the model of the nearest ancestor with a model, and the
/// instruction that the root gives to all agents.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inherited {
    pub(crate) model: Option<ModelRef>,
    pub(crate) global: Option<GlobalInstruction>,
    /// Whether the root is not a model agent. Global instructions of the agents below it are then
    /// ignored, as in ADK.
    pub(crate) is_settled: bool,
}

impl Inherited {
    /// Returns the settings for the steps of a workflow, which sets
    /// [`is_settled`](Self::is_settled): `Some(true)` for a tree whose root is a block,
    /// `Some(false)` for a closed workflow. `None` changes nothing.
    pub(crate) fn settle(
        inherited: &Option<Arc<Self>>,
        is_settled: Option<bool>,
    ) -> Option<Arc<Self>> {
        let before = inherited.as_ref().is_some_and(|outer| outer.is_settled);
        let Some(is_settled) = is_settled.filter(|now| *now != before) else {
            return inherited.clone();
        };
        let own = inherited.as_deref().cloned().unwrap_or_default();
        Some(Arc::new(Self { is_settled, ..own }))
    }
}

/// An instruction for all agents below the agent that declares it, with the scope of the keys that
/// it reads.
#[derive(Clone, Debug)]
pub(crate) struct GlobalInstruction {
    pub(crate) prompt: Arc<dyn PromptSource>,
    pub(crate) scope: Option<Arc<KeyScope>>,
}

impl GlobalInstruction {
    /// Renders the text for the next model call.
    pub(crate) async fn text(&self, cx: &mut Context) -> Result<String> {
        let mut cx = cx.enter(self.scope.clone());
        self.prompt.text(&mut cx).await
    }
}

/// A text that is rendered for each model call.
pub(crate) trait PromptSource: Send + Sync {
    /// Renders the text with the current values of the state.
    fn text<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<String>>;

    /// Returns the length in bytes of the constant beginning; `None` if the whole text is constant.
    fn fixed_len(&self) -> Option<usize>;
}

impl fmt::Debug for dyn PromptSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PromptSource")
    }
}
