//! A local server that speaks the wire formats of the providers, from a script.
//!
//! The server exists for tests and for running programs by hand: real HTTP/1.1 over a socket,
//! streams as chunked server-sent events, replies in the documented format of each provider. It is
//! not optimised for speed.
//!
//! ```ignore
//! let server = WireServer::start([
//!     Reply::new().call("get_weather", json!({"city": "Paris"})).split(3),
//!     Reply::text("It is sunny.").usage(12, 5),
//!     Reply::status(429).header("retry-after", "7").message("slow down"),
//! ])
//! .await;
//! // ... OPENAI_BASE_URL={server.url()}
//! assert_eq!(server.requests()[1].body["messages"][2]["role"], "tool");
//! ```
//!
//! The path of a request selects the format: `/v1/chat/completions`, `/v1/responses`,
//! `/v1/messages`, `/v1beta/models/NAME:generateContent` and `:streamGenerateContent`, `/api/chat`.
#![allow(
    dead_code,
    unreachable_pub,
    missing_debug_implementations,
    reason = "each test includes it and uses a part"
)]

mod anthropic;
mod gemini;
mod http;
mod ollama;
mod openai;
mod reply;
mod responses;

pub use reply::Reply;

use serde_json::Value;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

/// A received request.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The path with the query, such as `/v1/chat/completions`.
    pub path: String,
    /// The headers; names are in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; null if it is not JSON.
    pub body: Value,
}

impl Recorded {
    /// Returns the value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

/// The server. It stops on drop.
pub struct WireServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    task: tokio::task::JoinHandle<()>,
}

struct Shared {
    script: Mutex<Vec<Reply>>,
    requests: Mutex<Vec<Recorded>>,
    /// The number of requests, for waiting.
    arrived: watch::Sender<usize>,
    /// The number of connections that the client closed in the middle of a reply.
    closed: watch::Sender<usize>,
    /// The number of replies that paused.
    paused: watch::Sender<usize>,
    /// Permits for paused replies to continue.
    gate: Semaphore,
}

impl WireServer {
    /// Listens on a free local port. Each reply serves one request, in order; a reply with
    /// [`Reply::when`] serves only a matching request, a reply with [`Reply::forever`] any number.
    pub async fn start(script: impl IntoIterator<Item = Reply>) -> Self {
        Self::listen("127.0.0.1:0", script).await
    }

    /// Listens on the given address.
    pub async fn listen(address: &str, script: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind(address)
            .await
            .expect("the address is free");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            script: Mutex::new(script.into_iter().collect()),
            requests: Mutex::default(),
            arrived: watch::Sender::new(0),
            closed: watch::Sender::new(0),
            paused: watch::Sender::new(0),
            gate: Semaphore::new(0),
        });
        let task = tokio::spawn({
            let shared = shared.clone();
            async move {
                // The connections end with the server.
                let mut connections = tokio::task::JoinSet::new();
                while let Ok((socket, _)) = listener.accept().await {
                    connections.spawn(http::serve(socket, shared.clone()));
                }
            }
        });
        Self {
            shared,
            address,
            task,
        }
    }

    /// Returns the URL without a path, such as `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns all requests so far.
    pub fn requests(&self) -> Vec<Recorded> {
        lock(&self.shared.requests).clone()
    }

    /// Returns the last request; panics if there were none.
    pub fn last(&self) -> Recorded {
        self.requests().pop().expect("a request came")
    }

    /// Replaces the script.
    pub fn play(&self, script: impl IntoIterator<Item = Reply>) {
        *lock(&self.shared.script) = script.into_iter().collect();
    }

    /// Adds a reply to the script.
    pub fn then(&self, reply: Reply) {
        lock(&self.shared.script).push(reply);
    }

    /// Waits until `count` requests have arrived.
    pub async fn arrived(&self, count: usize) {
        let mut arrived = self.shared.arrived.subscribe();
        arrived
            .wait_for(|seen| *seen >= count)
            .await
            .expect("the server runs");
    }

    /// Waits until the client has closed `count` connections in the middle of a reply.
    pub async fn closed(&self, count: usize) {
        let mut closed = self.shared.closed.subscribe();
        closed
            .wait_for(|seen| *seen >= count)
            .await
            .expect("the server runs");
    }

    /// Returns the number of replies that paused at [`Reply::pause_after`], to wait for the next.
    pub fn pauses(&self) -> watch::Receiver<usize> {
        self.shared.paused.subscribe()
    }

    /// Lets one reply that waits at [`Reply::pause_after`] continue, now or when it arrives there.
    pub fn release(&self) {
        self.shared.gate.add_permits(1);
    }
}

impl Drop for WireServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    /// Records the request, and takes its reply from the script.
    fn answer(&self, request: &Recorded) -> Reply {
        lock(&self.requests).push(request.clone());
        self.arrived.send_modify(|count| *count += 1);
        let text = request.body.to_string();
        let mut script = lock(&self.script);
        let Some(at) = script.iter().position(|reply| reply.fits(&text)) else {
            return Reply::status(500)
                .message("the script of the test has no reply to this request");
        };
        if script[at].forever {
            script[at].clone()
        } else {
            script.remove(at)
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
