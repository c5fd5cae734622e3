//! Who may send requests, from where, and what users see of the workflows.

use crate::support::{Served, no_grace, read, send};
use adk::ErrorKind;
use adk::prelude::*;
use adk::server::{Caller, Refusal};
use reqwest::StatusCode;
use serde_json::{Value, json};

/// Accepts `Bearer NAME`: the operator `op`, `TENANT/USER`, or a user.
async fn by_token(request: axum::http::request::Parts) -> Result<Caller, Refusal> {
    let token = request.headers.get("authorization");
    let token = token.and_then(|token| token.to_str().ok()?.strip_prefix("Bearer "));
    match token {
        None => Err(Refusal::unauthorized("the request has no token")),
        Some("op") => Ok(Caller::operator()),
        Some(user) => Ok(match user.split_once('/') {
            Some((tenant, user)) => Caller::user(user).app(tenant),
            None => Caller::user(user),
        }),
    }
}

async fn authorized(hosts: &[&str]) -> Served {
    let runner = adk::Runner::builder().build().unwrap();
    Served::new(&runner, |server| {
        let server = server.authorize(by_token).limits(no_grace());
        hosts.iter().fold(server, |server, host| server.host(host))
    })
    .await
}

/// Sends a request with a host and an origin, and returns the status.
async fn from_origin(served: &Served, host: &str, origin: &str, scheme: &str) -> StatusCode {
    let request = served.get("/v1/runs").bearer_auth("ann");
    let request = request.header("host", host).header("origin", origin);
    let request = request.header("x-forwarded-proto", scheme);
    request.send().await.unwrap().status()
}

#[tokio::test]
async fn requests_of_other_sites_are_refused() {
    let served = Served::in_memory().await;
    let own = format!("http://{}", served.address);
    for (header, value, status) in [
        ("host", "evil.example", StatusCode::FORBIDDEN),
        ("host", "127.0.0.1.evil.example:80", StatusCode::FORBIDDEN),
        ("host", "localhost", StatusCode::OK),
        ("origin", "https://evil.example", StatusCode::FORBIDDEN),
        ("origin", "null", StatusCode::FORBIDDEN),
        ("origin", "", StatusCode::FORBIDDEN),
        ("origin", "http://localhost:3000", StatusCode::FORBIDDEN),
        ("origin", "http://127.0.0.1:1", StatusCode::FORBIDDEN),
        (
            "origin",
            &own.replace("http", "https"),
            StatusCode::FORBIDDEN,
        ),
        ("origin", &own, StatusCode::OK),
    ] {
        let request = served.get("/v1/runs").header(header, value);
        let got = read(request.send().await.unwrap()).await;
        assert_eq!(got.0, status, "{header}: {value} {}", got.1);
    }
    let odd = reqwest::header::HeaderValue::from_bytes(b"http://evil.example/\xff").unwrap();
    let odd = served.get("/v1/runs").header("origin", odd);
    assert_eq!(send(odd).await.0, StatusCode::FORBIDDEN);
    served.stop().await.unwrap();
}

#[tokio::test]
async fn an_origin_is_a_scheme_a_host_and_a_port() {
    let served = authorized(&["adk.example"]).await;
    for (origin, scheme, is_own) in [
        ("http://adk.example", "http", true),
        ("http://adk.example:80", "http", true),
        ("HTTP://ADK.example", "http", true),
        ("https://adk.example", "https", true),
        ("https://adk.example:443", "https, http", true),
        ("https://adk.example", "http", false),
        ("http://adk.example", "https", false),
        ("http://adk.example:8081", "http", false),
        ("http://localhost:3000", "http", false),
        ("http://127.0.0.1:9999", "http", false),
        ("http://localhost", "http", false),
        ("http://adk.example.evil.example", "http", false),
        ("http://evil.example:443@adk.example", "http", false),
        ("ftp://adk.example", "http", false),
        ("adk.example", "http", false),
        ("null", "http", false),
    ] {
        let status = from_origin(&served, "adk.example", origin, scheme).await;
        assert_eq!(status == StatusCode::OK, is_own, "{origin} {scheme}");
    }
    let with_port = |origin| from_origin(&served, "adk.example:8081", origin, "http");
    assert_eq!(with_port("http://adk.example:8081").await, StatusCode::OK);
    assert_eq!(with_port("http://adk.example").await, StatusCode::FORBIDDEN);
    served.stop().await.unwrap();

    // A listed origin may send requests, and its host is a host of the server.
    let served = authorized(&["https://adk.example:8443", "http://127.0.0.1:3000"]).await;
    let origin = |host, origin| from_origin(&served, host, origin, "http");
    let listed = "https://adk.example:8443";
    assert_eq!(origin("adk.example", listed).await, StatusCode::OK);
    assert_eq!(
        origin("localhost:8000", "http://127.0.0.1:3000").await,
        StatusCode::OK
    );
    for foreign in [
        "https://adk.example",
        "http://adk.example:8443",
        "http://127.0.0.1:3001",
    ] {
        assert_eq!(
            origin("adk.example", foreign).await,
            StatusCode::FORBIDDEN,
            "{foreign}"
        );
    }
    assert_eq!(origin("evil.example", listed).await, StatusCode::FORBIDDEN);
    served.stop().await.unwrap();
}

#[tokio::test]
async fn everyone_is_an_operator_only_by_an_explicit_word() {
    let runner = adk::Runner::builder().build().unwrap();
    let error = adk::serve(&runner).router().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(error.to_string().contains(".open_to_all()"), "{error}");
    let error = adk::serve(&runner).bind("0.0.0.0:0").await.unwrap_err();
    assert!(
        error.to_string().contains("not a loopback address"),
        "{error}"
    );
    drop(adk::serve(&runner).open_to_all().router().unwrap());
    drop(adk::serve(&runner).authorize(by_token).router().unwrap());

    let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = adk::serve(&runner).open_to_all();
    let serving = tokio::spawn(server.serve(listener, std::future::pending()));
    let response = reqwest::get(format!("http://127.0.0.1:{port}/v1/runs")).await;
    assert_eq!(response.unwrap().status(), StatusCode::OK);
    serving.abort();
}

#[tokio::test]
async fn a_probe_needs_no_token_and_no_known_host() {
    let served = authorized(&["adk.example"]).await;
    let probe = |path: &str| served.get(path).header("host", "10.1.2.3:8000").send();
    let (status, body) = read(probe("/health").await.unwrap()).await;
    assert_eq!((status, body), (StatusCode::OK, json!({"status": "ok"})));
    assert_eq!(
        probe("/v1/runs").await.unwrap().status(),
        StatusCode::FORBIDDEN
    );
    let (status, _) = send(served.get("/v1/runs").header("host", "adk.example")).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    served.stop().await.unwrap();
}

adk::workflow! {
    /// Writes, if an editor agrees.
    #[guards(untrusted(topic))]
    pub Guarded(topic: String) -> post: String {
        /// Writes.
        agent writer -> post: String { instruction: "SECRETPROMPT about {topic}" }

        writer;
        /// Is this QUESTION good? {post}
        await decision: bool
    }
}

#[tokio::test]
async fn only_operators_see_prompts_and_audits() {
    let runner = adk::Runner::builder().build().unwrap();
    let served = Served::new(&runner, |server| {
        server.workflow(Guarded::default()).authorize(by_token)
    })
    .await;
    for path in [
        "/v1/workflows",
        "/openapi.json",
        "/a2a/guarded/.well-known/agent-card.json",
        "/apps/guarded/app-info",
        "/dev/apps/guarded/build_graph",
        "/dev/apps/guarded/build_graph_image",
        "/dev/apps/guarded/graph",
    ] {
        let text = async |user| {
            let response = served.get(path).bearer_auth(user).send().await.unwrap();
            response.text().await.unwrap()
        };
        let (ann, operator) = (text("ann").await, text("op").await);
        assert!(!ann.contains("SECRETPROMPT"), "{path}: {ann}");
        let is_tree = path == "/v1/workflows";
        assert_eq!(operator.contains("SECRETPROMPT"), is_tree, "{path}");
        assert!(!ann.contains("\"notSeen\""), "{path}: {ann}");
        assert_eq!(operator.contains("\"notSeen\""), is_tree, "{path}");
        if is_tree {
            assert!(ann.contains("QUESTION") && ann.contains("writer"), "{ann}");
        }
    }
    served.stop().await.unwrap();
}

#[tokio::test]
async fn streams_are_limited_for_each_user_of_each_tenant() {
    let runner = adk::Runner::builder().build().unwrap();
    let mut limits = no_grace();
    limits.streams_per_user = 2;
    let served = Served::new(&runner, |server| server.authorize(by_token).limits(limits)).await;
    let stream = async |user: &str| {
        let body = json!({"topic": "x"});
        let request = served.post("/v1/hanging/runs", &body).bearer_auth(user);
        let request = request.header("accept", "text/event-stream");
        request.send().await.unwrap()
    };
    let kind = |body: Value| body["error"]["kind"].clone();
    let mut open = vec![stream("t1/ann").await, stream("t1/ann").await];
    let (status, refused) = read(stream("t1/ann").await).await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "{refused}");
    assert_eq!(kind(refused), "too_many_streams");
    for user in ["t2/ann", "t1/bob", "ann", "op", "op", "op"] {
        open.push(stream(user).await);
        let status = open.last().unwrap().status();
        assert_eq!(status, StatusCode::OK, "{user}");
    }
    // The refused request has started no run, in any protocol.
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage",
        "params": {"message": message}});
    let call = served.post("/a2a/hanging", &call).bearer_auth("t1/ann");
    let (status, refused) = send(call.header("a2a-version", "1.0")).await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "{refused}");
    let runs = served.get("/v1/runs").bearer_auth("t1/ann");
    let (_, runs) = send(runs).await;
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2, "{runs}");
    // A stream that has ended frees its place.
    drop(open);
    while stream("t1/ann").await.status() != StatusCode::OK {}
    served.stop().await.unwrap();
}

#[tokio::test]
async fn headers_are_checked_before_a_run_starts() {
    let served = Served::in_memory().await;
    for name in ["prefer", "idempotency-key"] {
        let odd = reqwest::header::HeaderValue::from_bytes(b"respond-async\xff").unwrap();
        let request = served.post("/v1/shouting/runs", &json!({"topic": "x"}));
        let (status, error) = send(request.header(name, odd)).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{error}");
    }
    let (_, all) = send(served.get("/v1/runs?status=any")).await;
    assert_eq!(all["runs"], json!([]));
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_refusal_of_an_input_has_a_bounded_size() {
    let served = Served::in_memory().await;
    let many: serde_json::Map<_, _> = (0..50_000).map(|at| (format!("f{at}"), 1.into())).collect();
    let long: serde_json::Map<_, _> = (0..10)
        .map(|at| (format!("{at}{}", "x".repeat(90_000)), 1.into()))
        .collect();
    let value = json!({"topic": vec!["x".repeat(1_000); 900], "times": "y".repeat(10_000)});
    for body in [Value::Object(many), Value::Object(long), value] {
        for path in [
            "/v1/shouting/runs",
            "/a2a/shouting",
            "/mcp",
            "/ag-ui/shouting",
            "/run",
        ] {
            let arguments = json!({"name": "shouting", "arguments": body});
            let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"data": body}]});
            let rpc = |method, params| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            let sent = match path {
                "/a2a/shouting" => rpc("SendMessage", json!({"message": message})),
                "/mcp" => rpc("tools/call", arguments),
                _ => body.clone(),
            };
            let request = served.post(path, &sent).header("a2a-version", "1.0");
            let response = request.send().await.unwrap();
            let (status, text) = (response.status(), response.text().await.unwrap());
            assert!(text.len() < 32_000, "{path}: {status} {} bytes", text.len());
        }
    }
    served.stop().await.unwrap();
}
