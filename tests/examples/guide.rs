//! The programs of the guide.

use crate::process::example;
use crate::wire_server::{Reply, WireServer};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

#[tokio::test]
async fn programs_without_a_server_run_to_their_end() {
    for (name, ends) in [
        ("resources", "(rehearsed answer of clerk)\n"),
        (
            "testing",
            "writing/improving#3/critic: (rehearsed answer of critic, round 3)\n",
        ),
        (
            "explore",
            "\ncareful: 37 histories, 13 deaths tried, 0 bad\n",
        ),
        (
            "sessions",
            "id: \"garden\" }: Some(String(\"(rehearsed answer of notes)\"))\n",
        ),
        (
            "elements",
            "counting/files: 6 of 6 elements, 1 skipped\ncounting/files:\ncounting/files: \
             lines=[1,2,3,4,5]\ncounting/add: sum=15\n",
        ),
        (
            "resilience",
            "the longest answer is reserved before each call\n",
        ),
        (
            "long_chat",
            "[summary] The pump was wet and was dried.\nThank you. The model was sent 3 contents.\n\
             ",
        ),
        (
            "cost",
            "raise `tokens`, or find the cause in the events of the run\n",
        ),
        (
            "plan_execute",
            "host calls invite\n(rehearsed answer of reader)\n",
        ),
        (
            "quarantined_reader",
            "May this be sent? (rehearsed answer of writer)\nsent: (rehearsed answer of writer)\n",
        ),
        ("action_selector", "order 7 is sent again\n"),
        (
            "audit",
            "  not seen   the bodies of 1 function and 3 tools\n  refused    nothing\n",
        ),
        ("structured_review", "line 2: what 2\n  write: instead 2\n"),
        (
            "traced",
            "    chat scripted adk.round=2 gen_ai.usage.input_tokens=20 \
             gen_ai.usage.output_tokens=4\n",
        ),
    ] {
        let ran = example(name, &[]).run().await.good();
        assert!(ran.out.ends_with(ends), "{name}: {}", ran.out);
    }
}

#[tokio::test]
#[ignore = "needs a server of others: tests/peers/run-mcp.sh"]
async fn agents_have_the_tools_of_a_real_server() {
    let [node, path] =
        ["ADK_MCP_NODE", "PATH"].map(|name| std::env::var(name).expect("the script sets it"));
    let server = format!("{node}/server-filesystem/dist/index.js");
    let ran = example("mcp", &["What is here?", "node", &server, "."])
        .env("PATH", &path)
        .run()
        .await
        .good();
    assert!(
        ran.out.contains("files_list_directory gave {"),
        "{}",
        ran.out
    );
    assert!(
        ran.out.ends_with("(rehearsed answer of reader)\n"),
        "{}",
        ran.out
    );
    let command = format!("node {server} .");
    let args = ["--prompts", "--mcp", &command, "bicycles?"];
    let ran = example("search_verify", &args)
        .env("PATH", &path)
        .run()
        .await
        .good();
    assert!(ran.err.contains("read_text_file"), "{}", ran.err);
}

#[tokio::test]
#[ignore = "needs a server of others: tests/peers/run-mcp.sh"]
async fn a_desk_reads_notes_of_a_real_server_falls_back_and_sends_its_traces() {
    let [node, path] =
        ["ADK_MCP_NODE", "PATH"].map(|name| std::env::var(name).expect("the script sets it"));
    let server = format!("node {node}/server-filesystem/dist/index.js");
    let collector = WireServer::start([Reply::text("").forever()]).await;
    let desk = || {
        let desk = example("notes_desk", &[])
            .env("PATH", &path)
            .env("MCP_SERVER", &server);
        desk.env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url())
    };
    let ran = desk().run().await.good();
    assert!(
        ran.out.contains("is descaled on the first Monday"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("overloaded"), "{}", ran.out);
    assert!(
        ran.out.ends_with("good: 0.00795 USD for 5 calls\n"),
        "{}",
        ran.out
    );
    let sent: Vec<_> = collector
        .requests()
        .iter()
        .map(|request| request.path.clone())
        .collect();
    assert!(
        sent.contains(&"/v1/traces".to_owned()) && sent.contains(&"/v1/metrics".to_owned()),
        "{sent:?}"
    );
    let ran = desk().env("BUDGET", "0.001 USD").run().await;
    assert!(
        !ran.status.success()
            && ran
                .err
                .contains("would use more than its budget of 0.001 USD"),
        "{}",
        ran.err
    );
}

#[tokio::test]
async fn a_local_model_replies_and_calls_tools_and_is_rehearsed_if_missing() {
    let server = WireServer::start([
        Reply::new().call("count_words", json!({"text": "A cat sat."})),
        Reply::text("A cat sat.").usage(20, 5),
    ])
    .await;
    let told = example("ollama_local", &["a cat"])
        .env("OLLAMA_HOST", &server.url())
        .run()
        .await
        .good();
    assert_eq!(told.out, "[calls count_words]\nA cat sat.\n[25 tokens]\n");
    let paths: Vec<_> = server
        .requests()
        .iter()
        .map(|request| request.path.clone())
        .collect();
    assert_eq!(paths, ["/api/chat", "/api/chat"]);
    assert!(
        server.last().body["messages"]
            .to_string()
            .contains("\\\"result\\\":3"),
        "{}",
        server.last().body
    );

    let host = server.url();
    drop(server);
    let rehearsed = example("ollama_local", &[])
        .env("OLLAMA_HOST", &host)
        .run()
        .await
        .good();
    assert!(
        rehearsed.out.contains("`ollama serve`"),
        "{}",
        rehearsed.out
    );
    assert!(
        rehearsed.out.contains("(rehearsed answer of teller)"),
        "{}",
        rehearsed.out
    );
}

#[tokio::test]
async fn a_worker_runs_the_topics_of_its_input() {
    let file = std::env::temp_dir().join(format!("adk-worker-{}.db", std::process::id()));
    let worker = |args: &[&str]| example("worker", args).env("DATABASE", &file.to_string_lossy());
    let ran = worker(&["work"]).input("cats\n").run().await.good();
    assert!(
        ran.out.ends_with(": (rehearsed answer of editor)\n"),
        "{}",
        ran.out
    );
    assert_eq!(worker(&["list"]).run().await.good().out, "");
    let ran = worker(&["cancel", "e-00000000-0000-7000-8000-000000000000"])
        .run()
        .await;
    assert!(
        ran.err
            .contains("run `e-00000000-0000-7000-8000-000000000000` does not exist"),
        "{}",
        ran.err
    );
    let _ = std::fs::remove_file(file);
}

#[test]
fn a_browser_gets_each_step_and_the_end() {
    let server = example("streaming", &["0"]).start_until("http://");
    let host = server.out.trim().trim_start_matches("http://").to_owned();
    let get = |path: &str| {
        let mut stream = TcpStream::connect(&host).expect("the server listens");
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )
        .expect("it reads");
        let mut answer = String::new();
        stream
            .read_to_string(&mut answer)
            .expect("it answers in text");
        answer
    };
    assert!(get("/").contains("new EventSource(\"/tell?\""));
    let told = get("/tell?topic=a+cat");
    assert!(told.contains("\"partial\":true"), "{told}");
    assert!(told.contains("storytelling/telling#2/critic"), "{told}");
    assert_eq!(told.matches("event: end").count(), 1, "{told}");
    server.kill();
}

#[test]
fn a_server_asks_an_editor_and_continues() {
    let file = std::env::temp_dir().join(format!("adk-serve-{}.db", std::process::id()));
    let args = [
        "--address",
        "127.0.0.1:0",
        "--store",
        &file.to_string_lossy(),
    ];
    let server = example("serve", &args).start_until("http://");
    let host = server.out.trim().trim_start_matches("http://").to_owned();
    let ask = |what: &str, body: &str| {
        let mut stream = TcpStream::connect(&host).expect("the server listens");
        let length = body.len();
        let headers = format!("Host: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n");
        write!(
            stream,
            "{what} HTTP/1.1\r\n{headers}Accept: text/event-stream\r\n\r\n{body}"
        )
        .expect("it reads");
        let mut answer = String::new();
        stream
            .read_to_string(&mut answer)
            .expect("it answers in text");
        answer
    };
    assert!(ask("GET /", "").contains("<!doctype html>"));
    let told = ask(
        "POST /v1/posting/runs?until=pause",
        r#"{"topic": "hedgehogs"}"#,
    );
    let end: Value = told
        .rsplit_once("event: end\ndata: ")
        .and_then(|(_, end)| serde_json::from_str(end.lines().next()?).ok())
        .unwrap_or_else(|| panic!("{told}"));
    let wait = &end["waiting"][0];
    assert!(
        wait["question"]
            .as_str()
            .is_some_and(|asks| asks.starts_with("May this be published?")),
        "{end}"
    );
    let id = wait["id"].as_str().unwrap_or_default().replace('#', "%23");
    assert!(ask(&format!("POST /v1/waiting/{id}"), "\"Publish\"").starts_with("HTTP/1.1 202"));
    let told = ask(
        &format!(
            "GET /v1/runs/{}/events",
            end["run"].as_str().unwrap_or_default()
        ),
        "",
    );
    assert!(
        told.contains(r#""output":"(rehearsed answer of refiner, round 2)""#),
        "{told}"
    );
    server.kill();
    let _ = std::fs::remove_file(file);
}
