//! A walk over every route with another user's ids: nothing of that user is in an answer, and nothing of it changes.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod support;

use adk::server::{Caller, Refusal};
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use support::{Served, send};

/// What only Ann has said.
const SAID: &str = "UNICORNS";

/// The routes as the source has them, each with a request of Bob for what is Ann's: a method, a path, and a body. `RUN`, `WAIT`,
/// `SESSION` and `EVENT` are hers.
fn walk() -> Vec<(&'static str, Method, &'static str, Value)> {
    let a2a =
        |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let answer =
        json!({"messageId": "b", "taskId": "RUN", "role": "ROLE_USER", "parts": [{"text": "Publish"}]});
    let to_run = json!({"appName": "approval", "userId": "ann", "sessionId": "SESSION",
        "newMessage": {"role": "user", "parts": [{"text": "dogs"}]}});
    let resume = json!({"threadId": "SESSION", "runId": "r", "messages": [], "state": {}, "tools": [], "context": [],
        "resume": [{"interruptId": "WAIT", "status": "resolved", "payload": "Publish"}]});
    let (get, post, null) = (Method::GET, Method::POST, Value::Null);
    vec![
        ("/", get.clone(), "/", null.clone()),
        ("/health", get.clone(), "/health", null.clone()),
        ("/openapi.json", get.clone(), "/openapi.json", null.clone()),
        ("/v1/workflows", get.clone(), "/v1/workflows", null.clone()),
        ("/v1/{workflow}/runs", post.clone(), "/v1/approval/runs?user=ann", json!({"topic": "dogs"})),
        ("/v1/{workflow}/runs", post.clone(), "/v1/approval/runs?session=SESSION", json!({"topic": "dogs"})),
        ("/v1/runs", get.clone(), "/v1/runs", null.clone()),
        ("/v1/runs", get.clone(), "/v1/runs?user=ann", null.clone()),
        ("/v1/runs", get.clone(), "/v1/runs?session=SESSION", null.clone()),
        ("/v1/runs/{run}", get.clone(), "/v1/runs/RUN", null.clone()),
        ("/v1/runs/{run}", Method::DELETE, "/v1/runs/RUN", null.clone()),
        ("/v1/runs/{run}/events", get.clone(), "/v1/runs/RUN/events", null.clone()),
        ("/v1/waiting", get.clone(), "/v1/waiting", null.clone()),
        ("/v1/waiting", get.clone(), "/v1/waiting?user=ann", null.clone()),
        ("/v1/waiting/{*wait}", post.clone(), "/v1/waiting/WAIT", json!("Publish")),
        ("/ag-ui/{workflow}", post.clone(), "/ag-ui/approval", resume),
        (
            "/a2a/{workflow}/.well-known/agent-card.json",
            get.clone(),
            "/a2a/approval/.well-known/agent-card.json",
            null.clone(),
        ),
        ("/a2a/{workflow}", post.clone(), "/a2a/approval", a2a("GetTask", json!({"id": "RUN"}))),
        ("/a2a/{workflow}", post.clone(), "/a2a/approval", a2a("CancelTask", json!({"id": "RUN"}))),
        ("/a2a/{workflow}", post.clone(), "/a2a/approval", a2a("ListTasks", json!({"contextId": "SESSION"}))),
        ("/a2a/{workflow}", post.clone(), "/a2a/approval", a2a("SubscribeToTask", json!({"id": "RUN"}))),
        ("/a2a/{workflow}/", post.clone(), "/a2a/approval/", a2a("SendMessage", json!({"message": answer}))),
        ("/mcp", post.clone(), "/mcp", json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})),
        ("/list-apps", get.clone(), "/list-apps", null.clone()),
        ("/version", get.clone(), "/version", null.clone()),
        ("/config/telemetry", get.clone(), "/config/telemetry", null.clone()),
        ("/apps/{app}/app-info", get.clone(), "/apps/approval/app-info", null.clone()),
        ("/dev/apps/{app}/builder", get.clone(), "/dev/apps/approval/builder", null.clone()),
        ("/apps/{app}/users/{user}/sessions", get.clone(), "/apps/approval/users/ann/sessions", null.clone()),
        (
            "/apps/{app}/users/{user}/sessions",
            post.clone(),
            "/apps/approval/users/ann/sessions",
            json!({"sessionId": "x"}),
        ),
        (
            "/apps/{app}/users/{user}/sessions/{session}",
            get.clone(),
            "/apps/approval/users/ann/sessions/SESSION",
            null.clone(),
        ),
        (
            "/apps/{app}/users/{user}/sessions/{session}",
            get.clone(),
            "/apps/approval/users/bob/sessions/SESSION",
            null.clone(),
        ),
        (
            "/apps/{app}/users/{user}/sessions/{session}",
            Method::DELETE,
            "/apps/approval/users/ann/sessions/SESSION",
            null.clone(),
        ),
        (
            "/apps/{app}/users/{user}/memory",
            Method::PATCH,
            "/apps/approval/users/ann/memory",
            json!({"session_id": "SESSION"}),
        ),
        ("ALL", get.clone(), "/apps/approval/users/ann/sessions/SESSION/artifacts", null.clone()),
        ("ALL/{*file}", get.clone(), "/apps/approval/users/ann/sessions/SESSION/artifacts/a", null.clone()),
        (
            "ALL/{*file}",
            Method::DELETE,
            "/apps/approval/users/ann/sessions/SESSION/artifacts/a",
            null.clone(),
        ),
        ("/dev-ui", get.clone(), "/dev-ui", null.clone()),
        ("/dev-ui/", get.clone(), "/dev-ui/", null.clone()),
        ("CONFIG", get.clone(), "/dev-ui/assets/config/runtime-config.json", null.clone()),
        ("/dev-ui/{*file}", get.clone(), "/dev-ui/main.js", null.clone()),
        ("/dev/apps/{app}/{path}", get.clone(), "/dev/apps/approval/eval_sets", null.clone()),
        (
            "/dev/apps/{app}/debug/trace/session/{session}",
            get.clone(),
            "/dev/apps/approval/debug/trace/session/SESSION",
            null.clone(),
        ),
        (
            "/dev/apps/{app}/debug/trace/{event}",
            get.clone(),
            "/dev/apps/approval/debug/trace/EVENT",
            null.clone(),
        ),
        ("/dev/apps/{app}/build_graph", get.clone(), "/dev/apps/approval/build_graph", null.clone()),
        (
            "/dev/apps/{app}/build_graph_image",
            get.clone(),
            "/dev/apps/approval/build_graph_image",
            null.clone(),
        ),
        ("/dev/apps/{app}/graph", get.clone(), "/dev/apps/approval/graph", null.clone()),
        (
            "/dev/apps/{app}/users/{user}/sessions/{session}/events/{event}/graph",
            get,
            "/dev/apps/approval/users/ann/sessions/SESSION/events/EVENT/graph",
            null,
        ),
        ("/run", post.clone(), "/run", to_run.clone()),
        ("/run_sse", post, "/run_sse", to_run),
    ]
}

/// The user is the value of a header.
async fn by_header(request: axum::http::request::Parts) -> Result<Caller, Refusal> {
    match request.headers.get("x-user").and_then(|user| user.to_str().ok()) {
        Some(user) => Ok(Caller::user(user)),
        None => Err(Refusal::unauthorized("there is no `x-user`")),
    }
}

#[tokio::test]
async fn no_route_shows_or_changes_what_belongs_to_another_user() {
    let runner = adk::Runner::builder().build().unwrap();
    let served = Served::new(&runner, |server| server.authorize(by_header)).await;
    let ann = |request: RequestBuilder| send(request.header("x-user", "ann"));
    // One that every protocol would show: it was begun by ADK's, in a session that all others call by its whole name.
    let (status, _) = ann(served.post("/apps/approval/users/ann/sessions", &json!({"sessionId": "s"}))).await;
    assert_eq!(status, StatusCode::OK);
    let message = json!({"role": "user", "parts": [{"text": SAID}]});
    let asked = json!({"appName": "approval", "userId": "ann", "sessionId": "s", "newMessage": message});
    let (status, events) = ann(served.post("/run", &asked)).await;
    assert_eq!(status, StatusCode::OK, "{events}");
    let (_, waiting) = ann(served.get("/v1/waiting")).await;
    let wait = &waiting["waiting"][0];
    let (run, id) = (wait["run"].as_str().unwrap(), wait["id"].as_str().unwrap());
    let (session, event) = (wait["session"].as_str().unwrap(), events[0]["id"].as_str().unwrap());
    let all = async || ann(served.get(&format!("/v1/runs/{run}/events"))).await.1;
    let before = all().await;
    assert!(before.to_string().contains(SAID));

    for (_, method, path, body) in walk() {
        let filled = |text: &str| {
            text.replace("RUN", run).replace("WAIT", id).replace("SESSION", session).replace("EVENT", event)
        };
        // ADK knows the session by the end of its name.
        let path =
            filled(&path.replace("SESSION", if path.contains("/sessions/") { "s" } else { "SESSION" }));
        let url = format!("http://{}{path}", served.address);
        let request = served.client.request(method.clone(), url).header("x-user", "bob");
        let request = if body.is_null() {
            request
        } else {
            request.json(&serde_json::from_str::<Value>(&filled(&body.to_string())).unwrap())
        };
        let response = request.header("a2a-version", "1.0").send().await.unwrap();
        let (status, text) = (response.status(), response.text().await.unwrap());
        assert!(!text.contains(SAID), "{method} {path}: {status} {text}");
        assert!(status != StatusCode::INTERNAL_SERVER_ERROR, "{method} {path}: {text}");
    }
    assert_eq!(all().await, before, "nothing has changed");
    let (_, now) = ann(served.get(&format!("/v1/runs/{run}"))).await;
    assert_eq!(now["status"], "paused");
    served.stop().await.unwrap();
}

/// What `.route(...)` has in the sources.
#[test]
fn the_walk_has_every_route() {
    let mut routes = BTreeSet::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            for after in text.split(".route(").skip(1) {
                let first = after.trim_start().trim_start_matches("&format!(");
                let name = first.strip_prefix('"').map_or_else(
                    || first.split(',').next().unwrap().to_owned(),
                    |text| text.split('"').next().unwrap().to_owned(),
                );
                // As `format!` writes them.
                let name = name.replace("{{", "{").replace("}}", "}").replace("{ALL}", "ALL");
                routes.insert(name);
            }
        }
    }
    let walked: BTreeSet<_> = walk().into_iter().map(|(route, ..)| route.to_owned()).collect();
    assert!(routes.len() > 30, "{routes:?}");
    assert_eq!(walked, routes);
}
