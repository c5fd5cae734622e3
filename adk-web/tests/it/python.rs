//! Sends the same requests to google-adk and to this server, and compares their responses field by
//! field.
//!
//! Run by `tests/peers/run-adk-python.sh cargo test -p adk-workflow-web --test it -- --ignored
//! python`; with `TABLE=overwrite` it writes the table in `docs/server-adk.md`.

use crate::differences::{Answer, Difference, REASONS, compare, table};
use crate::fixtures::serve;
use crate::support::sse;
use adk::server::DevUi;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// A request: its name in the table, its method, path and body. `CALL` in a body is a placeholder
/// for the id of the last call.
type Request = (&'static str, &'static str, String, Value);

fn message(app: &str, part: Value) -> Value {
    let message = json!({"role": "user", "parts": [part]});
    json!({"appName": app, "userId": "u", "sessionId": "s", "newMessage": message})
}

fn answer(app: &str, name: &str, response: Value) -> Value {
    message(
        app,
        json!({"functionResponse": {"id": "CALL", "name": name, "response": response}}),
    )
}

const WRITING: &str = "/apps/writing/users/u/sessions";

fn get(name: &'static str, path: &str) -> Request {
    (name, "GET", path.to_owned(), Value::Null)
}

fn post(name: &'static str, path: &str, body: Value) -> Request {
    (name, "POST", path.to_owned(), body)
}

/// Returns requests for the files that a run has saved.
fn files() -> Vec<Request> {
    let file = |rest: &str| format!("{WRITING}/s/artifacts{rest}");
    vec![
        get("list artifacts", &file("")),
        get("load artifact", &file("/out/post.txt")),
        get("load artifact", &file("/out/post.txt?version=0")),
        get("load artifact", &file("/out/post.txt/versions/latest")),
        get("artifact versions", &file("/out/post.txt/versions")),
        get(
            "artifact metadata",
            &file("/out/post.txt/versions/metadata"),
        ),
        get(
            "artifact metadata",
            &file("/out/post.txt/versions/1/metadata"),
        ),
        get("unknown artifact", &file("/none")),
        get("bad version", &file("/out/post.txt/versions/x")),
        get("artifact versions", &file("/none/versions")),
        post(
            "save artifact",
            &file(""),
            json!({"filename": "note", "artifact": {"text": "hi"}}),
        ),
        get("load artifact", &file("/note")),
        ("delete artifact", "DELETE", file("/note"), Value::Null),
        get("list artifacts", &file("")),
    ]
}

/// A message for an app.
fn text(app: &str) -> Value {
    message(app, json!({"text": "cats"}))
}

/// Requests about apps and sessions.
fn session_requests() -> Vec<Request> {
    let (nobody, gone) = (
        format!("{WRITING}/nobody"),
        message("writing", json!({"text": "x"})),
    );
    let gone = serde_json::from_str(&gone.to_string().replace("\"s\"", "\"nobody\"")).unwrap();
    vec![
        get("health", "/health"),
        get("version", "/version"),
        get("list-apps", "/list-apps"),
        get("list-apps", "/list-apps?detailed=true"),
        get("app-info", "/apps/writing/app-info"),
        get("unknown app", "/apps/nothing/app-info"),
        get("telemetry", "/config/telemetry"),
        get(
            "runtime-config",
            "/dev-ui/assets/config/runtime-config.json",
        ),
        post(
            "create session",
            WRITING,
            json!({"sessionId": "s", "state": {"k": 1, "user:n": 2, "app:a": 3, "temp:x": 4}}),
        ),
        post("session there", WRITING, json!({"sessionId": "s"})),
        post("create session", WRITING, Value::Null),
        post(
            "create session",
            &format!("{WRITING}/named"),
            json!({"k": {"a": [1, null]}}),
        ),
        post(
            "bad events",
            WRITING,
            json!({"events": [{"author": "user", "actions": {"stateDelta": {"k": 1}}}]}),
        ),
        get("get session", &format!("{WRITING}/s")),
        get("unknown session", &nobody),
        (
            "unknown session",
            "PATCH",
            nobody.clone(),
            json!({"stateDelta": {}}),
        ),
        ("delete session", "DELETE", nobody, Value::Null),
        post("unknown session", "/run", gone),
        get("list sessions", "/apps/asking/users/u/sessions"),
        get(
            "list sessions of an unknown app",
            "/apps/nothing/users/u/sessions",
        ),
    ]
}

/// Requests that run `writing`, and requests that show its runs.
fn run_requests() -> Vec<Request> {
    vec![
        post("run", "/run", text("writing")),
        post("run_sse", "/run_sse", text("writing")),
        get("get session", &format!("{WRITING}/s")),
        (
            "patch session",
            "PATCH",
            format!("{WRITING}/s"),
            json!({"stateDelta": {"k": null, "user:n": 5}}),
        ),
        post("bad request", "/run", json!({"appName": "writing"})),
        post(
            "no message",
            "/run",
            json!({"appName": "writing", "userId": "u", "sessionId": "s"}),
        ),
        post("unknown app", "/run", text("nothing")),
        get("build_graph", "/dev/apps/writing/build_graph"),
        get("eval_sets", "/dev/apps/writing/eval_sets"),
        get("eval_sets", "/dev/apps/writing/eval-sets"),
        get("tests", "/dev/apps/writing/tests"),
        get(
            "unknown event",
            "/dev/apps/writing/users/u/sessions/s/events/none/graph",
        ),
        get("unknown trace", "/dev/apps/writing/debug/trace/none"),
    ]
}

fn requests() -> Vec<Request> {
    let mut all = session_requests();
    all.extend(run_requests());
    all.extend(files());
    for app in ["failing", "asking", "paying"] {
        all.push(post(
            "create session",
            &format!("/apps/{app}/users/u/sessions"),
            json!({"sessionId": "s"}),
        ));
    }
    all.extend([
        post("run fails", "/run", text("failing")),
        post("run_sse fails", "/run_sse", text("failing")),
        post("long-running call", "/run_sse", text("asking")),
        post(
            "answer to a call",
            "/run_sse",
            answer("asking", "ask_color", json!({"color": "red"})),
        ),
        post("confirmation", "/run_sse", text("paying")),
        post(
            "confirmed",
            "/run_sse",
            answer(
                "paying",
                "adk_request_confirmation",
                json!({"confirmed": true}),
            ),
        ),
        (
            "delete session",
            "DELETE",
            format!("{WRITING}/s"),
            Value::Null,
        ),
        get("unknown session", &format!("{WRITING}/s")),
    ]);
    all
}

/// google-adk with the agents of `tests/peers/adk_agents`.
struct Python {
    _process: Child,
    url: String,
    folder: PathBuf,
}

impl Python {
    async fn start() -> Self {
        let python =
            std::env::var("ADK_PYTHON").expect("ADK_PYTHON, see tests/peers/run-adk-python.sh");
        // google-adk writes into the folder of its agents, so it gets a copy.
        let folder = std::env::temp_dir().join(format!("adk-agents-{}", std::process::id()));
        let agents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/peers/adk_agents");
        for agent in std::fs::read_dir(agents).expect("the agents") {
            let agent = agent.expect("an agent").path();
            let copy = folder.join(agent.file_name().expect("a name"));
            std::fs::create_dir_all(&copy).expect("a folder");
            for file in ["__init__.py", "agent.py"] {
                std::fs::copy(agent.join(file), copy.join(file)).expect("a copy");
            }
        }
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = free.local_addr().expect("an address");
        drop(free);
        // `web` is `api_server` plus the routes of the page.
        let mut process = Command::new(python)
            .args([
                "-m",
                "google.adk.cli",
                "web",
                "--port",
                &address.port().to_string(),
            ])
            .args(
                ["session", "artifact", "memory"]
                    .map(|service| format!("--{service}_service_uri=memory://")),
            )
            .arg(&folder)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("google-adk");
        let mut lines = BufReader::new(process.stderr.take().expect("its errors")).lines();
        loop {
            let line = lines
                .next_line()
                .await
                .expect("a line")
                .expect("google-adk has ended");
            if line.contains("Uvicorn running on") {
                break;
            }
        }
        // Read the output, because google-adk would block on a full pipe.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self {
            _process: process,
            url: format!("http://{address}"),
            folder,
        }
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.folder));
    }
}

/// One of the two servers, with the id of the last call in its responses.
struct Side {
    url: String,
    client: reqwest::Client,
    call: String,
}

impl Side {
    fn new(url: String) -> Self {
        // google-adk closes connections after some of its errors.
        let client = reqwest::Client::builder()
            .pool_max_idle_per_host(0)
            .build()
            .expect("a client");
        Self {
            url,
            client,
            call: String::new(),
        }
    }

    async fn ask(&mut self, (_, method, path, body): &Request) -> Answer {
        let request = self
            .client
            .request(method.parse().unwrap(), format!("{}{path}", self.url));
        let body = body
            .to_string()
            .replace("\"CALL\"", &format!("\"{}\"", self.call));
        let request = match &*body {
            "null" => request,
            _ => request
                .header("content-type", "application/json")
                .body(body),
        };
        let response = request.send().await.expect("an answer");
        let status = response.status().as_u16();
        let is_stream = response
            .headers()
            .get("content-type")
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let text = response.text().await.expect("a body");
        let body = if is_stream {
            sse(&text).into_iter().map(|(_, _, data)| data).collect()
        } else {
            serde_json::from_str(&text).unwrap_or(Value::String(text))
        };
        for event in body.as_array().into_iter().flatten() {
            if let Some(id) = event["content"]["parts"][0]["functionCall"]["id"].as_str() {
                id.clone_into(&mut self.call);
            }
        }
        Answer { status, body }
    }
}

#[tokio::test]
#[ignore = "needs google-adk: tests/peers/run-adk-python.sh"]
async fn responses_equal_those_of_google_adk_except_for_the_table() {
    let python = Python::start().await;
    let browser = dev_ui();
    let served = serve(|server| server.dev_ui(browser)).await;
    let (mut theirs, mut ours) = (
        Side::new(python.url.clone()),
        Side::new(format!("http://{}", served.address)),
    );
    let mut found = Vec::new();
    for request in requests() {
        let (adk, here) = (theirs.ask(&request).await, ours.ask(&request).await);
        compare(request.0, &adk, &here, &mut found);
    }
    served.stop().await.unwrap();
    let unexplained: Vec<_> = found
        .iter()
        .filter(|found| found.reason().is_none())
        .collect();
    assert!(unexplained.is_empty(), "{unexplained:#?}");
    for reason in REASONS {
        assert!(
            found.iter().any(|found| found.has_reason(reason)),
            "no field differs for this reason any more: {reason:?}"
        );
    }
    check_docs(&found);
}

fn check_docs(found: &[Difference]) {
    const BEGIN: &str = "<!-- what differs -->\n";
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/server-adk.md");
    let text = std::fs::read_to_string(&page).expect("the page");
    let (before, _) = text.split_once(BEGIN).expect("the place of the table");
    let wanted = format!("{before}{BEGIN}{}", table(found));
    if std::env::var("TABLE").is_ok_and(|table| table == "overwrite") {
        std::fs::write(&page, wanted).expect("the page");
    } else {
        assert_eq!(text, wanted, "run the test with TABLE=overwrite");
    }
}

/// Returns the folder of adk-web in the installed google-adk.
pub fn dev_ui() -> PathBuf {
    let python = PathBuf::from(
        std::env::var("ADK_PYTHON").expect("ADK_PYTHON, see tests/peers/run-adk-python.sh"),
    );
    let lib = python
        .parent()
        .and_then(Path::parent)
        .expect("its environment")
        .join("lib");
    let version = std::fs::read_dir(lib)
        .expect("lib")
        .next()
        .expect("a version")
        .expect("a folder")
        .path();
    version.join("site-packages/google/adk/cli/browser")
}
