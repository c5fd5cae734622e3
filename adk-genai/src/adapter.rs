//! [`Adapter`]: wire formats and providers, and the differences between them that matter here.

use adk_model::model::{ModelError, ModelErrorKind};
use genai::adapter::AdapterKind;
use std::fmt;
use std::str::FromStr;

/// A provider with its wire format.
///
/// Constants exist for providers with a format of their own and for common providers. All others
/// are found by name, which is also the prefix before `::` in the name of a model:
///
/// ```
/// use adk_genai::Adapter;
/// let adapter: Adapter = "groq".parse()?;
/// assert_eq!(adapter.name(), "groq");
/// assert_eq!(adapter.key_variable(), Some("GROQ_API_KEY"));
/// # Ok::<(), adk_model::model::ModelError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Adapter(AdapterKind);

impl Adapter {
    /// OpenAI's chat completions, which most other servers (vLLM, LM Studio, llama.cpp, ...)
    /// implement, too.
    pub const OPENAI: Self = Self(AdapterKind::OpenAI);
    /// OpenAI's responses API.
    pub const OPENAI_RESPONSES: Self = Self(AdapterKind::OpenAIResp);
    /// Anthropic's messages API.
    pub const ANTHROPIC: Self = Self(AdapterKind::Anthropic);
    /// Google's Gemini.
    pub const GEMINI: Self = Self(AdapterKind::Gemini);
    /// Ollama's own format, on this machine by default.
    pub const OLLAMA: Self = Self(AdapterKind::Ollama);
    /// OpenRouter.
    pub const OPEN_ROUTER: Self = Self(AdapterKind::OpenRouter);

    /// Returns all adapters, in no particular order.
    pub fn all() -> impl Iterator<Item = Self> {
        AdapterKind::all().iter().copied().map(Self)
    }

    /// Returns the name, such as `openai`. A model of the adapter is named `openai::NAME`.
    pub fn name(self) -> &'static str {
        self.0.as_lower_str()
    }

    /// Returns the environment variable that holds the key, or `None` if the provider needs no key.
    pub fn key_variable(self) -> Option<&'static str> {
        self.0.default_key_env_name()
    }

    /// Returns the provider's name in OpenTelemetry's conventions, or the adapter's name if the
    /// conventions have none.
    pub(crate) fn provider(self) -> &'static str {
        use AdapterKind::*;
        match self.0 {
            OpenAI | OpenAIResp => "openai",
            Gemini | GeminiIx => "gcp.gemini",
            Vertex => "gcp.vertex_ai",
            BedrockApi => "aws.bedrock",
            Mistral => "mistral_ai",
            Moonshot | Kimi => "moonshot_ai",
            Xai => "x_ai",
            _ => self.name(),
        }
    }

    pub(crate) fn from_kind(kind: AdapterKind) -> Self {
        Self(kind)
    }

    pub(crate) fn kind(self) -> AdapterKind {
        self.0
    }
}

impl fmt::Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Adapter({self})")
    }
}

impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Adapter {
    type Err = ModelError;

    /// Finds an adapter by its [name](Self::name).
    ///
    /// # Errors
    /// Fails with [`ModelErrorKind::UnknownModel`] if no adapter has that name; the help suggests
    /// the most similar name.
    fn from_str(name: &str) -> Result<Self, ModelError> {
        AdapterKind::from_lower_str(name).map(Self).ok_or_else(|| {
            let message = format!("the adapter `{name}` does not exist");
            let error = ModelError::new(ModelErrorKind::UnknownModel, message);
            match adk_spec::nearest::nearest(name, Self::all().map(Self::name)) {
                Some(near) => error.with_help(format!("did you mean `{near}`?")),
                None => error.with_help("use a name from `Adapter::all()`"),
            }
        })
    }
}

/// Shape of requests and answers. A provider that copies a format belongs to the family of the
/// format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    OpenAiChat,
    OpenAiResponses,
    Anthropic,
    Gemini,
    Ollama,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaMode {
    /// `json_schema` in OpenAI's strict subset.
    OpenAi,
    Anthropic,
    Gemini,
    /// The provider supports no schemas, so the schema is part of the system instruction.
    Prompt,
}

impl Family {
    /// Returns the family of a model. Some providers serve several families, by namespace or by the
    /// name of the model.
    pub(crate) fn of(kind: AdapterKind, model: &str) -> Self {
        use AdapterKind::*;
        let bare = crate::names::without_namespace(model);
        match kind {
            OpenAIResp => Self::OpenAiResponses,
            Anthropic | MiniMax => Self::Anthropic,
            Gemini | GeminiIx => Self::Gemini,
            Vertex if bare.starts_with("claude") => Self::Anthropic,
            Vertex => Self::Gemini,
            Ollama | OllamaCloud => Self::Ollama,
            OpenCodeGo if bare.to_lowercase().starts_with("minimax-") => Self::Anthropic,
            Baidu if model.starts_with("baidu-coding-anthropic::") => Self::Anthropic,
            Cohere | BedrockApi => Self::Other,
            _ => Self::OpenAiChat,
        }
    }

    pub(crate) fn schema_mode(self, kind: AdapterKind, model: &str) -> SchemaMode {
        use AdapterKind::*;
        let bare = crate::names::without_namespace(model);
        match self {
            // These providers document only JSON mode, and answer 400 to a schema.
            Self::OpenAiChat
                if matches!(
                    kind,
                    DeepSeek | Zai | BigModel | Baidu | Kimi | Moonshot | Mimo | Aliyun | QwenCloud
                ) =>
            {
                SchemaMode::Prompt
            }
            Self::OpenAiChat | Self::OpenAiResponses => SchemaMode::OpenAi,
            // Sonnet 4.5 and Opus 4.1 introduced structured outputs.
            Self::Anthropic if kind == Anthropic || kind == Vertex => {
                let old = ["claude-2", "claude-3", "claude-instant"]
                    .iter()
                    .any(|old| bare.starts_with(old))
                    || ["sonnet-4-0", "opus-4-0", "sonnet-4-2025", "opus-4-2025"]
                        .iter()
                        .any(|old| bare.contains(old));
                if old {
                    SchemaMode::Prompt
                } else {
                    SchemaMode::Anthropic
                }
            }
            Self::Gemini => SchemaMode::Gemini,
            Self::Anthropic | Self::Ollama | Self::Other => SchemaMode::Prompt,
        }
    }

    /// Reports whether a provider requires unsigned thoughts of earlier turns. These providers
    /// reject a tool round trip without the thoughts, or answer worse.
    pub(crate) fn wants_thoughts_back(self, kind: AdapterKind) -> bool {
        use AdapterKind::*;
        self == Self::OpenAiChat
            && matches!(
                kind,
                DeepSeek
                    | Kimi
                    | Moonshot
                    | Mimo
                    | Mistral
                    | Zai
                    | BigModel
                    | Aliyun
                    | QwenCloud
                    | OpenRouter
            )
    }
}
