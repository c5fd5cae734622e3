//! [`Model`]: the interface to a language model, with the types of its requests and replies.

mod contents;
mod cost;
mod request;
mod response;
mod usage;

pub use super::limit::RateLimit;
pub use crate::model_error::{ModelError, ModelErrorKind};
pub use contents::Contents;
pub use contents::MessageSource;
pub use cost::Cost;
pub use request::{CallInfo, GenerationConfig, ModelRequest, ToolDeclaration};
pub use response::{FinishReason, ModelChunk, ModelResponse};
pub use usage::{Usage, UsageByAgent};

use crate::BoxStream;
use std::sync::Arc;

/// Stream of a reply: any number of pieces if `request.stream` is set, then [`ModelChunk::Done`]
/// with the whole reply.
pub type ModelStream = BoxStream<'static, Result<ModelChunk, ModelError>>;

/// A language model.
///
/// One call is one request. Implementations neither retry nor keep state between calls. The agent
/// retries, so that each attempt is visible. A resumed run does not repeat the calls that it has
/// recorded, so a count of calls would be wrong. Dropping the stream cancels the call.
///
/// ```
/// use adk_model::model::{Model, ModelChunk, ModelRequest, ModelStream};
/// use futures_util::stream;
/// use std::sync::Arc;
///
/// /// Repeats the last message.
/// struct Echo;
///
/// impl Model for Echo {
///     fn name(&self) -> &str {
///         "echo"
///     }
///
///     fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
///         let text = request.contents.last().map(|content| content.text());
///         let text = text.unwrap_or_default();
///         // The pieces are extra: the whole reply contains them again.
///         let piece = request.stream.then(|| ModelChunk::Text(text.clone()));
///         let done = ModelChunk::Done(text.into());
///         Box::pin(stream::iter(piece.into_iter().chain([done]).map(Ok)))
///     }
/// }
/// ```
pub trait Model: Send + Sync + 'static {
    /// Returns the display name, such as `gemini-2.5-flash`.
    fn name(&self) -> &str;

    /// Returns the provider, by the names of OpenTelemetry's `gen_ai.provider.name`, such as
    /// `openai` or `gcp.gemini`. Traces show the provider, and rate limits apply per provider. The
    /// default is empty for an unknown provider; then the [`name`](Self::name) is used.
    fn provider(&self) -> &str {
        ""
    }

    /// Reports whether the model can follow a response schema in a request that also has tools. If
    /// not, an agent with both requests its answer through the tool `set_model_response`. Default
    /// `false`, which works with every model.
    fn answers_in_schema_beside_tools(&self) -> bool {
        false
    }

    /// Returns the largest number of output tokens of a request with this `max_output_tokens`.
    /// Budgets reserve it. It is larger than the limit if the model thinks beside the limit.
    fn output_limit(&self, limit: u32) -> u32 {
        limit
    }

    /// Accepts or refuses a tool that the provider runs, such as `google_search`, before the first
    /// step of a run. `beside_functions` is true if the agent also has tools that the runtime
    /// calls. By default, a model refuses all such tools.
    ///
    /// # Errors
    /// The message names the tool and the provider, and the help is the remedy.
    fn check_provider_tool(&self, tool: &str, beside_functions: bool) -> Result<(), ModelError> {
        let _ = beside_functions;
        let message = format!(
            "the model `{}` does not support the tool `{tool}` of a provider",
            self.name()
        );
        let error = ModelError::new(ModelErrorKind::InvalidRequest, message);
        Err(error.with_help("give the agent a function with `#[tool]`, or another model"))
    }

    /// Sends the request. The stream ends with [`ModelChunk::Done`] or with an error. If it ends
    /// without either, the call fails like one whose connection broke. Pieces without
    /// `request.stream` are ignored. After a piece, a failed call is not retried.
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

    fn output_limit(&self, limit: u32) -> u32 {
        (**self).output_limit(limit)
    }

    fn check_provider_tool(&self, tool: &str, beside_functions: bool) -> Result<(), ModelError> {
        (**self).check_provider_tool(tool, beside_functions)
    }

    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        (**self).generate(request)
    }
}

/// Lookup of models by name, used by `model: "..."` in a declaration and by `.model("...")` on a
/// runner.
pub trait ModelProvider: Send + Sync + 'static {
    /// Returns the model with this name.
    ///
    /// # Errors
    /// Fails if the provider has no model with this name, or if the API key of the model is
    /// missing.
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, ModelError>;
}

/// Provider without models, for builds without a feature that adds a provider.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProvider;

impl ModelProvider for NoProvider {
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, ModelError> {
        let message =
            format!("no model `{name}`: this build of `adk-workflow` knows no models by name");
        let error = ModelError::new(ModelErrorKind::UnknownModel, message);
        Err(error.with_help(
            "add the feature `genai` to `adk-workflow` in Cargo.toml, or give a model by value",
        ))
    }
}

/// A model by value, or a name that the runner's [`ModelProvider`] resolves.
#[derive(Clone)]
pub enum ModelRef {
    /// A model that is looked up by name.
    Named(crate::Name),
    /// A model that is passed by value.
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
