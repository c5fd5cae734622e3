//! The OpenAPI document against the server. Schemathesis sends valid and invalid requests to each
//! operation, and compares the responses with the document:
//! `tests/peers/run-schemathesis.sh cargo test -p adk-workflow-server --test it -- --ignored
//! schemathesis`.

use crate::support::{Failing, Hanging, Served, no_grace, read, send};
use adk::prelude::*;
use adk::server::{Caller, Refusal};
use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::net::TcpListener;

/// The tone of a headline.
#[adk::data]
pub enum Tone {
    /// As it is.
    Plain,
    /// For one kind of reader.
    For {
        /// The reader.
        reader: String,
    },
}

/// A headline.
#[adk::data]
pub struct Headline {
    /// The text.
    text: String,
    /// The number of words.
    words: u8,
    /// The tags.
    tags: Vec<String>,
}

/// Writes a headline.
#[agent(writes = headline)]
fn head(topic: &str, tone: &Tone, tags: &[String]) -> Headline {
    let reader = match tone {
        Tone::Plain => "",
        Tone::For { reader } => reader,
    };
    let words = topic.split_whitespace().count().min(255) as u8;
    Headline {
        text: format!("{topic} {reader}"),
        words,
        tags: tags.to_vec(),
    }
}

workflow! {
    /// Writes a headline.
    pub Heading(
        /// The topic of the headline.
        topic: String,
        tone: Tone = Tone::Plain,
        tags: Vec<String> = Vec::new(),
    ) -> headline: Headline { head }
}

workflow! {
    /// Asks whether a headline is right, and then the staff.
    pub Proofing(topic: String, pages: Option<u32> = None) -> (right: bool, printed: Tone) {
        /// Is `{topic}` right?
        await right: bool;
        /// Shall `{topic}` be printed?
        await(by = "staff") printed: Tone
    }
}

/// Doubles.
#[agent(writes = doubled)]
fn double(number: i16) -> i32 {
    i32::from(number) * 2
}

workflow! {
    /// Doubles a number. All inputs have defaults.
    pub Doubling(number: i16 = 2) -> doubled: i32 { double }
}

/// The token of an operator, and that of a user without roles.
const TOKENS: [&str; 2] = ["boss", "ann"];

async fn by_bearer(request: axum::http::request::Parts) -> Result<Caller, Refusal> {
    let token = request.headers.get("authorization");
    match token.map(|value| value.as_bytes()) {
        Some(b"Bearer boss") => Ok(Caller::operator()),
        Some(b"Bearer ann") => Ok(Caller::user("ann")),
        _ => Err(Refusal::unauthorized("the request has no valid token")),
    }
}

fn ann(request: RequestBuilder) -> RequestBuilder {
    request.bearer_auth("ann")
}

/// Starts runs of each status: the first waits for the staff, the second for its user. Returns
/// their ids, and the ids of the open waits.
async fn seed(served: &Served) -> (Vec<Value>, Vec<Value>) {
    let topic = json!({"topic": "cats"});
    let mut runs = Vec::new();
    for name in [
        "proofing", "proofing", "hanging", "hanging", "heading", "failing",
    ] {
        let request = served.post(&format!("/v1/{name}/runs"), &topic);
        let request = request.header("prefer", "respond-async");
        let (_, run) = send(ann(request)).await;
        runs.push(run["run"].clone());
    }
    let cancelled = format!("/v1/runs/{}", runs[2].as_str().unwrap());
    send(ann(served.delete(&cancelled))).await;
    let path = format!("/v1/runs/{}", runs[0].as_str().unwrap());
    let wait = wait_of(served, &path, "right").await;
    let answer = served.post(&format!("/v1/waiting/{wait}"), &json!(true));
    send(ann(answer)).await;
    let staff = wait_of(served, &path, "printed").await;
    let path = format!("/v1/runs/{}", runs[1].as_str().unwrap());
    let own = wait_of(served, &path, "right").await;
    (runs, vec![json!(staff), json!(own)])
}

/// Waits until a run asks this question. Returns the id of the wait.
async fn wait_of(served: &Served, path: &str, question: &str) -> String {
    for _ in 0..2000 {
        let (_, run) = send(ann(served.get(path))).await;
        let open = run["waiting"].as_array().into_iter().flatten();
        let mut ids = open.filter_map(|wait| wait["id"].as_str());
        if let Some(id) = ids.find(|id| id.contains(question)) {
            return id.to_owned();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{path} does not ask `{question}`");
}

/// Adds to a document what only this test knows: the scheme of the tokens, ids of runs and waits,
/// and an answer to the second wait. Removes `default` from the responses, so that each other
/// status is a finding, and the request keys of all workflows except one, because schemathesis
/// repeats them with other bodies.
fn with_knowledge(document: &mut Value, runs: &[Value], waits: &[Value]) {
    document["components"]["securitySchemes"] =
        json!({"token": {"type": "http", "scheme": "bearer"}});
    document["security"] = json!([{"token": []}]);
    for (path, item) in document["paths"].as_object_mut().unwrap() {
        for operation in item.as_object_mut().unwrap().values_mut() {
            if path.as_str() == "/v1/waiting/{wait}" {
                operation["requestBody"]["content"]["application/json"]["example"] = json!(true);
            }
            let responses = operation["responses"].as_object_mut().unwrap();
            responses.shift_remove("default");
            let parameters = operation["parameters"].as_array_mut().unwrap();
            parameters.retain(|one| {
                one["name"] != "Idempotency-Key" || path.as_str() == "/v1/heading/runs"
            });
            for parameter in parameters {
                let known = match parameter["name"].as_str() {
                    Some("run") => runs,
                    Some("wait") => waits,
                    _ => continue,
                };
                let known = known.iter().enumerate();
                parameter["examples"] = known
                    .map(|(number, id)| (format!("n{number}"), json!({"value": id})))
                    .collect();
            }
        }
    }
}

/// A finding: the name of the failure, the operation, and the status where schemathesis
/// distinguishes failures by it.
type Finding = [String; 3];

/// Runs schemathesis as one caller. Returns its findings.
fn schemathesis(served: &Served, token: &str, document: &Value) -> BTreeSet<Finding> {
    let program =
        std::env::var("ADK_SCHEMATHESIS").expect("tests/peers/run-schemathesis.sh sets it");
    let folder =
        std::env::temp_dir().join(format!("adk-schemathesis-{token}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("openapi.json"), document.to_string()).unwrap();
    let mut command = Command::new(program);
    command.current_dir(&folder).stdin(Stdio::null());
    command.args(["run", "openapi.json", "--no-color", "--seed=1"]);
    command.args(["--max-examples=30", "--continue-on-failure"]);
    command.args(["--request-timeout=60", "--generation-database=none"]);
    // The baseline receives all findings of this run.
    command.args(["--baseline=findings.json", "--baseline-update"]);
    // This run would not end, and nothing bounds it.
    command.arg("--exclude-operation-id=run_hanging");
    command.arg(format!("--url=http://{}", served.address));
    command.arg(format!("--header=Authorization: Bearer {token}"));
    let output = command.output().unwrap();
    println!("{}", String::from_utf8_lossy(&output.stdout));
    println!("{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(folder.join("findings.json")).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let entries = all["entries"].as_array().unwrap().iter();
    let parts = ["failure", "operation", "signature"];
    entries
        .map(|entry| parts.map(|part| entry[part].as_str().unwrap().to_owned()))
        .collect()
}

/// Returns the findings of the table, without their reasons.
fn listed() -> BTreeSet<Finding> {
    let rows = include_str!("../openapi.md").lines();
    let rows = rows.filter_map(|row| row.strip_prefix("| `"));
    rows.map(|row| {
        let mut cells = row.split('|').map(|cell| cell.trim_matches([' ', '`']));
        std::array::from_fn(|_| cells.next().unwrap().to_owned())
    })
    .collect()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs schemathesis: tests/peers/run-schemathesis.sh"]
async fn schemathesis_finds_only_what_is_listed() {
    let runner = adk::Runner::builder().build().unwrap();
    let server = adk::serve(&runner)
        .workflow(Heading::default())
        .workflow(Proofing::default())
        .workflow(Doubling::default())
        .workflow(Failing::default())
        .workflow(Hanging::default())
        .authorize(by_bearer)
        .limits(no_grace());
    let served = Served::start(server).await;
    let mut found = BTreeSet::new();
    for token in TOKENS {
        let (runs, waits) = seed(&served).await;
        let request = served.get("/openapi.json").bearer_auth(token);
        let (_, mut document) = send(request).await;
        with_knowledge(&mut document, &runs, &waits);
        found.extend(schemathesis(&served, token, &document));
    }
    served.stop().await.unwrap();
    assert_eq!(
        found,
        listed(),
        "mend what is not listed, and remove from adk-server/tests/openapi.md what was not found"
    );
}

#[tokio::test]
async fn addresses_of_a_nested_router_have_its_prefix() {
    let runner = adk::Runner::builder().build().unwrap();
    let server = adk::serve(&runner).workflow(Doubling::default());
    let router = server.open_to_all().router().unwrap();
    let nested = axum::Router::new().nest("/tools/adk", router.clone());
    for (router, path, prefix) in [(router, "", "/"), (nested, "/tools/adk", "/tools/adk")] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        let address = format!("http://{address}");
        let document = reqwest::get(format!("{address}{path}/openapi.json"));
        let (_, document) = read(document.await.unwrap()).await;
        assert_eq!(document["servers"], json!([{"url": prefix}]));
        let client = reqwest::Client::new();
        let begin = client.post(format!("{address}{path}/v1/doubling/runs"));
        let response = begin.send().await.unwrap();
        let location = response.headers()["location"].to_str().unwrap().to_owned();
        let (_, begun) = read(response).await;
        let (_, run) = send(client.get(format!("{address}{location}"))).await;
        assert_eq!(run["run"], begun["run"]);
    }
}

#[tokio::test]
async fn an_empty_cursor_hides_no_other() {
    let served = Served::in_memory().await;
    let (_, run) = send(served.post("/v1/shouting/runs", &json!({"topic": "cats"}))).await;
    let events = format!("/v1/runs/{}/events", run["run"].as_str().unwrap());
    let get = |query: &str| served.get(&format!("{events}{query}"));
    let (_, all) = send(get("")).await;
    let after = format!("?after={}", all["events"][0]["id"].as_str().unwrap());
    let (_, later) = send(get(&after).header("last-event-id", "")).await;
    assert_eq!(later["events"][0], all["events"][1]);
    let first = all["events"][0]["id"].as_str().unwrap();
    for (query, header) in [("?after=x", first), ("?limit=0", ""), ("?after=x", "")] {
        let (status, _) = send(get(query).header("last-event-id", header)).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{query} {header}");
    }
    served.stop().await.unwrap();
}
