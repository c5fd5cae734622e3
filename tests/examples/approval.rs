//! A person decides from another process, after the process that asked was killed.

use crate::process::{Example, Ran, example};
use crate::wire::{MODELS, asks};
use crate::wire_server::{Reply, WireServer};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A file for the runs of one test, deleted on drop.
struct Store(PathBuf);

impl Store {
    fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("adk-approval-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    fn approval(&self, args: &[&str]) -> Example {
        let file = self.0.join("runs.db");
        example(
            "approval",
            &[&["--store", &file.to_string_lossy()], args].concat(),
        )
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Asserts that the error message is complete and the only output.
#[track_caller]
fn assert_refused(ran: &Ran, said: &str) {
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", said));
}

const WAITS: &str = "Waiting for a decision.";

#[tokio::test]
async fn a_draft_of_a_killed_process_is_published_by_another() {
    let store = Store::new("killed");
    let first = store.approval(&["draft", "a cat"]).start_until(WAITS);
    let asked: String = first.out.split_inclusive('\n').take(2).collect();
    assert!(
        asked.starts_with("May this be published? (rehearsed answer of writer)\n  "),
        "{asked}"
    );
    first.kill();

    assert_eq!(store.approval(&["list"]).run().await.good().out, asked);
    let published = store.approval(&["publish"]).run().await.good();
    assert_eq!(published.out, "(rehearsed answer of writer)\n");
    assert_eq!(store.approval(&["list"]).run().await.good().out, "");
    assert_refused(
        &store.approval(&["publish"]).run().await,
        "error: no run waits for a decision\n",
    );
}

#[tokio::test]
async fn no_call_of_the_killed_process_is_made_again() {
    let store = Store::new("calls");
    let server = WireServer::start([Reply::text("A cat sat."), Reply::text("A cat slept.")]).await;
    let model = MODELS[0];
    let ask = |args: &[&str]| {
        asks(
            store.approval(&[&["--model", model.0], args].concat()),
            &server,
            model,
        )
    };

    let first = ask(&["draft", "a cat"]);
    let first = tokio::task::spawn_blocking(|| first.start_until(WAITS))
        .await
        .expect("no panic");
    assert!(
        first.out.starts_with("May this be published? A cat sat.\n"),
        "{}",
        first.out
    );
    first.kill();
    let revised = ask(&["revise", "shorter"]).run().await.good();
    assert_eq!(revised.out, "A cat slept.\n");

    let requests = server.requests();
    assert_eq!(requests.len(), 2, "one for the draft, one for the revision");
    let revision = requests[1].body.to_string();
    assert!(
        revision.contains("A cat sat.") && revision.contains("shorter"),
        "{revision}"
    );
}

#[tokio::test]
async fn the_process_that_asked_continues_if_it_lives() {
    let store = Store::new("alive");
    let mut first = store.approval(&["draft", "a cat"]).start_until(WAITS);
    let dropped = store.approval(&["drop"]).run().await.good();
    // Either process may be faster; the other process finds the run claimed or ended.
    let end = "(nothing was published)\n";
    assert!(
        [end, "The process that began it goes on.\n"].contains(&dropped.out.as_str()),
        "{}",
        dropped.out
    );
    if dropped.out != end {
        let line = tokio::task::spawn_blocking(move || (first.line(), first))
            .await
            .expect("no panic");
        assert!(
            line.0.starts_with("run ") && line.0.ends_with(" has ended\n"),
            "{}",
            line.0
        );
        first = line.1;
    }
    first.kill();
    assert_eq!(store.approval(&["list"]).run().await.good().out, "");
}

#[tokio::test]
async fn a_file_that_is_not_a_store_is_refused() {
    let store = Store::new("bad");
    std::fs::write(
        store.0.join("runs.db"),
        "a letter to my aunt, in plain words",
    )
    .expect("a file");
    let ran = store.approval(&["list"]).run().await;
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    assert!(
        ran.err.starts_with("error: ") && ran.err.contains("runs.db"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
}

/// Asks, and publishes from another process. `asked` is the output of `draft`.
async fn publishes(args: &[&str], asked: &str) {
    let approval = |words: &[&str]| example("approval", &[args, words].concat());
    assert!(
        asked.starts_with("May this be published? (rehearsed answer of writer)\n  e-"),
        "{asked}"
    );
    assert_eq!(approval(&["list"]).run().await.good().out, asked);
    assert_eq!(
        approval(&["publish"]).run().await.good().out,
        "(rehearsed answer of writer)\n"
    );
    assert_eq!(approval(&["list"]).run().await.good().out, "");
}

#[tokio::test]
#[ignore = "needs a Postgres server: tests/peers/run-postgres.sh"]
async fn a_draft_is_published_by_another_process_on_postgres() {
    let url = std::env::var("ADK_POSTGRES").expect("ADK_POSTGRES is the URL of a server");
    let args = ["--store", &*url];
    let first = example("approval", &[&args[..], &["draft", "a cat"]].concat()).start_until(WAITS);
    let asked: String = first.out.split_inclusive('\n').take(2).collect();
    first.kill();
    publishes(&args, &asked).await;
}

/// A process that is killed on drop.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
#[ignore = "needs a Restate server: tests/peers/run-restate.sh"]
async fn a_draft_is_published_by_another_process_on_restate() {
    let store = Store::new("restate");
    let program =
        std::env::var_os("RESTATE_SERVER").expect("RESTATE_SERVER is the path of a server");
    let sockets = [(); 4].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    let ports = sockets.map(|socket| socket.local_addr().expect("it is bound").port().to_string());
    let [ingress, admin, node, worker] = &ports;
    let mut server = Command::new(program);
    server
        .args(["--no-logo", "--base-dir"])
        .arg(store.0.join("restate"))
        .stdout(Stdio::null());
    server.envs([
        ("RESTATE_DISABLE_TELEMETRY", "true"),
        ("RESTATE_LISTEN_MODE", "tcp"),
    ]);
    server.envs([
        ("RESTATE_BIND_IP", "127.0.0.1"),
        ("RESTATE_BIND_PORT", node),
    ]);
    server.envs([
        ("RESTATE_INGRESS__BIND_PORT", ingress),
        ("RESTATE_ADMIN__BIND_PORT", admin),
    ]);
    let _server = Running(server.stderr(Stdio::null()).spawn().expect("it starts"));
    let address = format!("127.0.0.1:{worker}");
    let _worker = Running(store.approval(&["worker", &address]).start());

    let (http, begun) = (reqwest::Client::new(), Instant::now());
    loop {
        let deployment = http.post(format!("http://127.0.0.1:{admin}/deployments"));
        let deployment = deployment.header("content-type", "application/json");
        let answer = deployment
            .body(format!("{{\"uri\": \"http://{address}\"}}"))
            .send()
            .await;
        if answer.is_ok_and(|answer| answer.status().is_success()) {
            break;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "the server does not take the worker"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let (file, url) = (
        store.0.join("runs.db"),
        format!("http://127.0.0.1:{ingress}"),
    );
    let args = ["--store", &*file.to_string_lossy(), "--restate", &*url];
    let asked = example("approval", &[&args[..], &["draft", "a cat"]].concat())
        .run()
        .await
        .good()
        .out;
    publishes(&args, &asked).await;
}
