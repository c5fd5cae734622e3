//! Models of every provider for `adk-workflow`, through the [`genai`](https://docs.rs/genai) crate.
//!
//! [`Genai`] finds models by name. With keys in the environment it needs no settings:
//!
//! ```no_run
//! use adk_core::Content;
//! use adk_core::model::{Model, ModelChunk, ModelProvider, ModelRequest};
//! use adk_genai::Genai;
//! use futures_util::StreamExt;
//! use std::sync::Arc;
//!
//! # async fn run() -> Result<(), adk_core::model::ModelError> {
//! let model = Genai::new().model("gemini-2.5-flash")?;    // an error here and now when GEMINI_API_KEY is missing
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
//! The beginning of a name says the provider: `gpt`, `chatgpt`, `o1`, `o3`, `o4` (OpenAI), `gemini`, `claude`,
//! `grok`, `deepseek-`, `command` (Cohere), `glm`, `kimi-`, `moonshot-`, `mimo-`, `minimax-`. Everything else is
//! written `PROVIDER::NAME`, such as `groq::llama-3.3-70b`, `ollama::llama3.2` or `open_router::openai/gpt-4.1`;
//! [`Adapter::all`] lists the providers. `gpt-5` and later go to OpenAI's responses; `openai::gpt-5` asks for chat
//! completions. A suffix such as `-low`, `-high` or `-none` sets how hard a model thinks. Any other name is an
//! error of kind `UnknownModel`, never a call of whatever listens on this machine.
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
//! An address is completed as the provider's own SDK does it. For OpenAI and all who copied it, a bare host gets
//! `/v1`, and a path stays as it is. For Anthropic `/v1` and for Gemini `/v1beta` are appended unless a version
//! is at the end already. `OLLAMA_HOST` may lack scheme and port, and a `/v1` at its end is dropped. So
//! `http://127.0.0.1:4010` and `http://127.0.0.1:4010/v1` serve for all of them. An address on this machine needs
//! no key.
//!
//! vLLM, LM Studio, llama.cpp and whatever else speaks OpenAI's format:
//!
//! ```
//! use adk_genai::{Adapter, Genai};
//!
//! let genai = Genai::builder()
//!     .adapter(Adapter::OPENAI) // any name goes
//!     .base_url("http://127.0.0.1:8000/v1")
//!     .build()?;
//! assert_eq!(genai.get("Qwen/Qwen3-8B")?.base_url(), "http://127.0.0.1:8000/v1/");
//! # Ok::<(), adk_core::model::ModelError>(())
//! ```
//!
//! # What it does about the differences
//!
//! - **Calls of tools** come whole, with arguments that are an object. Arguments that are no JSON are kept as text
//!   in [`FunctionCall::malformed`](adk_core::FunctionCall::malformed), so that the agent can answer the model
//!   with an error in place of failing. All results of one turn travel together.
//! - **Schemas** go out in the dialect of the provider. In OpenAI's strict form optional properties are nullable;
//!   the nulls are taken out of the answer again. A schema without a strict form (a free-form map) is sent with
//!   `strict: false`. An answer that is no object is wrapped on the wire, and unwrapped; its pieces then come as
//!   one. Providers that know no schemas get it in the instruction.
//! - **Thinking** is never part of the answer. Its signatures go back to the provider with the next request, since
//!   a call of a tool is refused without them.
//! - **Errors** are sorted by what can be done, also when the status of a stream comes late. They name provider
//!   and model, carry the time to wait, and hold no key. A stream that ends without its end is broken, whether or
//!   not the connection was closed in good order; after the first words it is not to be retried.
//! - **Images and files** that a provider cannot be given are an error before the call, and never left out.
//!
//! # What it does not trust
//!
//! - **Redirects** are not followed, since key and prompt would go to another host. One is an error of kind
//!   `InvalidResponse` that names the host.
//! - **Long answers** are refused with the same kind: more than 64 MiB after decompression, or a quarter of that in
//!   one event of a stream; [`GenaiBuilder::answer_limit`] sets another limit. Of the body of an error 64 KiB are read.
//! - **Deep values**, that is arguments of calls and answers with a schema nested deeper than 100, are refused with
//!   the same kind.
//! - **Keys** are kept in [`secrecy`](https://docs.rs/secrecy)'s type, and `genai` gets a copy for each call. They, and credentials
//!   in base URLs and proxies, are in no `Debug` and in no message, also where a provider repeats them.
//!
//! The `genai` crate has no place for such limits. So it sends each request to a socket on `127.0.0.1` that takes this
//! one request, and from there it goes to the provider. A sandbox must allow connections within the machine.
//!
//! Nothing is retried: the agent that asks does that. Dropping a stream closes its connection.

mod adapter;
mod cache;
mod deltas;
mod depth;
mod endpoint;
mod error;
mod frames;
mod model;
mod names;
mod plan;
mod provider;
mod relay;
mod repair;
mod request;
mod response;
mod results;
mod retry_after;
mod schema;

pub use adapter::Adapter;
pub use model::GenaiModel;
pub use provider::{Genai, GenaiBuilder};
