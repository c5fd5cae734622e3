//! Tests of models with a server that implements the wire formats of the providers.

#[path = "../../../tests/support/wire_server/mod.rs"]
mod wire_server;

mod answers;
mod bad;
mod cache;
mod calls;
mod dialects;
mod limits;
mod provider_tools;
mod redirects;
mod schemas;
mod secrets;
mod settings;
mod stops;
mod turns;

use adk_build::model::{
    Model, ModelChunk, ModelError, ModelProvider as _, ModelRequest, ModelResponse, ToolDeclaration,
};
use adk_build::{Content, FunctionCall, FunctionResponse, Part, Role, Thought};
use adk_genai::Genai;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use std::sync::Arc;
use wire_server::{Reply, WireServer};

const KEY: &str = "sk-test-0123456789";

const OPENAI: &str = "gpt-4o-mini";
const RESPONSES: &str = "openai_resp::gpt-4o-mini";
const ANTHROPIC: &str = "claude-sonnet-4-5";
const GEMINI: &str = "gemini-2.5-flash";
const OLLAMA: &str = "ollama::llama3.2";

/// One model of each wire format.
const ALL: [&str; 5] = [OPENAI, RESPONSES, ANTHROPIC, GEMINI, OLLAMA];

/// Returns all formats, streamed and whole.
fn everywhere() -> impl Iterator<Item = (&'static str, bool)> {
    ALL.into_iter()
        .flat_map(|name| [(name, true), (name, false)])
}

fn model(server: &WireServer, name: &str) -> Arc<dyn Model> {
    let genai = Genai::builder()
        .base_url(server.url())
        .api_key(KEY)
        .build()
        .expect("the settings are right");
    genai.model(name).expect("the name is known")
}

fn request(text: &str, stream: bool) -> ModelRequest {
    let mut request = ModelRequest::default();
    request.contents = vec![Content::user(text)].into();
    request.stream = stream;
    request
}

fn weather() -> ToolDeclaration {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where."},
            "days": {"type": "integer", "format": "uint8", "default": 3},
        },
        "required": ["city"],
    });
    ToolDeclaration::new("get_weather", "Looks up the weather.", schema)
}

/// Returns all chunks of an answer.
async fn chunks(
    model: &Arc<dyn Model>,
    request: ModelRequest,
) -> Vec<Result<ModelChunk, ModelError>> {
    model.generate(Arc::new(request)).collect().await
}

/// Returns the pieces and the response of an answer.
async fn ask(model: &Arc<dyn Model>, request: ModelRequest) -> (Vec<ModelChunk>, ModelResponse) {
    let mut pieces = Vec::new();
    for chunk in chunks(model, request).await {
        match chunk.expect("the call works") {
            ModelChunk::Done(response) => return (pieces, response),
            piece => pieces.push(piece),
        }
    }
    panic!("the stream ended without the whole answer: {pieces:?}");
}

/// Returns the pieces and the error of an answer.
async fn fail(model: &Arc<dyn Model>, request: ModelRequest) -> (Vec<ModelChunk>, ModelError) {
    let mut pieces = Vec::new();
    for chunk in chunks(model, request).await {
        match chunk {
            Ok(piece) => pieces.push(piece),
            Err(error) => return (pieces, error),
        }
    }
    panic!("the call worked: {pieces:?}");
}

fn said(pieces: &[ModelChunk]) -> String {
    pieces
        .iter()
        .filter_map(|piece| {
            if let ModelChunk::Text(text) = piece {
                Some(text.as_str())
            } else {
                None
            }
        })
        .collect()
}

fn called(response: &ModelResponse) -> Vec<FunctionCall> {
    response.content.function_calls().cloned().collect()
}

/// Returns the result of a call, as the agent layer writes it.
fn result(call: &FunctionCall, value: Value) -> Part {
    Part::from(FunctionResponse {
        id: call.id.clone(),
        name: call.name.clone(),
        response: [("result".to_owned(), value)].into_iter().collect(),
    })
}

fn results(parts: Vec<Part>) -> Content {
    Content::new(Role::User, parts)
}
