//! Requests of the tests, and a server with additional workflows.

use crate::fixtures::{self, Drafting};
use crate::support::{Hanging, Served, send, sse};
use reqwest::StatusCode;
use serde_json::{Value, json};

/// The sessions of the workflow `writing`.
pub const SESSIONS: &str = "/apps/writing/users/user/sessions";

pub type Server = adk::server::Server<adk::DefaultProvider, adk::NoResources>;

/// Starts a server with two additional workflows, which wait and hang.
pub async fn serve(with: impl FnOnce(Server) -> Server) -> Served {
    let more = |server: Server| {
        server
            .workflow(Drafting::default())
            .workflow(Hanging::default())
    };
    fixtures::serve(|server| with(more(server))).await
}

pub fn text_body(app: &str, text: &str) -> Value {
    part_body(app, json!({"text": text}))
}

pub fn part_body(app: &str, part: Value) -> Value {
    let message = json!({"role": "user", "parts": [part]});
    json!({"appName": app, "userId": "user", "sessionId": "s", "newMessage": message})
}

pub fn answer_body(app: &str, call: &Value, response: Value) -> Value {
    let (id, name) = (&call["id"], &call["name"]);
    part_body(
        app,
        json!({"functionResponse": {"id": id, "name": name, "response": response}}),
    )
}

pub async fn session(served: &Served, app: &str) {
    let path = format!("/apps/{app}/users/user/sessions");
    let (status, made) = send(served.post(&path, &json!({"sessionId": "s"}))).await;
    assert_eq!(status, StatusCode::OK, "{made}");
}

/// Runs a workflow over `/run_sse` and returns the events.
pub async fn run_sse(served: &Served, body: &Value) -> Vec<Value> {
    let response = served.post("/run_sse", body).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    sse(&response.text().await.unwrap())
        .into_iter()
        .map(|(_, _, data)| data)
        .collect()
}

/// Returns the function call of the last event.
pub fn call(events: &[Value]) -> &Value {
    &events.last().expect("an event")["content"]["parts"][0]["functionCall"]
}
