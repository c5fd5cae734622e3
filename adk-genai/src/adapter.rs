//! The wire formats and providers that there are, and what sets them apart for us.

use adk_core::model::{ModelError, ModelErrorKind};
use genai::adapter::AdapterKind;
use std::fmt;
use std::str::FromStr;

/// A provider together with its wire format.
///
/// The constants name those that speak a format of their own or are met most often. Every other one is
/// found by its name, which is also the prefix before `::` in a model's name:
///
/// ```
/// use adk_genai::Adapter;
/// let adapter: Adapter = "groq".parse()?;
/// assert_eq!(adapter.name(), "groq");
/// assert_eq!(adapter.key_variable(), Some("GROQ_API_KEY"));
/// # Ok::<(), adk_core::model::ModelError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Adapter(AdapterKind);

impl Adapter {
    /// OpenAI's chat completions, which most other servers (vLLM, LM Studio, llama.cpp, ...) speak as well.
    pub const OPENAI: Self = Self(AdapterKind::OpenAI);
    /// OpenAI's responses.
    pub const OPENAI_RESPONSES: Self = Self(AdapterKind::OpenAIResp);
    /// Anthropic's messages.
    pub const ANTHROPIC: Self = Self(AdapterKind::Anthropic);
    /// Google's Gemini.
    pub const GEMINI: Self = Self(AdapterKind::Gemini);
    /// Ollama's own format, on this machine unless told otherwise.
    pub const OLLAMA: Self = Self(AdapterKind::Ollama);
    /// OpenRouter.
    pub const OPEN_ROUTER: Self = Self(AdapterKind::OpenRouter);

    /// All of them, in no particular order.
    pub fn all() -> impl Iterator<Item = Self> {
        AdapterKind::all().iter().copied().map(Self)
    }

    /// The name, such as `openai`; a model is asked for by `openai::NAME`.
    pub fn name(self) -> &'static str {
        self.0.as_lower_str()
    }

    /// The environment variable that holds its key; `None` when it needs none.
    pub fn key_variable(self) -> Option<&'static str> {
        self.0.default_key_env_name()
    }

    /// The name of the provider in OpenTelemetry's conventions; the adapter's own where they have none.
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

    /// By [name](Self::name).
    ///
    /// # Errors
    /// [`ModelErrorKind::UnknownModel`] when there is none of that name; the message says the nearest.
    fn from_str(name: &str) -> Result<Self, ModelError> {
        AdapterKind::from_lower_str(name).map(Self).ok_or_else(|| {
            let message = format!("there is no adapter called `{name}`");
            let error = ModelError::new(ModelErrorKind::UnknownModel, message);
            match adk_spec::nearest::nearest(name, Self::all().map(Self::name)) {
                Some(near) => error.with_help(format!("did you mean `{near}`?")),
                None => error.with_help("`Adapter::all()` lists them"),
            }
        })
    }
}

/// What requests and answers look like. Providers that copied a format belong to its family.
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
    /// The provider knows no schemas: the schema goes into the system instruction.
    Prompt,
}

impl Family {
    /// The family of a provider; some serve several, by namespace or by the name of the model.
    pub(crate) fn of(kind: AdapterKind, model: &str) -> Self {
        use AdapterKind::*;
        let bare = crate::names::bare(model);
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
        let bare = crate::names::bare(model);
        match self {
            // These document JSON mode alone, and answer 400 to a schema.
            Self::OpenAiChat
                if matches!(
                    kind,
                    DeepSeek | Zai | BigModel | Baidu | Kimi | Moonshot | Mimo | Aliyun | QwenCloud
                ) =>
            {
                SchemaMode::Prompt
            }
            Self::OpenAiChat | Self::OpenAiResponses => SchemaMode::OpenAi,
            // Structured outputs came with Sonnet 4.5 and Opus 4.1.
            Self::Anthropic if kind == Anthropic || kind == Vertex => {
                let old = ["claude-2", "claude-3", "claude-instant"].iter().any(|old| bare.starts_with(old))
                    || ["sonnet-4-0", "opus-4-0", "sonnet-4-2025", "opus-4-2025"]
                        .iter()
                        .any(|old| bare.contains(old));
                if old { SchemaMode::Prompt } else { SchemaMode::Anthropic }
            }
            Self::Gemini => SchemaMode::Gemini,
            Self::Anthropic | Self::Ollama | Self::Other => SchemaMode::Prompt,
        }
    }

    /// Whether unsigned thinking goes back with the turn that it led to. These refuse, or lose the thread of,
    /// a tool round trip without it.
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
