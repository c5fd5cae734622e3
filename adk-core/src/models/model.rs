//! What a language model is asked and what it answers, in types of our own.

mod contents;
mod request;
mod response;

pub use super::limit::RateLimit;
pub use crate::model_error::{ModelError, ModelErrorKind};
pub use contents::Contents;
pub(crate) use contents::Says;
pub use request::{CallInfo, GenerationConfig, ModelRequest, ToolDeclaration};
pub use response::{FinishReason, ModelChunk, ModelResponse, Usage};

use crate::BoxStream;
use std::sync::Arc;

/// What a model sends back: any number of pieces when `request.stream` is set, then [`ModelChunk::Done`] with the whole.
pub type ModelStream = BoxStream<'static, Result<ModelChunk, ModelError>>;

/// A language model.
///
/// One call is one request. Implementations neither retry nor keep anything between calls: the agent
/// that asks does that, so that each attempt is seen. Dropping the stream cancels the call.
pub trait Model: Send + Sync + 'static {
    /// The name to show, such as `gemini-2.5-flash`.
    fn name(&self) -> &str;

    /// Who serves it, by the names of OpenTelemetry's `gen_ai.provider.name`, such as `openai` or `gcp.gemini`: in traces, and where
    /// limits of calls are kept. Default empty: not known, then its [`name`](Self::name) counts.
    fn provider(&self) -> &str {
        ""
    }

    /// Whether it can be held to a schema while it may call tools. Where it cannot, an agent with both asks for the answer
    /// by a tool, `set_model_response`. Default `false`, which works with every model.
    fn answers_in_schema_beside_tools(&self) -> bool {
        false
    }

    /// Sends the request. The stream ends with [`ModelChunk::Done`] or with an error.
    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream;
}

impl<M: Model + ?Sized> Model for Box<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn provider(&self) -> &str {
        (**self).provider()
    }

    fn answers_in_schema_beside_tools(&self) -> bool {
        (**self).answers_in_schema_beside_tools()
    }

    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        (**self).generate(request)
    }
}

/// Finds models by their name; what `model: "..."` in a declaration and `.model("...")` on a runner use.
pub trait ModelProvider: Send + Sync + 'static {
    /// The model of that name.
    ///
    /// # Errors
    /// When no provider has a model of that name, or its key is missing.
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, ModelError>;
}

/// Knows no model: where the crate is built without a feature that does.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProvider;

impl ModelProvider for NoProvider {
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, ModelError> {
        let message = format!("no model `{name}`: this build of `adk-workflow` knows no models by name");
        let error = ModelError::new(ModelErrorKind::UnknownModel, message);
        Err(error
            .with_help("add the feature `genai` to `adk-workflow` in Cargo.toml, or give a model by value"))
    }
}

/// A model by value, or by the name under which the runner's [`ModelProvider`] finds it.
#[derive(Clone)]
pub enum ModelRef {
    /// By name.
    Named(crate::Name),
    /// By value.
    Given(Arc<dyn Model>),
}

impl std::fmt::Debug for ModelRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Named(name) => f.debug_tuple("Named").field(name).finish(),
            Self::Given(model) => f.debug_tuple("Given").field(&model.name()).finish(),
        }
    }
}

impl From<&str> for ModelRef {
    fn from(name: &str) -> Self {
        Self::Named(crate::Name::shared(name))
    }
}

impl From<String> for ModelRef {
    fn from(name: String) -> Self {
        Self::Named(name.into())
    }
}

impl From<Arc<dyn Model>> for ModelRef {
    fn from(model: Arc<dyn Model>) -> Self {
        Self::Given(model)
    }
}

impl<M: Model> From<M> for ModelRef {
    fn from(model: M) -> Self {
        Self::Given(Arc::new(model))
    }
}
