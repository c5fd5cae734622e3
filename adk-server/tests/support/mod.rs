//! [`Served`]: a server with the workflows of the tests, and functions to send requests.

#![allow(dead_code, reason = "each test uses a part")]

pub mod counting;
pub mod magazine;
pub mod tools;
pub mod unavailable;

use adk::prelude::*;
use adk::server::{Limits, Server};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use std::net::SocketAddr;
use std::process::Command;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The decision of an editor.
#[adk::data]
pub enum Decision {
    /// As it is.
    Publish,
    /// Once more, with a note.
    Revise {
        /// The requested change.
        note: String,
    },
}

/// Writes in capitals, many times.
#[agent(writes = draft)]
pub fn shout(topic: &str, times: u32) -> String {
    vec![topic.to_uppercase(); times as usize].join(" ")
}

/// Publishes the draft, or the draft with the note.
#[agent(writes = post)]
pub fn publish(draft: &str, decision: &Decision) -> String {
    match decision {
        Decision::Publish => draft.to_owned(),
        Decision::Revise { note } => format!("{draft} ({note})"),
    }
}

/// Fails.
#[agent(writes = post)]
pub fn fails(topic: &str) -> adk::Result<String> {
    Err(
        adk::Error::new(adk::ErrorKind::Agent, format!("cannot write about {topic}"))
            .with_help("ask for another"),
    )
}

/// Runs until it is cancelled.
#[agent(writes = post)]
pub async fn hangs(topic: &str) -> String {
    let _ = topic;
    std::future::pending().await
}

workflow! {
    /// Shouts.
    pub Shouting(
        /// The text to shout.
        topic: String,
        /// The number of repetitions.
        times: u32 = 1,
    ) -> draft: String {
        shout
    }
}

workflow! {
    /// Drafts a post, and asks an editor.
    pub Approval(topic: String, times: u32 = 2) -> post: String {
        shout;
        /// May this be published? {draft}
        await decision: Decision;
        publish
    }
}

workflow! {
    /// Fails.
    pub Failing(topic: String) -> post: String { fails }
}

workflow! {
    /// Hangs.
    pub Hanging(topic: String) -> post: String { hangs }
}

/// A running server.
pub struct Served {
    pub address: SocketAddr,
    pub client: Client,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<adk::Result<()>>,
}

impl Served {
    /// Serves all workflows and tools of the tests.
    pub async fn new(
        runner: &adk::Runner,
        with: impl FnOnce(
            Server<adk::DefaultProvider, adk::NoResources>,
        ) -> Server<adk::DefaultProvider, adk::NoResources>,
    ) -> Self {
        Self::start(with(tools::all(adk::serve(runner)))).await
    }

    /// Starts a server on a free port.
    pub async fn start(server: Server<adk::DefaultProvider, adk::NoResources>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = server.serve(listener, async move { drop(stopped.await) });
        Self {
            address,
            client: Client::new(),
            stop: Some(stop),
            task: tokio::spawn(serving),
        }
    }

    /// Serves all workflows of the tests with runs in memory and without authentication.
    pub async fn in_memory() -> Self {
        let runner = adk::Runner::builder().build().expect("a runner");
        Self::new(&runner, |server| server).await
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("http://{}{path}", self.address))
    }

    pub fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        self.client
            .post(format!("http://{}{path}", self.address))
            .json(body)
    }

    pub fn delete(&self, path: &str) -> RequestBuilder {
        self.client.delete(format!("http://{}{path}", self.address))
    }

    /// Stops the server like a process that receives a termination signal.
    pub async fn stop(mut self) -> adk::Result<()> {
        drop(self.stop.take());
        self.task.await.expect("no panic")
    }
}

/// Returns limits without a grace period.
pub fn no_grace() -> Limits {
    let mut limits = Limits::default();
    limits.grace = std::time::Duration::ZERO;
    limits
}

/// Sends a request and returns the status and the JSON of the response.
pub async fn send(request: RequestBuilder) -> (StatusCode, Value) {
    read(request.send().await.expect("an answer")).await
}

pub async fn read(response: Response) -> (StatusCode, Value) {
    let status = response.status();
    let text = response.text().await.expect("a body");
    (
        status,
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")),
    )
}

/// Parses the events of a stream into their fields `event`, `id` and `data`.
pub fn sse(text: &str) -> Vec<(String, String, Value)> {
    let events = text.split("\n\n").filter(|event| !event.trim().is_empty());
    events
        .map(|event| {
            let field = |name: &str| {
                let lines = event
                    .lines()
                    .filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
                lines
                    .map(|line| line.strip_prefix(' ').unwrap_or(line))
                    .collect::<Vec<_>>()
                    .join("\n")
            };
            (
                field("event"),
                field("id"),
                serde_json::from_str(&field("data")).unwrap_or_default(),
            )
        })
        .collect()
}

/// Runs a client on Node.js.
///
/// # Errors
/// The output of a client that fails.
pub fn client(
    program: &str,
    with: impl FnOnce(&mut Command) -> &mut Command,
) -> Result<(), String> {
    let folder =
        std::env::var("ADK_CLIENTS").map_err(|_| "run by tests/peers/run-clients.sh".to_owned())?;
    let mut node = Command::new("node");
    let output = with(node.arg(format!("{folder}/{program}")))
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    ))
}
