//! [`Agent`]: a remote agent whose replies a test defines.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, watch};

/// A reply of the agent.
pub enum Reply {
    Result(Value),
    Error(i64, &'static str),
    Stream(Vec<Value>),
    Status(u16),
    Text(&'static str),
    /// A card that replaces the valid one.
    Card(Value),
    /// A result that depends on the number of earlier calls of the same method.
    Count(Box<dyn Fn(usize) -> Value + Send>),
    /// No reply until the test calls `stop_hanging`; then an empty stream.
    Hang,
}

type Answer = dyn Fn(&str, &Value) -> Reply + Send + Sync;

struct Shared {
    address: SocketAddr,
    streams: bool,
    answer: Box<Answer>,
    calls: Mutex<Vec<(String, Value, HeaderMap)>>,
    counted: Mutex<usize>,
    seen: mpsc::UnboundedSender<String>,
    hangs: watch::Receiver<bool>,
}

pub struct Agent {
    shared: Arc<Shared>,
    seen: mpsc::UnboundedReceiver<String>,
    hangs: watch::Sender<bool>,
}

impl Agent {
    pub async fn new(
        streams: bool,
        answer: impl Fn(&str, &Value) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let address = listener.local_addr().expect("an address");
        let (sender, seen) = mpsc::unbounded_channel();
        let (hangs, still) = watch::channel(true);
        let shared = Arc::new(Shared {
            address,
            streams,
            answer: Box::new(answer),
            calls: Mutex::default(),
            counted: Mutex::default(),
            seen: sender,
            hangs: still,
        });
        let router = axum::Router::new()
            .route("/agent/.well-known/agent-card.json", get(card))
            .route("/agent", post(rpc))
            .with_state(shared.clone());
        tokio::spawn(async move {
            axum::serve(listener, router)
                .await
                .expect("the agent serves")
        });
        Self {
            shared,
            seen,
            hangs,
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}/agent", self.shared.address)
    }

    pub fn calls(&self) -> Vec<(String, Value, HeaderMap)> {
        self.shared.calls.lock().expect("no panic").clone()
    }

    pub fn methods(&self) -> Vec<String> {
        self.calls()
            .into_iter()
            .map(|(method, ..)| method)
            .collect()
    }

    /// Waits until the client calls a method.
    pub async fn wait_for(&mut self, method: &str) {
        while self.seen.recv().await.expect("the agent runs") != method {}
    }

    pub fn stop_hanging(&self) {
        self.hangs.send_replace(false);
    }
}

async fn card(State(shared): State<Arc<Shared>>) -> Response {
    let reply = (shared.answer)("card", &Value::Null);
    if let Reply::Card(card) = reply {
        return axum::Json(card).into_response();
    }
    // The card names a wrong scheme and no port, like the card of an agent at a proxy.
    let interfaces = json!([
        {"url": "https://127.0.0.1/agent", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
        {
            "url": "https://127.0.0.1/agent",
            "protocolBinding": "JSONRPC",
            "protocolVersion": "1.0",
            "tenant": "t",
        },
    ]);
    let card = json!({
        "name": "agent",
        "supportedInterfaces": interfaces,
        "capabilities": {"streaming": shared.streams},
    });
    axum::Json(card).into_response()
}

async fn rpc(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let request: Value = serde_json::from_slice(&body).expect("JSON");
    let method = request["method"].as_str().expect("a method").to_owned();
    shared.calls.lock().expect("no panic").push((
        method.clone(),
        request["params"].clone(),
        headers,
    ));
    let _ = shared.seen.send(method.clone());
    let answer =
        |field: &str, value: Value| json!({"jsonrpc": "2.0", "id": request["id"], field: value});
    let stream = |events: Vec<Value>| {
        let events: String = events
            .into_iter()
            .map(|event| format!("data: {}\n\n", answer("result", event)))
            .collect();
        ([(header::CONTENT_TYPE, "text/event-stream")], events).into_response()
    };
    match (shared.answer)(&method, &request["params"]) {
        Reply::Result(value) | Reply::Card(value) => {
            axum::Json(answer("result", value)).into_response()
        }
        Reply::Count(value) => {
            let mut counted = shared.counted.lock().expect("no panic");
            *counted += 1;
            axum::Json(answer("result", value(*counted - 1))).into_response()
        }
        Reply::Error(code, message) => {
            axum::Json(answer("error", json!({"code": code, "message": message}))).into_response()
        }
        Reply::Stream(events) => stream(events),
        Reply::Status(code) => StatusCode::from_u16(code)
            .expect("a status")
            .into_response(),
        Reply::Text(text) => text.into_response(),
        Reply::Hang => {
            shared
                .hangs
                .clone()
                .wait_for(|hangs| !hangs)
                .await
                .expect("the test runs");
            stream(Vec::new())
        }
    }
}

pub fn task(state: &str) -> Value {
    json!({"id": "t1", "contextId": "c1", "status": {"state": state}})
}

/// Returns a task that asks for a text.
pub fn waiting() -> Value {
    let mut task = task("TASK_STATE_INPUT_REQUIRED");
    let schema = json!({"schema": {"type": "string", "minLength": 3}});
    let parts = json!([{"text": "Which cat?"}, {"data": schema}]);
    task["status"]["message"] = json!({"messageId": "q", "role": "ROLE_AGENT", "parts": parts});
    task
}

pub fn artifact(text: &str, append: bool) -> Value {
    let artifact = json!({"artifactId": "a", "parts": [{"text": text}]});
    json!({"artifactUpdate": {"taskId": "t1", "artifact": artifact, "append": append}})
}
