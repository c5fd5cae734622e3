//! Tenants of one server, and the runs and notifications that a server leaves to the next one.

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

/// Hangs in the first process that calls it.
#[agent(writes = post)]
async fn hang_once(key: &str) -> String {
    if is_new(key) {
        std::future::pending::<()>().await;
    }
    key.to_uppercase()
}

/// Fails on the first call.
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

/// Reads the caller from `x-user`: `TENANT/USER`, or a user of the app itself.
async fn by_header(request: axum::http::request::Parts) -> Result<Caller, Refusal> {
    let user = request
        .headers
        .get("x-user")
        .and_then(|user| user.to_str().ok())
        .unwrap_or("op");
    Ok(match user.split_once('/') {
        Some((tenant, user)) => Caller::user(user).app(tenant),
        None => Caller::user(user),
    })
}

/// A temporary folder for a file of runs. Dropping it removes the folder.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "adk-server-tenants-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Opens another program with the same workflows as the servers.
    async fn program(&self) -> adk::Runner {
        let store = SqliteStore::open(self.0.join("runs.db")).await.unwrap();
        let builder = adk::Runner::builder()
            .session_store(store.clone())
            .engine(store);
        builder
            .workflow(HangingOnce::default())
            .workflow(FailingOnce::default())
            .build()
            .unwrap()
    }

    /// Starts the next server. It stops without a grace period, as if it were killed.
    async fn server(&self, hooks: &str) -> Served {
        let runner = self.program().await;
        let hooks = format!("{hooks}/hooks");
        Served::new(&runner, |server| {
            server
                .authorize(by_header)
                .limits(no_grace())
                .push_to(hooks)
        })
        .await
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A received notification: the last segment of the path and the state of the task.
type Notified = (String, String);

/// Listens for notifications.
async fn hooks() -> (String, UnboundedReceiver<Notified>) {
    let (posted, received) = mpsc::unbounded_channel();
    let hook = async |State(posted): State<UnboundedSender<Notified>>,
                      axum::extract::Path(name): axum::extract::Path<String>,
                      body: axum::body::Bytes| {
        let body: Value = serde_json::from_slice(&body).unwrap();
        let state = body["statusUpdate"]["status"]["state"]
            .as_str()
            .unwrap()
            .to_owned();
        posted
            .send((name, state.trim_start_matches("TASK_STATE_").to_owned()))
            .unwrap();
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let router = axum::Router::new()
        .route("/hooks/{name}", post(hook))
        .with_state(posted);
    tokio::spawn(axum::serve(listener, router).into_future());
    (address, received)
}

/// Returns all notifications up to the one with a name and a state.
async fn until(
    received: &mut UnboundedReceiver<Notified>,
    name: &str,
    state: &str,
) -> Vec<Notified> {
    let mut all = Vec::new();
    while all.last() != Some(&(name.to_owned(), state.to_owned())) {
        all.push(received.recv().await.expect("the listener runs"));
    }
    all
}

/// Starts or answers a task and returns its id.
async fn message(
    served: &Served,
    who: &str,
    workflow: &str,
    message: Value,
    hook: Option<String>,
) -> String {
    let push = hook.map(|url| json!({ "url": url }));
    let params = json!({
        "message": message,
        "configuration": {"returnImmediately": true, "taskPushNotificationConfig": push},
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params});
    let request = served
        .post(&format!("/a2a/{workflow}"), &body)
        .header("a2a-version", "1.0");
    let (_, answer) = send(request.header("x-user", who)).await;
    answer["result"]["task"]["id"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
        .to_owned()
}

fn says(id: &str, text: &str) -> Value {
    json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]})
}

/// Waits until a run has a status.
async fn wait_for_status(runner: &adk::Runner, run: &str, status: RunStatus) {
    let run: RunId = run.parse().unwrap();
    while runner.runs(&RunFilter::of_run(run)).await.unwrap()[0].status != status {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_limit_applies_to_each_user_of_each_tenant() {
    let runner = adk::Runner::builder().build().unwrap();
    let mut limits = no_grace();
    limits.runs_per_user = 1;
    let served = Served::new(&runner, |server| server.authorize(by_header).limits(limits)).await;
    let ask = |who: &'static str, path: &'static str, prefer: &'static str| {
        let request = served
            .post(path, &json!({"topic": "x"}))
            .header("x-user", who);
        async move { send(request.header("prefer", prefer)).await.0 }
    };
    assert_eq!(
        ask("t1/ann", "/v1/hanging/runs", "respond-async").await,
        StatusCode::ACCEPTED
    );
    assert_eq!(
        ask("t1/ann", "/v1/shouting/runs", "").await,
        StatusCode::TOO_MANY_REQUESTS
    );
    for who in ["t2/ann", "ann", "t1/bob"] {
        assert_eq!(
            ask(who, "/v1/shouting/runs", "").await,
            StatusCode::OK,
            "{who}"
        );
    }
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_key_belongs_to_one_user_of_one_tenant() {
    let runner = adk::Runner::builder().build().unwrap();
    let served = Served::new(&runner, |server| server.authorize(by_header)).await;
    for who in ["t1/ann", "t2/ann", "ann", "t1/bob", "t1/ann"] {
        let request = served
            .post("/v1/shouting/runs", &json!({"topic": who}))
            .header("x-user", who);
        let (status, run) = send(request.header("idempotency-key", "k")).await;
        assert_eq!(
            (status, &run["output"]),
            (StatusCode::OK, &json!(who.to_uppercase()))
        );
    }
    let mut count = 0;
    for who in ["t1/ann", "t2/ann", "ann", "t1/bob"] {
        let (_, all) = send(served.get("/v1/runs").header("x-user", who)).await;
        count += all["runs"].as_array().unwrap().len();
    }
    assert_eq!(count, 4, "the last request repeats the first one");
    served.stop().await.unwrap();
}

#[tokio::test]
async fn the_next_server_continues_the_runs_of_tenants_without_requests() {
    let (folder, (hooks, _)) = (Folder::new(), hooks().await);
    let served = folder.server(&hooks).await;
    let mut started = Vec::new();
    for who in ["t1/ann", "t2/ann", "ann"] {
        let request = served.post(
            "/v1/hanging_once/runs",
            &json!({"key": format!("left {who}")}),
        );
        let request = request
            .header("x-user", who)
            .header("prefer", "respond-async");
        let (status, run) = send(request).await;
        assert_eq!(status, StatusCode::ACCEPTED, "{run}");
        started.push((who, run["run"].as_str().unwrap().to_owned()));
    }
    for (who, _) in &started {
        while !SEEN.lock().unwrap().contains(&format!("left {who}")) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    served.stop().await.unwrap();

    let (served, program) = (folder.server(&hooks).await, folder.program().await);
    for (who, run) in started {
        let tenant = who
            .split_once('/')
            .map(|(tenant, _)| program.for_app(tenant));
        wait_for_status(
            tenant.as_ref().unwrap_or(&program),
            &run,
            RunStatus::Finished,
        )
        .await;
    }
    served.stop().await.unwrap();
}

#[tokio::test]
async fn the_server_that_continues_a_task_sends_its_notifications() {
    let (folder, (hooks, mut received)) = (Folder::new(), hooks().await);
    let hook = |name: &str| Some(format!("{hooks}/hooks/{name}"));
    let notified = |name: &str, state: &str| (name.to_owned(), state.to_owned());
    let served = folder.server(&hooks).await;
    let begin = async |user: &str, workflow: &str, says: Value, name: &str| {
        message(&served, user, workflow, says, hook(name)).await
    };
    let cut = begin("t1/ann", "hanging_once", says("m1", "pushed"), "cut").await;
    let asks = begin("t1/ann", "approval", says("m2", "cats"), "asks").await;
    let waits = until(&mut received, "asks", "INPUT_REQUIRED").await;
    assert_eq!(waits.len(), 1);
    let gone = begin("t2/ann", "approval", says("m3", "dogs"), "gone").await;
    let waits = until(&mut received, "gone", "INPUT_REQUIRED").await;
    assert_eq!(waits.len(), 1);
    let fails = begin("ann", "failing_once", says("m4", "failed"), "fails").await;
    assert_eq!(until(&mut received, "fails", "FAILED").await.len(), 1);
    served.stop().await.unwrap();

    // While no server runs, a program cancels one task and retries another.
    let program = folder.program().await;
    program
        .for_app("t2")
        .cancel(gone.parse().unwrap())
        .await
        .unwrap();
    assert!(
        program
            .retry(fails.parse().unwrap())
            .await
            .unwrap()
            .result
            .is_ok()
    );

    let served = folder.server(&hooks).await;
    let mut all = BTreeSet::new();
    while all.len() < 3 {
        assert!(all.insert(received.recv().await.unwrap()));
    }
    assert_eq!(
        all,
        [
            notified("cut", "COMPLETED"),
            notified("gone", "CANCELED"),
            notified("fails", "COMPLETED")
        ]
        .into()
    );
    wait_for_status(&program.for_app("t1"), &cut, RunStatus::Finished).await;
    let mut answer = says("m5", "Publish");
    answer["taskId"] = json!(asks);
    message(&served, "t1/ann", "approval", answer, None).await;
    let all = until(&mut received, "asks", "COMPLETED").await;
    assert_eq!(
        all,
        [notified("asks", "WORKING"), notified("asks", "COMPLETED")],
        "no notification is repeated"
    );
    served.stop().await.unwrap();
}

/// No process drives a waiting task that is cancelled.
#[tokio::test]
async fn cancelling_a_waiting_task_sends_a_notification() {
    let (folder, (hooks, mut received)) = (Folder::new(), hooks().await);
    let served = folder.server(&hooks).await;
    for (name, cancel) in [("rpc", true), ("rest", false)] {
        let hook = Some(format!("{hooks}/hooks/{name}"));
        let task = message(&served, "t1/ann", "approval", says(name, "cats"), hook).await;
        until(&mut received, name, "INPUT_REQUIRED").await;
        let request = if cancel {
            let body =
                json!({"jsonrpc": "2.0", "id": 1, "method": "CancelTask", "params": {"id": task}});
            served
                .post("/a2a/approval", &body)
                .header("a2a-version", "1.0")
        } else {
            served.delete(&format!("/v1/runs/{task}"))
        };
        send(request.header("x-user", "t1/ann")).await;
        assert_eq!(until(&mut received, name, "CANCELED").await.len(), 1);
    }
    served.stop().await.unwrap();
}
