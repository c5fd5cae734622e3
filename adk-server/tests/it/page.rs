//! The web page, as a browser loads it and in Chromium.

use crate::support::{Hanging, Served, magazine, no_grace, send};
use adk::server::{Caller, Refusal};
use adk::sqlite::SqliteStore;
use futures_util::StreamExt;
use reqwest::StatusCode;
use serde_json::json;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

#[tokio::test]
async fn the_page_runs_only_its_own_script() {
    let served = Served::in_memory().await;
    let get = async || {
        let response = served.get("/").send().await.unwrap();
        let policy = response.headers()["content-security-policy"]
            .to_str()
            .unwrap()
            .to_owned();
        (policy, response.text().await.unwrap())
    };
    let (policy, page) = get().await;
    assert!(
        policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"),
        "{policy}"
    );
    let nonce = policy
        .split_once("script-src 'nonce-")
        .unwrap()
        .1
        .split_once('\'')
        .unwrap()
        .0;
    assert_eq!(nonce.len(), 32);
    let own = format!(" nonce=\"{nonce}\"");
    let blocks = page.matches("<script").count() + page.matches("<style").count();
    assert_eq!((blocks, page.matches(&own).count()), (3, 3));
    assert!(!page.contains("NONCE"));
    // The only address is the namespace of the icon.
    assert_eq!(
        page.matches("://").count(),
        1,
        "the page loads nothing from other servers"
    );
    assert_ne!(get().await.0, policy, "each response has its own nonce");
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_late_follower_sees_the_open_steps() {
    let served = Served::in_memory().await;
    let request = served
        .post("/v1/hanging/runs", &json!({"topic": "x"}))
        .header("prefer", "respond-async");
    let (_, run) = send(request).await;
    let path = format!("/v1/runs/{}", run["run"].as_str().unwrap());
    let stream = served
        .get(&format!("{path}/events"))
        .header("accept", "text/event-stream");
    let mut stream = stream.send().await.unwrap().bytes_stream();
    let mut text = String::new();
    // The stream does not end, so a missing event would block the test.
    while !text.contains(r#""nodeInfo":{"path":"hanging/hangs"}"#) {
        text.push_str(&String::from_utf8_lossy(
            &stream.next().await.unwrap().unwrap(),
        ));
    }
    let (_, seen) = send(served.get(&path)).await;
    let (_, all) = send(served.get("/v1/runs")).await;
    for run in [&seen, &all["runs"][0]] {
        assert_eq!(run["steps"][1]["path"], "hanging/hangs", "{run}");
    }
    let (_, one) = send(served.get(&format!("{path}/events?limit=1"))).await;
    assert_eq!(one["events"].as_array().unwrap().len(), 1);
    assert_eq!(
        one["events"][0]["actions"]["stateDelta"],
        json!({"topic": "x"})
    );
    let (_, cancelled) = send(served.delete(&path)).await;
    assert_eq!(cancelled["status"], "cancelled");
    served.stop().await.unwrap();
}

/// Ends for one topic, and hangs for the others.
#[adk::agent(writes = note)]
async fn notes(topic: String) -> String {
    if topic != "a" {
        std::future::pending::<()>().await;
    }
    topic
}

adk::workflow! {
    /// Notes topics.
    pub Noting(topics: Vec<String>) -> note: Vec<String> {
        each topic in topics < notes >
    }
}

#[tokio::test]
async fn a_late_follower_sees_the_progress_of_an_each() {
    let runner = adk::Runner::builder().build().unwrap();
    let served = Served::new(&runner, |server| server.workflow(Noting::default())).await;
    let request = served
        .post("/v1/noting/runs", &json!({"topics": ["x", "a", "y"]}))
        .header("prefer", "respond-async");
    let (_, run) = send(request).await;
    let path = format!("/v1/runs/{}", run["run"].as_str().unwrap());
    let is_progress = |line: &str| {
        let data = line.strip_prefix("data: ").unwrap_or_default();
        let event: serde_json::Value = serde_json::from_str(data).unwrap_or_default();
        let lifecycle = &event["customMetadata"]["lifecycle"];
        lifecycle["phase"] == "progress" && lifecycle["ended"] == 1 && lifecycle["total"] == 3
    };
    // The second stream begins after the progress, which it gets nevertheless.
    for _ in 0..2 {
        let stream = served
            .get(&format!("{path}/events"))
            .header("accept", "text/event-stream");
        let mut stream = stream.send().await.unwrap().bytes_stream();
        let mut text = String::new();
        while !text.lines().any(is_progress) {
            assert!(text.len() < 100_000 && !text.contains("\n\n:"), "{text}");
            let more = tokio::time::timeout(Duration::from_secs(10), stream.next());
            let more = more.await.unwrap_or_else(|_| panic!("{text}"));
            text.push_str(&String::from_utf8_lossy(&more.unwrap().unwrap()));
        }
    }
    let (_, seen) = send(served.get(&path)).await;
    let open = |path: &str| {
        let steps = seen["steps"].as_array().unwrap().iter();
        steps.filter(|step| step["path"] == path).count()
    };
    assert_eq!(open("noting/each_1"), 1, "{seen}");
    let (_, cancelled) = send(served.delete(&path)).await;
    assert_eq!(cancelled["status"], "cancelled");
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_stored_failure_has_its_path_and_its_remedy() {
    let served = Served::in_memory().await;
    let (_, run) = send(served.post("/v1/failing/runs", &json!({"topic": "dogs"}))).await;
    let (status, stored) =
        send(served.get(&format!("/v1/runs/{}", run["run"].as_str().unwrap()))).await;
    assert_eq!(status, StatusCode::OK);
    let error = json!({
        "kind": "agent",
        "message": "cannot write about dogs",
        "path": "failing/fails",
        "help": "ask for another",
    });
    assert_eq!(stored["error"], error);
    served.stop().await.unwrap();
}

type Server = (oneshot::Sender<()>, JoinHandle<adk::Result<()>>);

/// Starts a server with its runs in a file. A later server at the same address continues them.
async fn begin(file: &Path, listener: TcpListener) -> Server {
    let store = SqliteStore::open(file).await.unwrap();
    let runner = adk::Runner::builder()
        .app_name("garden_post")
        .model(magazine::model(Duration::ZERO));
    let runner = runner.prices(magazine::prices()).store(store);
    let server = adk::serve(&runner.build().unwrap())
        .workflow(magazine::Magazine::default())
        .workflow(magazine::Opening::default())
        .workflow(magazine::Printing::default())
        .workflow(magazine::Letters::default())
        .workflow(Hanging::default())
        .limits(no_grace());
    let (stop, stopped) = oneshot::channel::<()>();
    (
        stop,
        tokio::spawn(server.serve(listener, async move { drop(stopped.await) })),
    )
}

async fn by_token(request: axum::http::request::Parts) -> Result<Caller, Refusal> {
    match request
        .headers
        .get("authorization")
        .map(|value| value.as_bytes())
    {
        Some(b"Bearer rosebud") => Ok(Caller::user("ann")),
        _ => Err(Refusal::unauthorized("the request has no valid token")),
    }
}

/// Serves a nested router that requires a token.
async fn nested() -> std::net::SocketAddr {
    let runner = adk::Runner::builder().build().unwrap();
    let router = adk::serve(&runner)
        .workflow(Hanging::default())
        .authorize(by_token)
        .router()
        .unwrap();
    let router = axum::Router::new().nest("/tools/adk", router);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

#[tokio::test]
async fn a_nested_page_needs_no_token() {
    let address = nested().await;
    let page = reqwest::get(format!("http://{address}/tools/adk"))
        .await
        .unwrap();
    assert_eq!(page.status(), StatusCode::OK);
    let refused = reqwest::get(format!("http://{address}/tools/adk/v1/runs"))
        .await
        .unwrap();
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
#[ignore = "needs Node.js and Chromium: tests/peers/run-clients.sh"]
async fn a_person_starts_watches_answers_and_cancels() {
    let folder = std::env::temp_dir().join(format!("adk-page-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("runs.db");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut served = Some(begin(&file, listener).await);
    let program =
        Path::new(&std::env::var("ADK_CLIENTS").expect("tests/peers/run-clients.sh sets it"))
            .join("page.mjs");
    let mut node = tokio::process::Command::new("node")
        .arg(program)
        .args([
            format!("http://{address}"),
            format!("http://{}/tools/adk", nested().await),
        ])
        .arg(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("node");
    let mut lines = BufReader::new(node.stdout.take().unwrap()).lines();
    let mut stdin = node.stdin.take().unwrap();
    while let Some(line) = lines.next_line().await.unwrap() {
        match line.as_str() {
            "stop" => {
                let (stop, task) = served.take().unwrap();
                drop(stop);
                task.await.unwrap().unwrap();
                stdin.write_all(b"stopped\n").await.unwrap();
            }
            "begin" => {
                served = Some(begin(&file, TcpListener::bind(address).await.unwrap()).await);
                stdin.write_all(b"begun\n").await.unwrap();
            }
            other => println!("{other}"),
        }
    }
    assert!(node.wait().await.unwrap().success());
    println!("pictures: {}", folder.display());
}
