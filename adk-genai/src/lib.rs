//! Models of every provider for `adk-workflow`, through the [`genai`](https://docs.rs/genai) crate.
//!
//! [`Genai`] finds models by name. With keys in the environment it needs no settings:
//!
//! ```no_run
//! use adk_model::Content;
//! use adk_model::model::{Model, ModelChunk, ModelProvider, ModelRequest};
//! use adk_genai::Genai;
//! use futures_util::StreamExt;
//! use std::sync::Arc;
//!
//! # async fn run() -> Result<(), adk_model::model::ModelError> {
//! let model = Genai::new().model("gemini-2.5-flash")?; // fails without GEMINI_API_KEY
//! let mut request = ModelRequest::default();
//! request.contents = vec![Content::user("Write a haiku about a cat.")].into();
//! request.stream = true;
//! let mut answer = model.generate(Arc::new(request));
//! while let Some(chunk) = answer.next().await {
//!     if let ModelChunk::Text(text) = chunk? {
//!         print!("{text}");
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Names
//!
//! The prefix of a name selects the provider: `gpt`, `chatgpt`, `o1`, `o3`, `o4` (OpenAI),
//! `gemini`, `claude`, `grok`, `deepseek-`, `command` (Cohere), `glm`, `kimi-`, `moonshot-`,
//! `mimo-`, `minimax-`. Other names have the form `PROVIDER::NAME`, such as `groq::llama-3.3-70b`,
//! `ollama::llama3.2` or `open_router::openai/gpt-4.1`; [`Adapter::all`] lists the providers.
//! `gpt-5` and later use OpenAI's responses API; `openai::gpt-5` selects chat completions. A suffix
//! such as `-low`, `-high` or `-none` sets the reasoning effort. Any other name is an error of kind
//! `UnknownModel`, and never a call to a server on this machine.
//!
//! # Keys and addresses
//!
//! | provider | key | other address |
//! |---|---|---|
//! | OpenAI | `OPENAI_API_KEY` | `OPENAI_BASE_URL` |
//! | Anthropic | `ANTHROPIC_API_KEY` | `ANTHROPIC_BASE_URL` |
//! | Gemini | `GEMINI_API_KEY`, `GOOGLE_API_KEY` | `GOOGLE_GEMINI_BASE_URL` |
//! | Ollama | none | `OLLAMA_HOST` |
//! | any other | [`Genai::key_variable`] | [`GenaiBuilder::base_url`] |
//! | `genai_1::NAME` (speaks OpenAI's format) | `GENAI_1_API_KEY` | `GENAI_1_ENDPOINT` |
//!
//! Base URLs are completed like in the provider's own SDK. For OpenAI and compatible providers,
//! `/v1` is appended to a URL without a path. For Anthropic `/v1` and for Gemini `/v1beta` are
//! appended unless the URL ends with a version. `OLLAMA_HOST` may lack scheme and port, and a `/v1`
//! at its end is removed. So `http://127.0.0.1:4010` and `http://127.0.0.1:4010/v1` work for all of
//! them. A URL on this machine needs no key.
//!
//! vLLM, LM Studio, llama.cpp and other servers with OpenAI's format:
//!
//! ```
//! use adk_genai::{Adapter, Genai};
//!
//! let genai = Genai::builder()
//!     .adapter(Adapter::OPENAI) // any name goes
//!     .base_url("http://127.0.0.1:8000/v1")
//!     .build()?;
//! assert_eq!(genai.get("Qwen/Qwen3-8B")?.base_url(), "http://127.0.0.1:8000/v1/");
//! # Ok::<(), adk_model::model::ModelError>(())
//! ```
//!
//! # Differences between providers
//!
//! - **Tool calls** are delivered complete, with an object as arguments. Arguments that are not
//!   JSON are kept as text in [`FunctionCall::malformed`](adk_model::FunctionCall::malformed), so
//!   that the agent can answer the model with an error instead of failing. All results of one turn
//!   are sent together.
//! - **Schemas** are translated to the dialect of the provider. In OpenAI's strict form, optional
//!   properties are nullable; their nulls are removed from the answer. A schema without a strict
//!   form (a free-form map) is sent with `strict: false`. A schema that does not describe an object
//!   is wrapped in one, and the answer is unwrapped; its text then arrives in one piece. Providers
//!   without schemas get the schema in the instruction.
//! - **Tools that the provider runs** are `google_search`, `code_execution` and `url_context` of
//!   Gemini, and `web_search` of OpenAI's responses API and of Anthropic. Any other combination of
//!   tool and provider is an error before the call, and so is a tool of Gemini beside functions.
//!   The reply of Anthropic is not streamed then.
//! - **Thoughts** are never part of the answer. Their signatures are sent back with the next
//!   request, because providers reject a tool call without them. A signature is sent only to the
//!   provider that made it, and an id of a call that does not have the provider's form is replaced,
//!   so another provider can continue the conversation.
//! - **`max_output_tokens`** includes thoughts. Older models of Anthropic refuse a limit of at most
//!   the budget for thoughts, which the effort at the end of the name sets, such as `-high`.
//!   Such a limit is raised by this budget.
//! - **Errors** are mapped to kinds by their remedy, even if a stream reports the status late. They
//!   name provider and model, contain the time to wait, and contain no key. A stream that stops
//!   without an end mark is an error, even if the connection was closed regularly; it is not
//!   retryable after the first content.
//! - **Images and files** that a provider does not accept are an error before the call, and are
//!   never dropped.
//!
//! # Limits and secrets
//!
//! - **Redirects** are not followed, because the key and the prompt would go to another host. A
//!   redirect is an error of kind `InvalidResponse` that names the host.
//! - **Long answers** of more than 64 MiB after decompression are errors of kind `InvalidResponse`,
//!   and so are events of a stream of more than a quarter of the limit;
//!   [`GenaiBuilder::answer_limit`] changes the limit. At most 64 KiB of the body of an error are
//!   read.
//! - **Deep values** are errors of kind `InvalidResponse`, too: arguments of calls, and answers
//!   with a schema, that are nested deeper than 100 levels.
//! - **Keys** are kept in the type of [`secrecy`](https://docs.rs/secrecy), and `genai` gets a copy
//!   for each call. `Debug` output and messages contain neither keys nor the credentials of base
//!   URLs and proxies, even if a provider repeats them.
//!
//! The `genai` crate has no place for such limits. Therefore it sends each request to a socket on
//! `127.0.0.1` that accepts this one request and forwards it to the provider. A sandbox must allow
//! connections within the machine.
//!
//! Requests are not retried here; the calling agent retries. Dropping a stream closes its
//! connection.

mod adapter;
mod cache;
mod cause;
mod deltas;
mod depth;
mod endpoint;
mod error;
mod frames;
mod model;
mod names;
mod plan;
mod provider;
mod provider_tool;
mod relay;
mod repair;
mod request;
mod response;
mod results;
mod retry_after;
mod schema;
mod signature;
mod thinking;

pub use adapter::Adapter;
pub use model::GenaiModel;
pub use provider::{Genai, GenaiBuilder};
