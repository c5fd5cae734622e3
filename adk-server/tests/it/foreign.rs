//! Requests to every route with the ids of another user: no response shows data of that user, and
//! no request changes it.

use crate::support::{Served, send};
use adk::server::{Caller, Refusal};
use reqwest::{RequestBuilder, StatusCode};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A word that only Ann's run contains.
const SECRET: &str = "UNICORNS";

/// The routes as the sources write them, each with a request of Bob for Ann's data: a method, a
/// path and a body. `RUN`, `WAIT`, `SESSION` and `EVENT` are placeholders for her ids; `SHORT` is
/// ADK's id of the session.
const WALK: &[(&str, &str, &str, &str)] = &[
    ("/", "GET", "/", ""),
    ("/health", "GET", "/health", ""),
    ("/openapi.json", "GET", "/openapi.json", ""),
    ("/v1/workflows", "GET", "/v1/workflows", ""),
    (
        "/v1/{workflow}/runs",
        "POST",
        "/v1/approval/runs?user=ann",
        r#"{"topic": "dogs"}"#,
    ),
    (
        "/v1/{workflow}/runs",
        "POST",
        "/v1/approval/runs?session=SESSION",
        r#"{"topic": "dogs"}"#,
    ),
    ("/v1/runs", "GET", "/v1/runs", ""),
    ("/v1/runs", "GET", "/v1/runs?user=ann", ""),
    ("/v1/runs", "GET", "/v1/runs?session=SESSION", ""),
    ("/v1/runs/{run}", "GET", "/v1/runs/RUN", ""),
    ("/v1/runs/{run}", "DELETE", "/v1/runs/RUN", ""),
    ("/v1/runs/{run}/events", "GET", "/v1/runs/RUN/events", ""),
    ("/v1/waiting", "GET", "/v1/waiting", ""),
    ("/v1/waiting", "GET", "/v1/waiting?user=ann", ""),
    (
        "/v1/waiting/{*wait}",
        "POST",
        "/v1/waiting/WAIT",
        r#""Publish""#,
    ),
    (
        "/ag-ui/{workflow}",
        "POST",
        "/ag-ui/approval",
        r#"{"threadId": "SESSION", "runId": "r", "messages": [], "state": {}, "tools": [], "context": [], "resume": [{"interruptId": "WAIT", "status": "resolved", "payload": "Publish"}]}"#,
    ),
    (
        "/a2a/{workflow}/.well-known/agent-card.json",
        "GET",
        "/a2a/approval/.well-known/agent-card.json",
        "",
    ),
    (
        "/a2a/{workflow}",
        "POST",
        "/a2a/approval",
        r#"{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "RUN"}}"#,
    ),
    (
        "/a2a/{workflow}",
        "POST",
        "/a2a/approval",
        r#"{"jsonrpc": "2.0", "id": 1, "method": "CancelTask", "params": {"id": "RUN"}}"#,
    ),
    (
        "/a2a/{workflow}",
        "POST",
        "/a2a/approval",
        r#"{"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {"contextId": "SESSION"}}"#,
    ),
    (
        "/a2a/{workflow}",
        "POST",
        "/a2a/approval",
        r#"{"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": "RUN"}}"#,
    ),
    (
        "/a2a/{workflow}/",
        "POST",
        "/a2a/approval/",
        r#"{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"messageId": "b", "taskId": "RUN", "role": "ROLE_USER", "parts": [{"text": "Publish"}]}}}"#,
    ),
    (
        "/mcp",
        "POST",
        "/mcp",
        r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"#,
    ),
    ("/list-apps", "GET", "/list-apps", ""),
    ("/version", "GET", "/version", ""),
    ("/config/telemetry", "GET", "/config/telemetry", ""),
    ("/apps/{app}/app-info", "GET", "/apps/approval/app-info", ""),
    (
        "/dev/apps/{app}/builder",
        "GET",
        "/dev/apps/approval/builder",
        "",
    ),
    (
        "/apps/{app}/users/{user}/sessions",
        "GET",
        "/apps/approval/users/ann/sessions",
        "",
    ),
    (
        "/apps/{app}/users/{user}/sessions",
        "POST",
        "/apps/approval/users/ann/sessions",
        r#"{"sessionId": "x"}"#,
    ),
    (
        "/apps/{app}/users/{user}/sessions/{session}",
        "GET",
        "/apps/approval/users/ann/sessions/SHORT",
        "",
    ),
    (
        "/apps/{app}/users/{user}/sessions/{session}",
        "GET",
        "/apps/approval/users/bob/sessions/SHORT",
        "",
    ),
    (
        "/apps/{app}/users/{user}/sessions/{session}",
        "DELETE",
        "/apps/approval/users/ann/sessions/SHORT",
        "",
    ),
    (
        "/apps/{app}/users/{user}/sessions/{session}",
        "PATCH",
        "/apps/approval/users/ann/sessions/SHORT",
        r#"{"stateDelta": {"topic": "dogs"}}"#,
    ),
    (
        "/apps/{app}/users/{user}/memory",
        "PATCH",
        "/apps/approval/users/ann/memory",
        r#"{"session_id": "SHORT"}"#,
    ),
    (
        "ALL",
        "GET",
        "/apps/approval/users/ann/sessions/SHORT/artifacts",
        "",
    ),
    (
        "ALL/{*file}",
        "GET",
        "/apps/approval/users/ann/sessions/SHORT/artifacts/a",
        "",
    ),
    (
        "ALL/{*file}",
        "DELETE",
        "/apps/approval/users/ann/sessions/SHORT/artifacts/a",
        "",
    ),
    ("/dev-ui", "GET", "/dev-ui", ""),
    ("/dev-ui/", "GET", "/dev-ui/", ""),
    (
        "CONFIG",
        "GET",
        "/dev-ui/assets/config/runtime-config.json",
        "",
    ),
    ("/dev-ui/{*file}", "GET", "/dev-ui/main.js", ""),
    (
        "/dev/apps/{app}/{path}",
        "GET",
        "/dev/apps/approval/eval_sets",
        "",
    ),
    (
        "/dev/apps/{app}/debug/trace/session/{session}",
        "GET",
        "/dev/apps/approval/debug/trace/session/SHORT",
        "",
    ),
    (
        "/dev/apps/{app}/debug/trace/{event}",
        "GET",
        "/dev/apps/approval/debug/trace/EVENT",
        "",
    ),
    (
        "/dev/apps/{app}/build_graph",
        "GET",
        "/dev/apps/approval/build_graph",
        "",
    ),
    (
        "/dev/apps/{app}/build_graph_image",
        "GET",
        "/dev/apps/approval/build_graph_image",
        "",
    ),
    (
        "/dev/apps/{app}/graph",
        "GET",
        "/dev/apps/approval/graph",
        "",
    ),
    (
        "/dev/apps/{app}/users/{user}/sessions/{session}/events/{event}/graph",
        "GET",
        "/dev/apps/approval/users/ann/sessions/SHORT/events/EVENT/graph",
        "",
    ),
    (
        "/run",
        "POST",
        "/run",
        r#"{"appName": "approval", "userId": "ann", "sessionId": "SHORT", "newMessage": {"role": "user", "parts": [{"text": "dogs"}]}}"#,
    ),
    (
        "/run_sse",
        "POST",
        "/run_sse",
        r#"{"appName": "approval", "userId": "ann", "sessionId": "SHORT", "newMessage": {"role": "user", "parts": [{"text": "dogs"}]}}"#,
    ),
];

/// Reads the user from a header.
async fn by_header(request: axum::http::request::Parts) -> Result<Caller, Refusal> {
    match request
        .headers
        .get("x-user")
        .and_then(|user| user.to_str().ok())
    {
        Some(user) => Ok(Caller::user(user)),
        None => Err(Refusal::unauthorized("the header `x-user` is missing")),
    }
}

#[tokio::test]
async fn no_route_shows_or_changes_what_belongs_to_another_user() {
    let runner = adk::Runner::builder().build().unwrap();
    let served = Served::new(&runner, |server| server.authorize(by_header)).await;
    let ann = |request: RequestBuilder| send(request.header("x-user", "ann"));
    // A run that every protocol could show: an ADK request starts it, and its session has an id for
    // the other protocols too.
    let (status, _) = ann(served.post(
        "/apps/approval/users/ann/sessions",
        &json!({"sessionId": "s"}),
    ))
    .await;
    assert_eq!(status, StatusCode::OK);
    let message = json!({"role": "user", "parts": [{"text": SECRET}]});
    let asked =
        json!({"appName": "approval", "userId": "ann", "sessionId": "s", "newMessage": message});
    let (status, events) = ann(served.post("/run", &asked)).await;
    assert_eq!(status, StatusCode::OK, "{events}");
    let (_, waiting) = ann(served.get("/v1/waiting")).await;
    let wait = &waiting["waiting"][0];
    let (run, id) = (wait["run"].as_str().unwrap(), wait["id"].as_str().unwrap());
    let (session, event) = (
        wait["session"].as_str().unwrap(),
        events[0]["id"].as_str().unwrap(),
    );
    let all = async || ann(served.get(&format!("/v1/runs/{run}/events"))).await.1;
    let before = all().await;
    assert!(before.to_string().contains(SECRET));

    for (_, method, path, body) in WALK {
        let fill = |text: &str| {
            [
                ("RUN", run),
                ("WAIT", id),
                ("SESSION", session),
                ("SHORT", "s"),
                ("EVENT", event),
            ]
            .iter()
            .fold(text.to_owned(), |text, (name, value)| {
                text.replace(name, value)
            })
        };
        let (path, body) = (fill(path), fill(body));
        let request = served.client.request(
            method.parse().unwrap(),
            format!("http://{}{path}", served.address),
        );
        let request = request.header("x-user", "bob").header("a2a-version", "1.0");
        let request = if body.is_empty() {
            request
        } else {
            request
                .header("content-type", "application/json")
                .body(body)
        };
        let response = request.send().await.unwrap();
        let (status, text) = (response.status(), response.text().await.unwrap());
        assert!(!text.contains(SECRET), "{method} {path}: {status} {text}");
        assert!(
            status != StatusCode::INTERNAL_SERVER_ERROR,
            "{method} {path}: {text}"
        );
    }
    assert_eq!(all().await, before, "the run has not changed");
    let (_, now) = ann(served.get(&format!("/v1/runs/{run}"))).await;
    assert_eq!(now["status"], "paused");
    served.stop().await.unwrap();
}

/// Compares the walk with all `.route(...)` calls in the sources.
#[test]
fn the_walk_covers_every_route() {
    let mut routes = BTreeSet::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<_> = ["adk-server", "adk-web", "adk-ag-ui"]
        .iter()
        .map(|name| root.join(name).join("src"))
        .collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let is_code = |line: &&str| !line.trim_start().starts_with("//");
            let text: String = text.lines().filter(is_code).collect();
            for after in text.split(".route(").skip(1) {
                let first = after.trim_start().trim_start_matches("&format!(");
                let name = first.strip_prefix('"').map_or_else(
                    || first.split(',').next().unwrap().to_owned(),
                    |text| text.split('"').next().unwrap().to_owned(),
                );
                // `format!` unescapes the braces.
                let name = name
                    .replace("{{", "{")
                    .replace("}}", "}")
                    .replace("{ALL}", "ALL");
                routes.insert(name);
            }
        }
    }
    let walked: BTreeSet<_> = WALK.iter().map(|(route, ..)| (*route).to_owned()).collect();
    assert!(routes.len() > 30, "{routes:?}");
    assert_eq!(walked, routes);
}
