//! Sends 10,000 requests that differ from valid ones by a few random changes. No request may cause
//! a panic or the status 500, and the server must continue.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod support;

use futures_util::StreamExt;
use futures_util::stream;
use reqwest::StatusCode;
use serde_json::json;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::{Served, send};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const REQUESTS: usize = 10_000;

/// Valid requests: method, path, additional headers and body. `RUN` and `WAIT` are placeholders for
/// the ids of a waiting run.
const GOOD: &[(&str, &str, &str, &str)] = &[
    ("GET", "/health", "", ""),
    ("GET", "/openapi.json", "", ""),
    ("GET", "/v1/workflows", "", ""),
    (
        "POST",
        "/v1/shouting/runs",
        "",
        r#"{"topic": "cats", "times": 2}"#,
    ),
    (
        "POST",
        "/v1/shouting/runs?session=s&user=u",
        "Idempotency-Key: k\r\n",
        r#"{"topic": "cats"}"#,
    ),
    (
        "POST",
        "/v1/shouting/runs",
        "Accept: text/event-stream\r\n",
        r#"{"topic": "cats"}"#,
    ),
    (
        "POST",
        "/v1/approval/runs",
        "Prefer: respond-async\r\n",
        r#"{"topic": "cats", "times": 1}"#,
    ),
    ("POST", "/v1/failing/runs", "", r#"{"topic": "cats"}"#),
    (
        "GET",
        "/v1/runs?status=finished&workflow=shouting&limit=3&user=user",
        "",
        "",
    ),
    ("GET", "/v1/runs/RUN", "", ""),
    (
        "GET",
        "/v1/runs/RUN/events?after=019a0000-0000-7000-8000-000000000000",
        "",
        "",
    ),
    (
        "GET",
        "/v1/runs/RUN/events",
        "Accept: text/event-stream\r\nLast-Event-ID: 019a0000-0000-7000-8000-000000000000\r\n",
        "",
    ),
    (
        "DELETE",
        "/v1/runs/e-019a0000-0000-7000-8000-000000000000",
        "",
        "",
    ),
    ("GET", "/v1/waiting?session=s", "", ""),
    (
        "GET",
        "/a2a/approval/.well-known/agent-card.json",
        "X-Forwarded-Proto: https\r\n",
        "",
    ),
    (
        "POST",
        "/a2a/approval",
        "A2A-Version: 1.0\r\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"cats"},{"data":{"times":2}}]},"configuration":{"historyLength":1}}}"#,
    ),
    (
        "POST",
        "/a2a/approval/",
        "A2A-Version: 1.0\r\n",
        r#"{"jsonrpc":"2.0","id":"s","method":"SendStreamingMessage","params":{"message":{"messageId":"n","taskId":"RUN","role":"ROLE_USER","parts":[{"text":"perhaps"}],"metadata":{"wait":"WAIT"}}}}"#,
    ),
    (
        "POST",
        "/a2a/approval",
        "A2A-Version: 1.0\r\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"pageSize":2,"status":"TASK_STATE_INPUT_REQUIRED","statusTimestampAfter":"2026-11-26T12:00:00Z","pageToken":"1.e-019a0000-0000-7000-8000-000000000000"}}"#,
    ),
    (
        "POST",
        "/a2a/approval",
        "A2A-Version: 1.0\r\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"RUN"}}"#,
    ),
    (
        "POST",
        "/v1/waiting/WAIT",
        "",
        r#"{"Revise": {"note": "shorter"}}"#,
    ),
    (
        "POST",
        "/ag-ui/shouting",
        "",
        r#"{"threadId": "t", "runId": "r", "messages": [{"role": "user", "content": [{"type": "text", "text": "cats"}]}], "state": {"times": 2}}"#,
    ),
    (
        "POST",
        "/ag-ui/approval",
        "",
        r#"{"threadId": "t", "runId": "r", "messages": [], "resume": [{"interruptId": "WAIT", "status": "resolved", "payload": "Publish"}]}"#,
    ),
    ("GET", "/list-apps?detailed=true", "", ""),
    (
        "POST",
        "/apps/shouting/users/user/sessions",
        "",
        r#"{"sessionId": "s", "state": {"k": 1}, "events": []}"#,
    ),
    (
        "PATCH",
        "/apps/shouting/users/user/sessions/s",
        "",
        r#"{"stateDelta": {"k": [null], "user:n": 2}}"#,
    ),
    ("GET", "/apps/shouting/users/user/sessions/s", "", ""),
    (
        "POST",
        "/apps/shouting/users/user/sessions",
        "",
        r#"{"events": [{"author": "a", "content": {"role": "model", "parts": [{"text": "x"}]}, "timestamp": 1.5}]}"#,
    ),
    (
        "POST",
        "/apps/shouting/users/user/sessions/s/artifacts",
        "",
        r#"{"filename": "a/b", "artifact": {"inlineData": {"mimeType": "a/b", "data": "QQ=="}}}"#,
    ),
    (
        "GET",
        "/apps/shouting/users/user/sessions/s/artifacts/a/b/versions/0/metadata",
        "",
        "",
    ),
    (
        "POST",
        "/run_sse",
        "",
        r#"{"appName": "shouting", "userId": "user", "sessionId": "s", "streaming": true, "stateDelta": {"a": 1},
            "newMessage": {"role": "user", "parts": [{"text": "cats"}]}}"#,
    ),
    (
        "POST",
        "/run",
        "",
        r#"{"appName": "shouting", "userId": "user", "sessionId": "s", "newMessage": {"role": "user",
            "parts": [{"functionResponse": {"id": "WAIT", "name": "adk_request_input", "response": {"result": "x"}}}]}}"#,
    ),
    (
        "GET",
        "/dev/apps/shouting/build_graph_image?dark_mode=true&node=shouting/shout",
        "",
        "",
    ),
    ("GET", "/dev/apps/shouting/debug/trace/session/s", "", ""),
    ("GET", "/dev-ui/assets/config/runtime-config.json", "", ""),
];

/// Words that are inserted at random places.
const WORDS: &[&str] = &[
    "null",
    "{}",
    "[]",
    "\"",
    "{",
    "}",
    "\\u0000",
    "\\ud800",
    "-1",
    "1e999",
    "18446744073709551616",
    "%00",
    "%2e%2e%2f",
    "../",
    "//",
    "?",
    "&",
    "=",
    "#",
    "\r\n",
    "\0",
    "é",
    "😀",
    "$secret",
    "user:",
    "app:",
    "temp:",
    "*",
    "'; drop table",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_causes_a_panic_or_a_500() {
    let panics = Arc::new(AtomicUsize::new(0));
    let (count, before) = (panics.clone(), panic::take_hook());
    panic::set_hook(Box::new(move |info| {
        count.fetch_add(1, Ordering::Relaxed);
        before(info);
    }));
    let served = Served::in_memory().await;
    let (_, run) = send(served.post("/v1/approval/runs", &json!({"topic": "cats"}))).await;
    let (id, wait) = (
        run["run"].as_str().unwrap(),
        run["waiting"][0]["id"].as_str().unwrap(),
    );
    let mut random = fastrand::Rng::with_seed(34);
    let requests: Vec<_> = (0..REQUESTS)
        .map(|_| request(&mut random, id, wait))
        .collect();
    let address = served.address;
    let answers = stream::iter(requests).map(|bytes| async move {
        let status = ask(address, &bytes).await;
        (status, bytes)
    });
    let mut seen = std::collections::BTreeMap::new();
    let mut answers = answers.buffer_unordered(16);
    while let Some((status, bytes)) = answers.next().await {
        *seen.entry(status).or_insert(0_usize) += 1;
        assert_ne!(status, Some(500), "{}", String::from_utf8_lossy(&bytes));
    }
    assert_eq!(panics.load(Ordering::Relaxed), 0);
    // Enough requests reach the handlers.
    for status in [200, 400, 404, 405, 422] {
        assert!(
            seen.get(&Some(status)).is_some_and(|count| *count > 20),
            "{status}: {seen:?}"
        );
    }
    let (status, run) = send(served.post("/v1/shouting/runs", &json!({"topic": "cats"}))).await;
    assert_eq!((status, &run["output"]), (StatusCode::OK, &json!("CATS")));
    served.stop().await.unwrap();
}

/// Returns a valid request with up to three changes.
fn request(random: &mut fastrand::Rng, run: &str, wait: &str) -> Vec<u8> {
    let (method, path, headers, body) = GOOD[random.usize(..GOOD.len())];
    let methods = ["GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"];
    let method = if random.u8(..20) == 0 {
        methods[random.usize(..methods.len())]
    } else {
        method
    };
    let fill = |text: &str| text.replace("RUN", run).replace("WAIT", wait);
    let (path, body) = (fill(path), fill(body));
    let mut parts = [
        path.into_bytes(),
        headers.as_bytes().to_vec(),
        body.into_bytes(),
    ];
    for _ in 0..random.usize(..4) {
        let which = random.usize(..parts.len());
        change(random, &mut parts[which]);
    }
    let [path, headers, body] = parts;
    let length = if random.u8(..30) == 0 {
        random.usize(..100)
    } else {
        body.len()
    };
    let mut bytes = method.as_bytes().to_vec();
    bytes.push(b' ');
    bytes.extend(path);
    bytes.extend(b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    bytes.extend(headers);
    bytes.extend(format!("Content-Length: {length}\r\n\r\n").into_bytes());
    bytes.extend(body);
    bytes
}

fn change(random: &mut fastrand::Rng, bytes: &mut Vec<u8>) {
    let at = random.usize(..=bytes.len());
    match random.u8(..5) {
        0 if at < bytes.len() => bytes[at] = random.u8(..),
        1 => drop(bytes.drain(at..random.usize(at..=bytes.len()))),
        2 => {
            let end = random.usize(at..=bytes.len());
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        3 => bytes.truncate(at),
        _ => {
            let word = WORDS[random.usize(..WORDS.len())];
            bytes.splice(at..at, word.bytes());
        }
    }
}

/// Returns the status of the response, or `None` if the server closes the connection.
async fn ask(address: std::net::SocketAddr, bytes: &[u8]) -> Option<u16> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may close the connection before the request is complete.
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let text = String::from_utf8_lossy(&answer);
    text.split(' ').nth(1)?.parse().ok()
}
