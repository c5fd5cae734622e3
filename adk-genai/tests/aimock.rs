//! Models against a mock server of others, `@copilotkit/aimock`, whose wire formats were not written by us.
//!
//! `tests/peers/run-aimock.sh cargo test -p adk-workflow-genai --test aimock -- --ignored` starts it and sets
//! `ADK_AIMOCK`. A plain `cargo test` needs neither npm nor a server, so it leaves these out.

use adk_core::model::{
    Model, ModelChunk, ModelError, ModelErrorKind, ModelProvider as _, ModelRequest, ModelResponse,
    ToolDeclaration,
};
use adk_core::{Content, FunctionResponse, Part, Role};
use adk_genai::Genai;
use futures_util::StreamExt as _;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// One model of each wire format.
const ALL: [&str; 5] =
    ["gpt-4o-mini", "openai_resp::gpt-4o", "claude-sonnet-4-5", "gemini-2.5-flash", "ollama::llama3.2"];

fn server() -> String {
    std::env::var("ADK_AIMOCK").expect("`tests/peers/run-aimock.sh` starts the server and sets ADK_AIMOCK")
}

/// Each format, streamed and not.
fn everywhere(id: &str) -> Vec<(Arc<dyn Model>, bool)> {
    let url = server();
    let genai = Genai::builder()
        .base_url(url)
        .api_key("k")
        .header("x-test-id", id)
        .build()
        .expect("the settings are right");
    ALL.iter()
        .flat_map(|name| [true, false].map(|stream| (genai.model(name).expect("the name is known"), stream)))
        .collect()
}

fn request(text: &str, stream: bool) -> ModelRequest {
    let mut request = ModelRequest::default();
    request.contents = vec![Content::user(text)];
    request.stream = stream;
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    request.tools = vec![ToolDeclaration::new("get_weather", "Looks up the weather.", schema)];
    request
}

async fn ask(model: &Arc<dyn Model>, request: ModelRequest) -> Result<(String, ModelResponse), ModelError> {
    let mut thoughts = String::new();
    let mut stream = model.generate(Arc::new(request));
    while let Some(chunk) = stream.next().await {
        match chunk? {
            ModelChunk::Done(response) => return Ok((thoughts, response)),
            ModelChunk::Thought(text) => thoughts.push_str(&text),
            _ => {}
        }
    }
    panic!("the stream ended without the whole answer");
}

#[tokio::test]
#[ignore = "needs the mock server that tests/peers/run-aimock.sh starts"]
async fn text() {
    for (model, stream) in everywhere("text") {
        let (_, response) = ask(&model, request("hello", stream)).await.unwrap();
        assert_eq!(response.content.text(), "Hello from mock", "{} {stream}", model.name());
    }
}

#[tokio::test]
#[ignore = "needs the mock server that tests/peers/run-aimock.sh starts"]
async fn parallel_calls_and_their_results() {
    for (model, stream) in everywhere("calls") {
        let at = format!("{} {stream}", model.name());
        let mut request = request("What is the weather?", stream);
        let (_, mut response) = ask(&model, request.clone()).await.unwrap();
        let mut results = Vec::new();
        for (n, part) in response.content.parts.iter_mut().enumerate() {
            let Part::FunctionCall(call) = part else { continue };
            if call.id.is_empty() {
                call.id = format!("adk-{n}");
            }
            let answer = [("result".to_owned(), json!("fine"))].into_iter().collect();
            let response =
                FunctionResponse { id: call.id.clone(), name: call.name.clone(), response: answer };
            results.push(Part::FunctionResponse(response));
        }
        let cities: Vec<_> =
            response.content.function_calls().map(|call| call.args["city"].clone()).collect();
        assert_eq!(cities, ["Paris", "Rome"], "{at}");
        request.contents.extend([response.content, Content::new(Role::User, results)]);
        let (_, response) = ask(&model, request).await.unwrap();
        assert_eq!(response.content.text(), "Paris is sunny and Rome is rainy.", "{at}");
    }
}

#[tokio::test]
#[ignore = "needs the mock server that tests/peers/run-aimock.sh starts"]
async fn thinking() {
    for (model, stream) in everywhere("thinking") {
        let at = format!("{} {stream}", model.name());
        let (pieces, response) = ask(&model, request("Please think.", stream)).await.unwrap();
        assert_eq!(response.content.text(), "Answer 42.", "{at}");
        if stream {
            assert_eq!(pieces, "Let me think about it.", "{at}");
        }
    }
}

#[tokio::test]
#[ignore = "needs the mock server that tests/peers/run-aimock.sh starts"]
async fn schemas_and_images() {
    for (model, stream) in everywhere("schemas") {
        let at = format!("{} {stream}", model.name());
        let mut request = request("Please grade it.", stream);
        request.tools.clear();
        request.contents[0].parts.push(Part::inline_data("image/png", vec![1, 2, 3]));
        let schema =
            json!({"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]});
        request.response_schema = Some(Arc::new(schema));
        let (_, response) = ask(&model, request).await.unwrap();
        assert_eq!(response.content.text(), r#"{"score":7}"#, "{at}");
    }
}

#[tokio::test]
#[ignore = "needs the mock server that tests/peers/run-aimock.sh starts"]
async fn an_overloaded_provider() {
    for (model, stream) in everywhere("overloaded") {
        let error = ask(&model, request("overload", stream)).await.unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Unavailable, "{} {stream}: {error}", model.name());
        assert!(error.to_string().contains("overloaded"), "{error}");
    }
}

/// Switches faults on for the calls of one test.
#[allow(clippy::unwrap_used, reason = "a part of the tests")]
async fn chaos(id: &str, faults: &str) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let url = server();
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST /__aimock/chaos HTTP/1.1\r\nhost: x\r\nx-test-id: {id}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{faults}",
        faults.len()
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 2"), "{answer}");
}

#[tokio::test]
#[ignore = "needs the mock server that tests/peers/run-aimock.sh starts"]
async fn a_rate_limit_says_how_long_to_wait() {
    chaos("limit", r#"{"rateLimitRate":1}"#).await;
    for (model, stream) in everywhere("limit") {
        let error = ask(&model, request("hello", stream)).await.unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::RateLimited, "{} {stream}: {error}", model.name());
        assert_eq!(error.retry_after(), Some(Duration::from_secs(1)), "{} {stream}", model.name());
    }
}

#[tokio::test]
#[ignore = "needs the mock server that tests/peers/run-aimock.sh starts"]
async fn a_dropped_connection() {
    chaos("disconnect", r#"{"disconnectRate":1}"#).await;
    for (model, stream) in everywhere("disconnect") {
        let error = ask(&model, request("hello", stream)).await.unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Connection, "{} {stream}: {error}", model.name());
    }
}
