//! Tenants of one server, and what a server that has ended leaves to the next one: runs, and
//! notifications of tasks.

use crate::support::{Served, no_grace, send};
use adk::RunId;
use adk::engine::{RunFilter, RunStatus};
use adk::prelude::*;
use adk::server::{Caller, Refusal};
use adk::sqlite::SqliteStore;
use axum::extract::State;
use axum::routing::post;
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

fn is_new(key: &str) -> bool {
    SEEN.lock().unwrap().insert(key.to_owned())
}

/// Does not end in the first process that calls it.
#[agent(writes = post)]
async fn hang_once(key: &str) -> String {
    if is_new(key) {
        std::future::pending::<()>().await;
    }
    key.to_uppercase()
}

/// Fails at first.
#[agent(writes = post)]
fn fail_once(key: &str) -> adk::Result<String> {
    if is_new(key) {
        return Err(adk::Error::new(adk::ErrorKind::Agent, "not yet"));
    }
    Ok(key.to_uppercase())
}

workflow! {
    /// Hangs once.
    pub HangingOnce(key: String) -> post: String { hang_once }
}

workflow! {
    /// Fails once.
    pub FailingOnce(key: String) -> post: String { fail_once }
}

/// `x-user` is `TENANT/USER`, or a user of the app itself.
async fn by_header(request: axum::http::request::Parts) -> Result<Caller, Refusal> {
    let user = request.headers.get("x-user").and_then(|user| user.to_str().ok()).unwrap_or("op");
    Ok(match user.split_once('/') {
        Some((tenant, user)) => Caller::user(user).app(tenant),
        None => Caller::user(user),
    })
}

/// A file of runs, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("adk-server-tenants-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A program beside the servers, with the same workflows.
    async fn program(&self) -> adk::Runner {
        let store = SqliteStore::open(self.0.join("runs.db")).await.unwrap();
        let builder = adk::Runner::builder().session_store(store.clone()).engine(store);
        builder.workflow(HangingOnce::default()).workflow(FailingOnce::default()).build().unwrap()
    }

    /// The next server. It ends as if it was killed: with no time for its runs.
    async fn server(&self, hooks: &str) -> Served {
        let runner = self.program().await;
        let hooks = format!("{hooks}/hooks");
        Served::new(&runner, |server| server.authorize(by_header).limits(no_grace()).push_to(hooks)).await
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What is posted to an address: the last part of its path and the state of the task.
type Told = (String, String);

/// Listens to notifications.
async fn hooks() -> (String, UnboundedReceiver<Told>) {
    let (posted, heard) = mpsc::unbounded_channel();
    let hook = async |State(posted): State<UnboundedSender<Told>>,
                      axum::extract::Path(name): axum::extract::Path<String>,
                      body: axum::body::Bytes| {
        let body: Value = serde_json::from_slice(&body).unwrap();
        let state = body["statusUpdate"]["status"]["state"].as_str().unwrap().to_owned();
        posted.send((name, state.trim_start_matches("TASK_STATE_").to_owned())).unwrap();
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let router = axum::Router::new().route("/hooks/{name}", post(hook)).with_state(posted);
    tokio::spawn(axum::serve(listener, router).into_future());
    (address, heard)
}

/// What the addresses are told until this one is told of that state.
async fn until(heard: &mut UnboundedReceiver<Told>, name: &str, state: &str) -> Vec<Told> {
    let mut all = Vec::new();
    while all.last() != Some(&(name.to_owned(), state.to_owned())) {
        all.push(heard.recv().await.expect("it listens"));
    }
    all
}

/// Begins a task, or answers one, and gives its id.
async fn message(served: &Served, who: &str, workflow: &str, message: Value, hook: Option<String>) -> String {
    let push = hook.map(|url| json!({ "url": url }));
    let params = json!({
        "message": message,
        "configuration": {"returnImmediately": true, "taskPushNotificationConfig": push},
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params});
    let request = served.post(&format!("/a2a/{workflow}"), &body).header("a2a-version", "1.0");
    let (_, answer) = send(request.header("x-user", who)).await;
    answer["result"]["task"]["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn says(id: &str, text: &str) -> Value {
    json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]})
}

/// Waits until a run has got so far.
async fn is(runner: &adk::Runner, run: &str, status: RunStatus) {
    let run: RunId = run.parse().unwrap();
    while runner.runs(&RunFilter::of_run(run)).await.unwrap()[0].status != status {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_limit_is_that_of_a_user_of_a_tenant() {
    let runner = adk::Runner::builder().build().unwrap();
    let mut limits = no_grace();
    limits.runs_per_user = 1;
    let served = Served::new(&runner, |server| server.authorize(by_header).limits(limits)).await;
    let ask = |who: &'static str, path: &'static str, prefer: &'static str| {
        let request = served.post(path, &json!({"topic": "x"})).header("x-user", who);
        async move { send(request.header("prefer", prefer)).await.0 }
    };
    assert_eq!(ask("t1/ann", "/v1/hanging/runs", "respond-async").await, StatusCode::ACCEPTED);
    assert_eq!(ask("t1/ann", "/v1/shouting/runs", "").await, StatusCode::TOO_MANY_REQUESTS);
    for who in ["t2/ann", "ann", "t1/bob"] {
        assert_eq!(ask(who, "/v1/shouting/runs", "").await, StatusCode::OK, "{who}");
    }
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_key_is_that_of_a_user_of_a_tenant() {
    let runner = adk::Runner::builder().build().unwrap();
    let served = Served::new(&runner, |server| server.authorize(by_header)).await;
    for who in ["t1/ann", "t2/ann", "ann", "t1/bob", "t1/ann"] {
        let request = served.post("/v1/shouting/runs", &json!({"topic": who})).header("x-user", who);
        let (status, run) = send(request.header("idempotency-key", "k")).await;
        assert_eq!((status, &run["output"]), (StatusCode::OK, &json!(who.to_uppercase())));
    }
    let mut count = 0;
    for who in ["t1/ann", "t2/ann", "ann", "t1/bob"] {
        let (_, all) = send(served.get("/v1/runs").header("x-user", who)).await;
        count += all["runs"].as_array().unwrap().len();
    }
    assert_eq!(count, 4, "the last request is the first one again");
    served.stop().await.unwrap();
}

#[tokio::test]
async fn the_next_server_goes_on_for_tenants_that_ask_for_nothing() {
    let (folder, (hooks, _)) = (Folder::new(), hooks().await);
    let served = folder.server(&hooks).await;
    let mut begun = Vec::new();
    for who in ["t1/ann", "t2/ann", "ann"] {
        let request = served.post("/v1/hanging_once/runs", &json!({"key": format!("left {who}")}));
        let request = request.header("x-user", who).header("prefer", "respond-async");
        let (status, run) = send(request).await;
        assert_eq!(status, StatusCode::ACCEPTED, "{run}");
        begun.push((who, run["run"].as_str().unwrap().to_owned()));
    }
    for (who, _) in &begun {
        while !SEEN.lock().unwrap().contains(&format!("left {who}")) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    served.stop().await.unwrap();

    let (served, program) = (folder.server(&hooks).await, folder.program().await);
    for (who, run) in begun {
        let tenant = who.split_once('/').map(|(tenant, _)| program.for_app(tenant));
        is(tenant.as_ref().unwrap_or(&program), &run, RunStatus::Finished).await;
    }
    served.stop().await.unwrap();
}

#[tokio::test]
async fn whoever_goes_on_with_a_task_sends_its_notifications() {
    let (folder, (hooks, mut heard)) = (Folder::new(), hooks().await);
    let hook = |name: &str| Some(format!("{hooks}/hooks/{name}"));
    let told = |name: &str, state: &str| (name.to_owned(), state.to_owned());
    let served = folder.server(&hooks).await;
    let cut = message(&served, "t1/ann", "hanging_once", says("m1", "pushed"), hook("cut")).await;
    let asks = message(&served, "t1/ann", "approval", says("m2", "cats"), hook("asks")).await;
    assert_eq!(until(&mut heard, "asks", "INPUT_REQUIRED").await.len(), 1);
    let gone = message(&served, "t2/ann", "approval", says("m3", "dogs"), hook("gone")).await;
    assert_eq!(until(&mut heard, "gone", "INPUT_REQUIRED").await.len(), 1);
    let fails = message(&served, "ann", "failing_once", says("m4", "failed"), hook("fails")).await;
    assert_eq!(until(&mut heard, "fails", "FAILED").await.len(), 1);
    served.stop().await.unwrap();

    // Nobody who pushes is there: a program cancels one task, and tries another again.
    let program = folder.program().await;
    program.for_app("t2").cancel(gone.parse().unwrap()).await.unwrap();
    assert!(program.retry(fails.parse().unwrap()).await.unwrap().result.is_ok());

    let served = folder.server(&hooks).await;
    let mut all = BTreeSet::new();
    while all.len() < 3 {
        assert!(all.insert(heard.recv().await.unwrap()));
    }
    assert_eq!(all, [told("cut", "COMPLETED"), told("gone", "CANCELED"), told("fails", "COMPLETED")].into());
    is(&program.for_app("t1"), &cut, RunStatus::Finished).await;
    let mut answer = says("m5", "Publish");
    answer["taskId"] = json!(asks);
    message(&served, "t1/ann", "approval", answer, None).await;
    let all = until(&mut heard, "asks", "COMPLETED").await;
    assert_eq!(all, [told("asks", "WORKING"), told("asks", "COMPLETED")], "and nothing twice");
    served.stop().await.unwrap();
}

/// A task that waits and is cancelled is driven by nobody.
#[tokio::test]
async fn a_task_that_is_cancelled_while_it_waits_is_told_of() {
    let (folder, (hooks, mut heard)) = (Folder::new(), hooks().await);
    let served = folder.server(&hooks).await;
    for (name, cancel) in [("rpc", true), ("rest", false)] {
        let hook = Some(format!("{hooks}/hooks/{name}"));
        let task = message(&served, "t1/ann", "approval", says(name, "cats"), hook).await;
        until(&mut heard, name, "INPUT_REQUIRED").await;
        let request = if cancel {
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": "CancelTask", "params": {"id": task}});
            served.post("/a2a/approval", &body).header("a2a-version", "1.0")
        } else {
            served.delete(&format!("/v1/runs/{task}"))
        };
        send(request.header("x-user", "t1/ann")).await;
        assert_eq!(until(&mut heard, name, "CANCELED").await.len(), 1);
    }
    served.stop().await.unwrap();
}
