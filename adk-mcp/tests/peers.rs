//! Tests with real servers:
//! `tests/peers/run-mcp.sh cargo test -p adk-workflow-mcp --test peers -- --ignored`.
#![allow(clippy::unwrap_used, missing_docs, reason = "these are tests")]

mod support;

use adk_build::tool::{DeclaredToolset, tool_file};
use adk_build::{ErrorKind, Toolset as _, ToolsetErrorKind};
use adk_mcp::{HttpServer, McpToolset, Progress, StdioServer};
use serde_json::json;
use std::env::var;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::{calls, run_error, run_with_answers};

fn node(server: &str) -> String {
    format!("{}/{server}/dist/index.js", var("ADK_MCP_NODE").unwrap())
}

fn everything() -> McpToolset {
    McpToolset::new(
        "everything",
        StdioServer::new("node").args([node("server-everything")]),
    )
}

fn python() -> StdioServer {
    StdioServer::new(var("ADK_MCP_PYTHON").unwrap()).arg(var("ADK_MCP_SERVER").unwrap())
}

/// A server over HTTP, killed on drop.
struct Served(Child);

impl Served {
    fn start(mut command: Command) -> Self {
        Self(
            command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap(),
        )
    }

    async fn listens(port: u16) {
        for _ in 0..200 {
            if tokio::net::TcpStream::connect(("127.0.0.1", port))
                .await
                .is_ok()
            {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("nothing listens on port {port}");
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

#[tokio::test]
#[ignore = "needs the servers of others"]
async fn the_everything_server_returns_texts_structures_images_and_resources() {
    let heard = calls(
        everything(),
        &[
            ("echo", json!({"message": "hi"})),
            ("get-sum", json!({"a": 2, "b": 3.5})),
            ("get-structured-content", json!({"location": "Chicago"})),
            ("get-tiny-image", json!({})),
            (
                "get-resource-reference",
                json!({"resourceType": "Blob", "resourceId": 1}),
            ),
            ("get-resource-links", json!({"count": 2})),
            ("get-sum", json!({"a": "two"})),
            ("get-env", json!({})),
        ],
    )
    .await
    .unwrap();
    assert!(heard.tools.len() > 10, "{:?}", heard.tools);
    assert_eq!(heard.result(0), "Echo: hi");
    assert!(heard.result(1).contains("5.5"));
    assert!(
        heard.answers[2]["temperature"].is_number(),
        "{:?}",
        heard.answers[2]
    );
    let image = &heard.answers[3]["artifacts"][0];
    assert_eq!(image["mimeType"], "image/png");
    assert!(
        heard.artifacts.iter().any(|name| *name == image["name"]),
        "{:?}",
        heard.artifacts
    );
    assert!(heard.answers[4]["artifacts"][0]["bytes"].as_u64().unwrap() > 0);
    assert!(heard.result(5).contains("://"), "{}", heard.result(5));
    let error = heard.error(6);
    assert!(
        error.contains("\"two\" is not of type \"number\"") && error.contains("\"b\""),
        "{error}"
    );
    let env = heard.result(7);
    assert!(
        env.contains("\"PATH\"") && !env.contains("ADK_MCP_NODE"),
        "{env}"
    );
}

#[tokio::test]
#[ignore = "needs the servers of others"]
async fn a_long_call_reports_progress_and_has_a_timeout() {
    let told: Arc<Mutex<Vec<Progress>>> = Arc::default();
    let kept = told.clone();
    let toolset = everything().on_progress(move |progress| kept.lock().unwrap().push(progress));
    let long = |seconds| {
        (
            "trigger-long-running-operation",
            json!({"duration": seconds, "steps": 4}),
        )
    };
    let heard = calls(
        toolset.timeout(Duration::from_secs(2)),
        &[long(1), long(60)],
    )
    .await
    .unwrap();
    assert!(heard.result(0).contains("completed"), "{}", heard.result(0));
    assert!(
        heard.error(1).contains("gave no result in 2s"),
        "{}",
        heard.error(1)
    );
    let told = told.lock().unwrap();
    assert!(
        told.iter()
            .any(|one| one.progress == 4.0 && one.total == Some(4.0)),
        "{told:?}"
    );
    assert!(
        told.iter()
            .all(|one| one.tool == "trigger-long-running-operation"),
        "{told:?}"
    );
}

#[tokio::test]
#[ignore = "needs the servers of others"]
async fn files_are_read_and_nothing_else_is() {
    let folder = std::env::temp_dir().join(format!("adk-mcp-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("note.txt"), "buy milk").unwrap();
    let folder = folder.canonicalize().unwrap();
    let server = StdioServer::new("node")
        .arg(node("server-filesystem"))
        .arg(&folder);
    let files = McpToolset::new("files", server)
        .prefix("my")
        .filter(|tool| tool.starts_with("read_text"));
    let read = |path: &str| ("my_read_text_file", json!({"path": path}));
    let path = folder.join("note.txt");
    let heard = calls(files, &[read(&path.to_string_lossy()), read("/etc/passwd")])
        .await
        .unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(heard.tools, ["my_read_text_file"]);
    assert!(
        json!(heard.answers[0]).to_string().contains("buy milk"),
        "{:?}",
        heard.answers[0]
    );
    assert!(heard.error(1).contains("denied"), "{}", heard.error(1));
}

#[tokio::test]
#[ignore = "needs the servers of others"]
async fn a_server_in_python_over_stdio() {
    let told: Arc<Mutex<Vec<f64>>> = Arc::default();
    let kept = told.clone();
    let toolset = McpToolset::new("python", python())
        .on_progress(move |progress| kept.lock().unwrap().push(progress.progress));
    let script = [
        ("forecast", json!({"city": "Bern", "days": 2})),
        ("forecast", json!({"city": "Bern", "days": 9})),
        ("picture", json!({})),
        ("refuse", json!({})),
        ("work", json!({"steps": 3})),
    ];
    let heard = calls(toolset, &script).await.unwrap();
    assert_eq!(
        heard.answers[0]["result"][1],
        json!({"city": "Bern", "degrees": 21.5})
    );
    assert!(
        heard.error(1).contains("greater than the maximum of 7"),
        "{}",
        heard.error(1)
    );
    assert_eq!(heard.answers[2]["artifacts"][0]["mimeType"], "image/png");
    // The SDK of this server does not send the text of an exception.
    assert_eq!(heard.error(3), "Error executing tool refuse");
    assert_eq!(heard.result(4), "done");
    assert!(told.lock().unwrap().contains(&3.0));
}

#[tokio::test]
#[ignore = "needs the servers of others"]
async fn a_server_asks_the_user_and_the_run_waits() {
    let toolset = everything().elicitation(true);
    let call = [("trigger-elicitation-request", json!({}))];
    let answer = json!({"name": "Ada", "check": true, "integer": 42});
    let (questions, told) = run_with_answers(|| toolset.clone(), &call, &[answer]).await;
    let question = "asks in a call of `trigger-elicitation-request`: Please provide inputs";
    assert!(questions[0].contains(question), "{questions:?}");
    let told = told[0]["result"].as_str().unwrap();
    assert!(
        told.contains("- Name: Ada") && told.contains("- Favorite Integer: 42"),
        "{told}"
    );
    let (_, told) = run_with_answers(|| toolset.clone(), &call, &[serde_json::Value::Null]).await;
    assert!(
        told[0]["result"].as_str().unwrap().contains("declined"),
        "{told:?}"
    );
    let heard = calls(everything(), &call).await.unwrap();
    assert!(
        heard.error(0).contains("no tool with that name"),
        "a run that cannot ask is not offered the tool"
    );
}

#[tokio::test]
#[ignore = "needs the servers of others"]
async fn resources_are_parts_and_prompts_are_texts() {
    let toolset = everything();
    let text = toolset
        .resource("demo://resource/dynamic/text/1")
        .await
        .unwrap();
    assert!(
        text.as_text().is_some_and(|text| !text.is_empty()),
        "{text:?}"
    );
    let blob = toolset
        .resource("demo://resource/dynamic/blob/1")
        .await
        .unwrap();
    assert!(
        matches!(&blob, adk_build::Part::InlineData(blob) if !blob.data.is_empty()),
        "{blob:?}"
    );
    let prompt = toolset
        .prompt("args-prompt", &[("city", "Bern"), ("state", "BE")])
        .await
        .unwrap();
    assert!(prompt.contains("Bern"), "{prompt}");
    let error = toolset.prompt("no-such-prompt", &[]).await.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("prompt `no-such-prompt` of toolset `everything`: "),
        "{error}"
    );
}

#[tokio::test]
#[ignore = "needs the servers of others"]
async fn servers_over_http_are_reconnected_after_a_restart() {
    let (port, other) = (free_port(), free_port());
    let in_node = || {
        let mut command = Command::new("node");
        command
            .arg(node("server-everything"))
            .arg("streamableHttp")
            .env("PORT", port.to_string());
        Served::start(command)
    };
    let everything = in_node();
    let in_python = || {
        let mut command = Command::new(var("ADK_MCP_PYTHON").unwrap());
        command
            .arg(var("ADK_MCP_SERVER").unwrap())
            .arg(other.to_string());
        Served::start(command)
    };
    let first = in_python();
    Served::listens(port).await;
    Served::listens(other).await;
    let url = |port| HttpServer::new(format!("http://127.0.0.1:{port}/mcp"));
    let sum = [("get-sum", json!({"a": 1, "b": 2}))];
    let sums = McpToolset::new("everything", url(port));
    let heard = calls(sums.clone(), &sum).await.unwrap();
    assert!(heard.result(0).contains('3'));
    drop(everything);
    let error = run_error(McpToolset::new("everything", url(port))).await;
    assert_eq!(
        error.kind(),
        ErrorKind::Toolset(ToolsetErrorKind::Unavailable)
    );
    assert!(error.to_string().contains("cannot be reached"), "{error}");
    let everything = in_node();
    Served::listens(port).await;
    let heard = calls(sums, &sum).await.unwrap();
    assert!(
        heard.result(0).contains('3'),
        "it answers 400 and an error without an id, {:?}",
        heard.answers
    );
    drop(everything);

    let toolset = McpToolset::new("python", url(other));
    let work = [("work", json!({"steps": 1}))];
    assert_eq!(
        calls(toolset.clone(), &work).await.unwrap().result(0),
        "done"
    );
    drop(first);
    let second = in_python();
    Served::listens(other).await;
    assert_eq!(
        calls(toolset, &work).await.unwrap().result(0),
        "done",
        "it knows nothing of the first session"
    );
    drop(second);
}

#[tokio::test]
#[ignore = "needs the servers of others"]
async fn a_file_holds_a_server_to_its_annotations_and_asks_for_its_tools() {
    let server = |hints: &str| {
        let server = python().env("FORECAST_HINTS", hints.to_owned());
        McpToolset::new("python", server).filter(|tool| tool == "forecast")
    };
    let closed = r#"{"readOnlyHint": true, "openWorldHint": false}"#;
    let file = tool_file(&server(closed).all_tools().await.unwrap()).unwrap();
    let labels: serde_json::Value = serde_json::from_str(&file).unwrap();
    assert_eq!(labels["labels"], json!({"forecast": ["private"]}));
    let script = [("forecast", json!({"city": "Bern"}))];
    let pinned = |hints| DeclaredToolset::new(server(hints)).file(file.clone());
    let heard = calls(pinned(closed), &script).await.unwrap();
    assert_eq!(heard.tools, ["forecast"]);

    let error = run_error(pinned(r#"{"readOnlyHint": false, "openWorldHint": false}"#)).await;
    assert_eq!(error.kind(), ErrorKind::Toolset(ToolsetErrorKind::Changed));
    let text = error.to_string();
    assert!(
        text.contains("~ forecast: readOnlyHint: true is now false"),
        "{text}"
    );
    let text = run_error(pinned("{}")).await.to_string();
    assert!(
        text.contains("~ forecast: openWorldHint: false is now not set"),
        "{text}"
    );

    let asks = file.replace("\"confirm\": []", "\"confirm\": [\"forecast\"]");
    let asking = || DeclaredToolset::new(server(closed)).file(asks.clone());
    let (questions, told) = run_with_answers(asking, &script, &[json!(true)]).await;
    assert!(questions[0].contains("`forecast`"), "{questions:?}");
    assert_eq!(told[0]["result"][0]["city"], "Bern", "{told:?}");
}
