//! MCP over streamable HTTP: invalid requests, foreign users, and the client of `adk::mcp`.
//!
//! `cargo test -p adk-workflow-server --test it mcp`; with the official client:
//! `tests/peers/run-clients.sh cargo test -p adk-workflow-server --test it -- --ignored mcp`

use crate::support::{Served, client, no_grace, send, sse};
use adk::mcp::{HttpServer, McpToolset};
use adk::prelude::*;
use adk::server::{Caller, Refusal, Server};
use adk::sqlite::SqliteStore;
use adk::testing::ScriptedModel;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Creates a request that follows the protocol.
fn post(served: &Served, session: Option<&str>, body: &Value) -> RequestBuilder {
    let request = served
        .post("/mcp", body)
        .header("accept", "application/json, text/event-stream");
    match session {
        Some(session) => request.header("mcp-session-id", session),
        None => request,
    }
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }})
}

fn call(id: u32, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

/// Starts a session of a user.
async fn session(served: &Served, user: &str) -> String {
    let response = post(served, None, &initialize())
        .header("x-user", user)
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let session = response.headers()["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned();
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let ready = post(served, Some(&session), &ready)
        .header("x-user", user)
        .send()
        .await
        .unwrap();
    assert_eq!(ready.status(), StatusCode::ACCEPTED);
    session
}

/// Returns the response in a stream.
async fn answer(response: Response) -> Value {
    assert_eq!(response.status(), StatusCode::OK);
    let mut events = sse(&response.text().await.unwrap());
    events.pop().unwrap().2
}

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
async fn invalid_requests_are_refused_with_a_reason() {
    let served = Served::in_memory().await;
    let id = session(&served, "ann").await;
    let id = Some(&*id);
    let deep = "[".repeat(1000) + &"]".repeat(1000);
    let large = "\"".to_owned() + &"x".repeat(2 << 20) + "\"";
    for (request, status) in [
        (
            post(&served, None, &call(1, "shouting", json!({}))),
            StatusCode::BAD_REQUEST,
        ),
        (
            post(&served, Some("e-1"), &call(1, "shouting", json!({}))),
            StatusCode::NOT_FOUND,
        ),
        (
            post(&served, id, &json!({"method": "tools/list"})),
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ),
        (
            post(&served, id, &json!(null)).body("{"),
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ),
        (
            post(&served, id, &json!(null)).body(deep),
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ),
        (
            post(&served, id, &json!(null)).body(large),
            StatusCode::PAYLOAD_TOO_LARGE,
        ),
        (
            served
                .post("/mcp", &initialize())
                .header("accept", "text/plain"),
            StatusCode::NOT_ACCEPTABLE,
        ),
        (
            served.get("/mcp").header("accept", "text/event-stream"),
            StatusCode::BAD_REQUEST,
        ),
        (
            served.get("/mcp").header("host", "evil.example"),
            StatusCode::FORBIDDEN,
        ),
        (
            served
                .post("/mcp", &initialize())
                .header("origin", "http://evil.example"),
            StatusCode::FORBIDDEN,
        ),
        (
            served.client.put(format!("http://{}/mcp", served.address)),
            StatusCode::METHOD_NOT_ALLOWED,
        ),
    ] {
        let (got, error) = send(request).await;
        assert_eq!(got, status, "{error}");
        assert!(
            error["error"]["message"].is_string() && error["error"]["help"].is_string(),
            "{error}"
        );
    }
    for (params, code) in [
        (json!({"name": "nothing"}), -32602),
        (json!({"name": "shouting", "arguments": [1]}), -32601),
        (json!({}), -32601),
    ] {
        let body = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params});
        let error = answer(post(&served, id, &body).send().await.unwrap()).await;
        assert_eq!(error["error"]["code"], code, "{error}");
    }
    let (_, all) = send(served.get("/v1/runs")).await;
    assert_eq!(all["runs"], json!([]), "no run was started");
    served.stop().await.unwrap();
}

#[tokio::test]
async fn no_request_causes_a_server_error() {
    let served = Served::in_memory().await;
    let id = session(&served, "ann").await;
    let bodies = [
        call(1, "shouting", json!({"topic": "cats", "times": 2})).to_string(),
        call(2, "weather", json!({"city": "Bern", "days": 2})).to_string(),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": {"cursor": "x"}})
            .to_string(),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
            .to_string(),
    ];
    let mut random = fastrand::Rng::with_seed(1);
    for round in 0..1000 {
        let mut body = bodies[round % bodies.len()].clone().into_bytes();
        for _ in 0..random.u8(1..4) {
            let at = random.usize(0..body.len());
            match random.u8(0..3) {
                0 => body[at] = random.u8(..),
                1 => drop(body.remove(at)),
                _ => body.insert(at, *random.choice(b"{}[]\",:0").unwrap()),
            }
        }
        let text = String::from_utf8_lossy(&body).into_owned();
        let answer = post(&served, Some(&id), &json!(null))
            .body(body)
            .send()
            .await
            .unwrap();
        assert!(
            !answer.status().is_server_error(),
            "{} to {text}",
            answer.status()
        );
        answer.text().await.unwrap();
    }
    let alive = post(
        &served,
        Some(&id),
        &call(9, "shouting", json!({"topic": "x"})),
    )
    .send()
    .await
    .unwrap();
    assert_eq!(
        self::answer(alive).await["result"]["content"][0]["text"],
        "X"
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_session_belongs_to_one_user() {
    let runner = adk::Runner::builder().build().unwrap();
    let served = Served::new(&runner, |server| server.authorize(by_header)).await;
    let (status, _) = send(post(&served, None, &initialize())).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    let ann = session(&served, "ann").await;
    let shout = call(1, "shouting", json!({"topic": "x"}));
    let response = post(&served, Some(&ann), &shout)
        .header("x-user", "ann")
        .send()
        .await
        .unwrap();
    assert_eq!(answer(response).await["result"]["content"][0]["text"], "X");
    for request in [
        post(&served, Some(&ann), &shout),
        served
            .get("/mcp")
            .header("accept", "text/event-stream")
            .header("mcp-session-id", &ann),
        served.delete("/mcp").header("mcp-session-id", &ann),
    ] {
        let (status, error) = send(request.header("x-user", "bob")).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{error}");
    }
    let (_, all) = send(served.get("/v1/runs").header("x-user", "ann")).await;
    assert_eq!(all["runs"].as_array().unwrap().len(), 1, "{all}");
    let (_, none) = send(served.get("/v1/runs").header("x-user", "bob")).await;
    assert_eq!(none["runs"], json!([]));
    let ended = served
        .delete("/mcp")
        .header("mcp-session-id", &ann)
        .header("x-user", "ann");
    assert!(ended.send().await.unwrap().status().is_success());
    let (status, _) = send(post(&served, Some(&ann), &shout).header("x-user", "ann")).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    served.stop().await.unwrap();
}

#[tokio::test]
async fn an_open_stream_and_an_open_call_do_not_keep_the_server_alive() {
    let runner = adk::Runner::builder().build().unwrap();
    let served = Served::new(&runner, |server| server.limits(no_grace())).await;
    let id = session(&served, "ann").await;
    let stream = served
        .get("/mcp")
        .header("accept", "text/event-stream")
        .header("mcp-session-id", &id);
    let stream = stream.send().await.unwrap();
    let hanging = post(
        &served,
        Some(&id),
        &call(1, "hanging", json!({"topic": "x"})),
    )
    .send()
    .await
    .unwrap();
    assert_eq!(
        (stream.status(), hanging.status()),
        (StatusCode::OK, StatusCode::OK)
    );
    served.stop().await.unwrap();
    let _ = stream.text().await;
    assert!(
        !hanging
            .text()
            .await
            .unwrap_or_default()
            .contains("isError\":false")
    );
}

workflow! {
    /// Asks other tools to shout.
    pub Asking(topic: String) -> answer: String {
        toolset others: McpToolset;

        /// Asks.
        agent asker -> answer: String {
            instruction: "Have this shouted: {topic}",
            tools: [others],
        }

        asker
    }
}

#[tokio::test]
async fn a_workflow_calls_another_workflow_over_mcp() {
    let served = Served::in_memory().await;
    let others = McpToolset::new(
        "others",
        HttpServer::new(format!("http://{}/mcp", served.address)),
    );
    let model = ScriptedModel::new()
        .on("asker")
        .calls([
            ("shouting", json!({"topic": "cats", "times": 2})),
            ("measuring", json!({"text": "a cat"})),
            ("weather", json!({"city": "Atlantis"})),
            ("shouting", json!({"times": 2})),
        ])
        .text("Done.");
    let runner = adk::Runner::builder().model(model.clone()).build().unwrap();
    let outcome = runner.run(&Asking::new(others), "cats").await.unwrap();
    assert_eq!(outcome.output, "Done.");
    let last = model.requests().pop().unwrap();
    let results: Vec<_> = last
        .contents
        .iter()
        .flat_map(|content| &content.parts)
        .collect();
    let results = format!("{results:?}");
    for part in [
        "CATS CATS",
        "\"letters\": Number(4)",
        "there is no such city",
        "topic",
    ] {
        assert!(results.contains(part), "{part} in {results}");
    }
    let (_, all) = send(served.get("/v1/runs?status=finished")).await;
    assert_eq!(all["runs"].as_array().unwrap().len(), 2, "{all}");
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_question_of_a_remote_workflow_is_answered_locally() {
    let served = Served::in_memory().await;
    let address = HttpServer::new(format!("http://{}/mcp", served.address));
    let asking = Asking::new(McpToolset::new("others", address).elicitation(true));
    let model = ScriptedModel::new()
        .on("asker")
        .call("approval", json!({"topic": "cats"}))
        .text("Done.");
    let runner = adk::Runner::builder()
        .model(model.clone())
        .engine(adk::engine::MemoryJournal::new());
    let runner = runner.build().unwrap();
    let mut stream = runner.run(&asking, "cats").stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    let adk::RunEnd::Paused(waiting) = stream.end() else {
        panic!("the run does not wait")
    };
    let question =
        "The server of `others` asks in a call of `approval`: May this be published? CATS CATS";
    assert_eq!(waiting[0].question, question);
    runner
        .answer(
            &waiting[0].id,
            json!({"answer": "Revise", "note": "shorter"}),
        )
        .await
        .unwrap();
    assert_eq!(
        runner
            .resume(&asking, waiting[0].run_id)
            .await
            .unwrap()
            .output,
        "Done."
    );
    let last = model.requests().pop().unwrap();
    assert!(
        format!("{:?}", last.contents).contains("CATS CATS (shorter)"),
        "{:?}",
        last.contents
    );
    let (_, there) = send(served.get("/v1/runs?status=finished&workflow=approval")).await;
    assert_eq!(there["runs"].as_array().unwrap().len(), 1, "{there}");
    served.stop().await.unwrap();
}

/// The addresses of the servers behind a balancer, and the number of requests so far.
type Balanced = State<Arc<([SocketAddr; 2], AtomicUsize)>>;

/// Sends each request to the next server.
async fn balance(State(servers): Balanced, request: Request) -> axum::response::Response {
    let (addresses, next) = &*servers;
    let address = addresses[next.fetch_add(1, Relaxed) % 2];
    let (parts, body) = request.into_parts();
    let reply = reqwest::Client::new()
        .request(parts.method, format!("http://{address}{}", parts.uri))
        .headers(parts.headers)
        .body(to_bytes(body, 1 << 20).await.unwrap());
    let reply = reply.send().await.unwrap();
    let mut response = axum::response::Response::builder().status(reply.status());
    for name in ["content-type", "mcp-session-id"] {
        if let Some(value) = reply.headers().get(name) {
            response = response.header(name, value);
        }
    }
    let body = axum::body::Body::from_stream(reply.bytes_stream());
    response.body(body).unwrap()
}

#[tokio::test]
async fn two_servers_serve_a_client_in_turns_without_sessions() {
    let name = format!("adk-server-mcp-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let server = async || {
        let store = SqliteStore::open(folder.join("runs.db")).await.unwrap();
        let runner = adk::Runner::builder().store(store).build().unwrap();
        Served::new(&runner, Server::mcp_stateless).await
    };
    let (one, two) = (server().await, server().await);

    let begun = post(&one, None, &initialize()).send().await.unwrap();
    assert!(!begun.headers().contains_key("mcp-session-id"));
    assert_eq!(
        answer(begun).await["result"]["protocolVersion"],
        "2025-11-25"
    );
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let ready = post(&two, None, &ready).send().await.unwrap();
    assert_eq!(ready.status(), StatusCode::ACCEPTED);
    // A client may still have the id of a session.
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let tools = answer(post(&one, Some("earlier"), &list).send().await.unwrap()).await;
    assert!(tools.to_string().contains("shouting"), "{tools}");
    // What needs a session is refused.
    for request in [
        two.get("/mcp").header("accept", "text/event-stream"),
        two.delete("/mcp"),
    ] {
        let (status, error) = send(request).await;
        assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED, "{error}");
    }
    // The result of a run that waits names the wait, and the other server answers it.
    let asks = call(2, "approval", json!({"topic": "cats"}));
    let waits = answer(post(&two, None, &asks).send().await.unwrap()).await;
    let waits = &waits["result"];
    assert_eq!(waits["isError"], true, "{waits}");
    let path = format!("/v1/runs/{}", waits["_meta"]["adk/run"].as_str().unwrap());
    let (_, paused) = send(one.get(&path)).await;
    let wait = paused["waiting"][0]["id"].as_str().unwrap();
    assert!(waits.to_string().contains(wait), "{waits}");
    let answers = one.post(&format!("/v1/waiting/{wait}"), &json!("Publish"));
    assert_eq!(send(answers).await.0, StatusCode::ACCEPTED);

    let servers = Arc::new(([one.address, two.address], AtomicUsize::new(0)));
    let router = axum::Router::new()
        .fallback(balance)
        .with_state(servers.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let balancer = tokio::spawn(async move { axum::serve(listener, router).await });
    let others = McpToolset::new("others", HttpServer::new(format!("http://{address}/mcp")));
    let model = ScriptedModel::new()
        .on("asker")
        .call("shouting", json!({"topic": "dogs"}))
        .call("shouting", json!({"topic": "owls"}))
        .text("Done.");
    let runner = adk::Runner::builder().model(model.clone()).build().unwrap();
    runner.run(&Asking::new(others), "go").await.unwrap();
    let results = format!("{:?}", model.requests().pop().unwrap().contents);
    for part in ["DOGS", "OWLS"] {
        assert!(results.contains(part), "{part} in {results}");
    }
    assert!(servers.1.load(Relaxed) >= 4, "both servers have served");
    balancer.abort();
    one.stop().await.unwrap();
    two.stop().await.unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn only_users_without_sessions_are_removed() {
    let runner = adk::Runner::builder().build().unwrap();
    let served = Served::new(&runner, |server| server.authorize(by_header)).await;
    let ann = session(&served, "ann").await;
    for number in 0..100 {
        let user = format!("user-{number}");
        let own = session(&served, &user).await;
        let ended = served
            .delete("/mcp")
            .header("mcp-session-id", own)
            .header("x-user", user);
        assert!(ended.send().await.unwrap().status().is_success());
    }
    let shout = call(1, "shouting", json!({"topic": "x"}));
    let response = post(&served, Some(&ann), &shout)
        .header("x-user", "ann")
        .send()
        .await
        .unwrap();
    assert_eq!(answer(response).await["result"]["content"][0]["text"], "X");
    served.stop().await.unwrap();
}

#[tokio::test]
async fn sessions_and_runs_of_a_user_are_limited() {
    let runner = adk::Runner::builder().build().unwrap();
    let mut limits = no_grace();
    limits.runs_per_user = 1;
    let served = Served::new(&runner, |server| server.authorize(by_header).limits(limits)).await;
    let mut ann = session(&served, "ann").await;
    // The longest silent session makes room for a new one.
    let silent = std::mem::replace(&mut ann, session(&served, "ann").await);
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let lists = |session: &str| {
        post(&served, Some(session), &list)
            .header("x-user", "ann")
            .send()
    };
    assert_eq!(
        lists(&silent).await.unwrap().status(),
        StatusCode::NOT_FOUND
    );
    assert_eq!(lists(&ann).await.unwrap().status(), StatusCode::OK);
    let bob = session(&served, "bob").await;
    let called = |session, user, body| {
        post(&served, Some(session), &body)
            .header("x-user", user)
            .send()
    };
    let _hanging = called(&*ann, "ann", call(1, "hanging", json!({"topic": "x"})))
        .await
        .unwrap();
    let shout = || call(2, "shouting", json!({"topic": "x"}));
    // Wait until the run of the first call is listed.
    while send(served.get("/v1/runs").header("x-user", "ann")).await.1["runs"] == json!([]) {}
    let refused = answer(called(&*ann, "ann", shout()).await.unwrap()).await;
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert!(
        refused["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("limit of 1 concurrent runs\nhelp: ")
    );
    let reply = answer(called(&*bob, "bob", shout()).await.unwrap()).await;
    assert_eq!(reply["result"]["content"][0]["text"], "X");
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_session_with_requests_outlives_silent_ones() {
    let runner = adk::Runner::builder().build().unwrap();
    let mut limits = no_grace();
    limits.runs_per_user = 3;
    let served = Served::new(&runner, |server| server.authorize(by_header).limits(limits)).await;
    let used = session(&served, "ann").await;
    let bob = session(&served, "bob").await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let status = async |session: &str, user: &str| {
        let request = post(&served, Some(session), &list).header("x-user", user);
        request.send().await.unwrap().status()
    };
    // No session is ended by a client.
    for _ in 0..10 {
        session(&served, "ann").await;
        assert_eq!(status(&used, "ann").await, StatusCode::OK);
    }
    // Requests without a session end none.
    for body in [&list, &json!({})] {
        let refused = post(&served, None, body)
            .header("x-user", "ann")
            .send()
            .await;
        assert!(refused.unwrap().status().is_client_error());
    }
    assert_eq!(status(&used, "ann").await, StatusCode::OK);
    assert_eq!(status(&bob, "bob").await, StatusCode::OK);
    served.stop().await.unwrap();
}

#[test]
#[ignore = "needs the official client: tests/peers/run-clients.sh"]
fn the_official_client_calls_tools_over_http() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let served = runtime.block_on(Served::in_memory());
    let url = format!("http://{}", served.address);
    client("mcp.mjs", |node| node.arg("http").arg(&url))
        .unwrap_or_else(|output| panic!("{output}"));
    runtime.block_on(served.stop()).unwrap();
}
