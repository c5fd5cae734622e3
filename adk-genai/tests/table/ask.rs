//! The requests of the table's cells, and their results as JSON.

use crate::cell::{Case, KEY};
use crate::wire_server::WireServer;
use adk_build::model::{
    FinishReason, Model, ModelChunk, ModelError, ModelProvider as _, ModelRequest, ModelResponse,
    ToolDeclaration,
};
use adk_build::{Content, FunctionCall, FunctionResponse, Part, Role};
use adk_genai::Genai;
use futures_util::StreamExt as _;
use serde_json::{Map, Value, json};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The read timeout of the models that wait for a silent server. A machine under load sends an
/// answer in less, and [`in_silence`] ends the wait.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// Executes `work`. Each time the server pauses a reply, the clock of the runtime advances by the
/// read timeout.
pub(crate) async fn in_silence<T>(server: &WireServer, work: impl Future<Output = T>) -> T {
    let mut pauses = server.pauses();
    let silence = async {
        loop {
            pauses.changed().await.expect("the server runs");
            // The client, which is on this thread, reads what the server has sent. Each sleep is
            // one turn of the runtime with its sockets, however late it ends.
            for _ in 0..10 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            let _paused = Paused::new();
            tokio::time::advance(READ_TIMEOUT).await;
        }
    };
    tokio::select! {
        done = work => done,
        () = silence => unreachable!("servers pause without end"),
    }
}

/// A paused clock, which continues on drop: `work` may end during the advance.
struct Paused;

impl Paused {
    fn new() -> Self {
        tokio::time::pause();
        Self
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        tokio::time::resume();
    }
}

/// Providers on one server, by settings. They are shared, because each one reads the certificates
/// of the system.
pub(crate) struct Providers {
    url: String,
    usual: OnceLock<Genai>,
    thinking: OnceLock<Genai>,
    impatient: OnceLock<Genai>,
}

impl Providers {
    pub(crate) fn new(url: &str) -> Self {
        let new = OnceLock::new;
        Self {
            url: url.to_owned(),
            usual: new(),
            thinking: new(),
            impatient: new(),
        }
    }

    /// Returns the model of a cell.
    pub(crate) fn model(&self, case: Case<'_>) -> Arc<dyn Model> {
        let thinks = case.column.name == "thinking";
        let waits = !case.column.name.starts_with("slow");
        let genai = match (thinks, waits) {
            (true, _) => &self.thinking,
            (_, true) => &self.usual,
            (_, false) => &self.impatient,
        };
        let genai = genai.get_or_init(|| {
            let builder = Genai::builder()
                .base_url(&*self.url)
                .api_key(KEY)
                .thoughts(thinks);
            let builder = if waits {
                builder
            } else {
                builder.read_timeout(READ_TIMEOUT)
            };
            builder.build().expect("the settings are right")
        });
        genai.model(&case.format.model).expect("the name is known")
    }
}

pub(crate) fn request(case: Case<'_>) -> ModelRequest {
    let mut request = ModelRequest::default();
    request.stream = case.stream;
    request.system_instruction = "Be brief.".into();
    request.contents = vec![Content::user(case.column.name.as_str())].into();
    let object = |name: &str, kind: &str| {
        let properties = json!({name: {"type": kind}});
        json!({"type": "object", "properties": properties, "required": [name]})
    };
    match case.column.name.as_str() {
        "parallel calls" | "cut in a call" | "two calls of one id" => {
            let schema = object("city", "string");
            request.tools = vec![ToolDeclaration::new(
                "get_weather",
                "Looks up the weather.",
                schema,
            )];
        }
        "structured output" => request.response_schema = Some(Arc::new(object("score", "integer"))),
        "image" => request.contents[0]
            .parts
            .push(Part::inline_data("image/png", vec![1, 2, 3])),
        "file" => {
            let mut file = Part::inline_data("application/pdf", vec![1, 2, 3]);
            if let Part::InlineData(blob) = &mut file {
                blob.display_name = Some("a.pdf".into());
            }
            request.contents[0].parts.push(file);
        }
        _ => {}
    }
    request
}

/// Returns the request with the results of the calls in a response.
pub(crate) fn results(mut request: ModelRequest, mut response: ModelResponse) -> ModelRequest {
    let mut results = Vec::new();
    for (part, weather) in response.content.parts.iter_mut().zip(["sunny", "rainy"]) {
        let Part::FunctionCall(call) = part else {
            continue;
        };
        if call.id.is_empty() {
            Arc::make_mut(call).id = format!("adk-{weather}");
        }
        results.push(Part::from(FunctionResponse {
            id: call.id.clone(),
            name: call.name.clone(),
            response: [("result".to_owned(), json!(weather))]
                .into_iter()
                .collect(),
        }));
    }
    request
        .contents
        .extend([response.content, Content::new(Role::User, results)]);
    request
}

/// An answer: its pieces, and the response or the error.
pub(crate) struct Said {
    pub(crate) text: Vec<String>,
    pub(crate) thoughts: String,
    pub(crate) end: Result<ModelResponse, ModelError>,
}

pub(crate) async fn ask(model: &dyn Model, request: ModelRequest) -> Said {
    let mut stream = model.generate(Arc::new(request));
    let (mut text, mut thoughts) = (Vec::new(), String::new());
    loop {
        match stream
            .next()
            .await
            .expect("a stream ends with an answer or an error")
        {
            Ok(ModelChunk::Text(piece)) => text.push(piece),
            Ok(ModelChunk::Thought(piece)) => thoughts.push_str(&piece),
            Ok(ModelChunk::Done(response)) => {
                return Said {
                    text,
                    thoughts,
                    end: Ok(response),
                };
            }
            Ok(other) => panic!("{other:?}"),
            Err(error) => {
                return Said {
                    text,
                    thoughts,
                    end: Err(error),
                };
            }
        }
    }
}

impl Said {
    /// Returns the result as JSON in the form of the table's field `gives`, without empty and
    /// default values.
    pub(crate) fn gave(&self, case: Case<'_>) -> Value {
        let response = match &self.end {
            Ok(response) => response,
            Err(error) => return self.failed(error),
        };
        let mut gave = Map::new();
        let mut put = |key: &str, value: Value| {
            if !matches!(value.as_str(), Some(""))
                && !value.is_null()
                && value != json!([])
                && value != json!({})
            {
                gave.insert(key.to_owned(), value);
            }
        };
        let thoughts: String = response.content.parts.iter().filter_map(thought).collect();
        let text = response.content.text();
        if case.stream {
            let at = case.at();
            assert_eq!(
                (self.text.concat(), &self.thoughts),
                (text.clone(), &thoughts),
                "the pieces of {at}"
            );
        }
        if case.column.name == "stream" {
            put("pieces", json!(self.text));
        }
        put("text", json!(text));
        put("thoughts", json!(thoughts));
        put(
            "images",
            response.content.parts.iter().filter_map(image).collect(),
        );
        put(
            "calls",
            response.content.function_calls().map(call).collect(),
        );
        let finish = response
            .finish_reason
            .as_ref()
            .filter(|reason| **reason != FinishReason::Stop);
        put("finish", json!(finish));
        put("code", json!(response.error_code));
        put("message", json!(response.error_message));
        let usage = &response.usage;
        let counts = [
            ("input", usage.input_tokens),
            ("output", usage.output_tokens),
            ("cached", usage.cached_tokens),
            ("thoughts", usage.thought_tokens),
        ];
        let counts: Map<_, _> = counts
            .into_iter()
            .filter(|(_, n)| *n > 0)
            .map(|(name, n)| (name.to_owned(), json!(n)))
            .collect();
        put("usage", Value::Object(counts));
        Value::Object(gave)
    }

    fn failed(&self, error: &ModelError) -> Value {
        let mut gave =
            json!({"error": format!("{:?}", error.kind()), "retried": error.is_retryable()});
        if let Some(wait) = error.retry_after() {
            gave["wait"] = json!(wait.as_secs());
        }
        if !self.text.is_empty() {
            gave["said"] = json!(self.text.concat());
        }
        gave
    }
}

fn thought(part: &Part) -> Option<&str> {
    if let Part::Thought(thought) = part {
        Some(&thought.text)
    } else {
        None
    }
}

fn image(part: &Part) -> Option<String> {
    let Part::InlineData(blob) = part else {
        return None;
    };
    Some(format!("{} {}", blob.mime_type, blob.data.len()))
}

fn call(call: &FunctionCall) -> Value {
    let mut out = json!({"name": call.name});
    if !call.id.is_empty() {
        out["id"] = json!(call.id);
    }
    match &call.malformed {
        Some(text) => out["malformed"] = json!(text),
        None => out["args"] = Value::Object(call.args.clone()),
    }
    out
}
