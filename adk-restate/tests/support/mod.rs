//! A Restate server and workers for one test.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test file uses a part, and fails by it"
)]

use adk::restate::{Endpoint, Restate};
use adk::sqlite::SqliteStore;
use serde_json::{Value, json};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The builder of the runners of workers and clients.
pub type Builder = adk::runner::RunnerBuilder<adk::DefaultProvider>;
pub type Runner = adk::runner::Runner<adk::DefaultProvider>;

/// Maximum time that a test waits for a condition.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder that is removed on drop.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "adk-restate-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Settings of a server.
#[derive(Clone, Default)]
pub struct Setup {
    /// Words before the command of the server, such as `ip netns exec a`.
    pub within: Vec<String>,
    /// Address on which it listens; `None` for `127.0.0.1`.
    pub ip: Option<IpAddr>,
    /// Folder of the server's log; `None` for a new folder.
    pub data: Option<PathBuf>,
    /// Further settings, by the names of their variables.
    pub settings: Vec<(&'static str, &'static str)>,
}

/// A restate-server, killed on drop. The variable `RESTATE_SERVER` contains the path of its binary.
pub struct Server {
    process: Child,
    folder: Folder,
    setup: Setup,
    /// Ports of the ingress, the admin API, and the node.
    ports: [u16; 3],
    http: reqwest::Client,
}

impl Server {
    /// Starts a server on free ports, with an empty log, and waits until it is ready.
    pub async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts a server with settings, given as environment variables.
    pub async fn start_with(settings: &[(&'static str, &'static str)]) -> Self {
        Self::start_in(Setup {
            settings: settings.to_vec(),
            ..Setup::default()
        })
        .await
    }

    /// Starts a server with a setup.
    pub async fn start_in(setup: Setup) -> Self {
        let folder = Folder::new();
        let ports = [free_port(), free_port(), free_port()];
        let process = spawn(&folder, ports, &setup);
        let server = Self {
            process,
            folder,
            setup,
            ports,
            http: reqwest::Client::new(),
        };
        server.is_ready().await;
        server
    }

    /// Returns the URL of the ingress, where clients call workflows.
    pub fn ingress(&self) -> String {
        format!("http://{}:{}", self.setup.ip(), self.ports[0])
    }

    /// Returns the URL of the admin API.
    pub fn admin(&self) -> String {
        format!("http://{}:{}", self.setup.ip(), self.ports[1])
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Reads the log of the server.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// Kills the server, like `kill -9`.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Starts a killed server again, on its ports and with its log.
    pub async fn restart(&mut self) {
        self.process = spawn(&self.folder, self.ports, &self.setup);
        self.is_ready().await;
    }

    /// Registers the services at an address, and overwrites earlier services of that address
    /// (`force`).
    pub async fn register(&self, address: SocketAddr) -> Value {
        let body = json!({"uri": format!("http://{address}/"), "force": true});
        self.call("POST", "/deployments", Some(body)).await
    }

    /// Calls the admin API until it answers. Panics if it refuses.
    pub async fn call(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        let url = format!("{}{path}", self.admin());
        let give_up = Instant::now() + PATIENCE;
        loop {
            let method = method.parse::<reqwest::Method>().unwrap();
            let mut request = self
                .http
                .request(method, &url)
                .header("accept", "application/json");
            if let Some(body) = &body {
                request = request
                    .header("content-type", "application/json")
                    .body(body.to_string());
            }
            let problem = match request.send().await {
                Ok(reply) => {
                    let (status, text) = (reply.status(), reply.text().await.unwrap());
                    if status.is_success() {
                        return serde_json::from_str(&text).unwrap_or_default();
                    }
                    assert!(status.is_server_error(), "{url}: {status} {text}");
                    text
                }
                Err(error) => error.to_string(),
            };
            assert!(Instant::now() < give_up, "{url}: {problem}\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Returns the rows of an SQL query over `sys_invocation`, `sys_journal` and so on.
    pub async fn query(&self, sql: &str) -> Vec<Value> {
        let mut reply = self
            .call("POST", "/query", Some(json!({"query": sql})))
            .await;
        serde_json::from_value(reply["rows"].take()).unwrap()
    }

    async fn is_ready(&self) {
        self.call("GET", "/health", None).await;
        // The API answers before the partitions of the server have started, so a query waits for
        // them.
        self.query("SELECT count(*) AS n FROM sys_journal").await;
        let url = format!("{}/restate/health", self.ingress());
        until("the ingress is ready", async || {
            self.http
                .get(&url)
                .send()
                .await
                .is_ok_and(|reply| reply.status().is_success())
        })
        .await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if std::thread::panicking() {
            eprintln!("{}", self.log());
        }
    }
}

impl Setup {
    fn ip(&self) -> IpAddr {
        self.ip.unwrap_or(Ipv4Addr::LOCALHOST.into())
    }
}

fn spawn(folder: &Folder, ports: [u16; 3], setup: &Setup) -> Child {
    let binary =
        std::env::var("RESTATE_SERVER").expect("RESTATE_SERVER is the path of a restate-server");
    let mut words = setup.within.iter().chain([&binary]);
    let log = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.path().join("log"))
        .unwrap();
    Command::new(words.next().unwrap())
        .args(words)
        .args(["--no-logo", "--base-dir"])
        .arg(
            setup
                .data
                .clone()
                .unwrap_or_else(|| folder.path().join("data")),
        )
        .env("RESTATE_DISABLE_TELEMETRY", "true")
        .env("RESTATE_DEFAULT_NUM_PARTITIONS", "4")
        .env("RESTATE_LOG_DISABLE_ANSI_CODES", "true")
        .env("RESTATE_LOG_FILTER", "warn")
        .env("RESTATE_BIND_IP", setup.ip().to_string())
        .env("RESTATE_ADVERTISED_HOST", setup.ip().to_string())
        .env("RESTATE_LISTEN_MODE", "tcp")
        .env("RESTATE_INGRESS__BIND_PORT", ports[0].to_string())
        .env("RESTATE_ADMIN__BIND_PORT", ports[1].to_string())
        .env("RESTATE_BIND_PORT", ports[2].to_string())
        .envs(setup.settings.iter().copied())
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap()
}

/// Returns a port on which no process listens.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

/// Polls a condition until it holds.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let give_up = Instant::now() + PATIENCE;
    while !holds().await {
        assert!(Instant::now() < give_up, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Workflows that this process serves until the worker is dropped.
pub struct Worker {
    pub address: SocketAddr,
    serving: tokio::task::JoinHandle<()>,
}

impl Worker {
    /// Serves workflows on a free port.
    pub async fn start<P: 'static, R: 'static>(endpoint: Endpoint<P, R>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = tokio::spawn(async move {
            endpoint
                .serve_on(listener, std::future::pending())
                .await
                .unwrap();
        });
        Self { address, serving }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// A server, a store, one worker and a client. The server suspends each invocation whenever it
/// waits, so that handlers are executed repeatedly.
pub struct World {
    pub server: Server,
    pub worker: Worker,
    pub store: SqliteStore,
    pub client: Runner,
    _folder: Folder,
}

impl World {
    /// Starts a world. `build` configures the runner of the worker and of the client.
    pub async fn start(build: impl Fn(Builder) -> Builder) -> Self {
        Self::start_with(&[], build).await
    }

    /// Starts a world with further server settings, given as environment variables.
    pub async fn start_with(
        settings: &[(&'static str, &'static str)],
        build: impl Fn(Builder) -> Builder,
    ) -> Self {
        let suspends = [("RESTATE_WORKER__INVOKER__INACTIVITY_TIMEOUT", "0s")];
        let (folder, server) = (
            Folder::new(),
            Server::start_with(&[&suspends, settings].concat()).await,
        );
        let store = SqliteStore::open(folder.path().join("runs.db"))
            .await
            .unwrap();
        let restate = Restate::new(&server.ingress(), store.clone()).unwrap();
        let client = build(adk::Runner::builder().store(restate))
            .build()
            .unwrap();
        let worker = Worker::start(adk::restate::endpoint(&client)).await;
        server.register(worker.address).await;
        Self {
            server,
            worker,
            store,
            client,
            _folder: folder,
        }
    }

    /// Returns the names of the journal entries of a run and its branches, in the order of each
    /// journal. Leaves out the entries that a repeated execution of a handler adds: before a
    /// commit, and before the end.
    pub async fn entries(&self, service: &str) -> Vec<String> {
        let sql = format!(
            "SELECT j.name FROM sys_journal j JOIN sys_invocation i ON i.id = j.id
            WHERE i.target_service_name LIKE '{service}%' AND j.name IS NOT NULL AND j.name <> ''
            ORDER BY i.target_service_name, j.id, j.index"
        );
        let rows = self.server.query(&sql).await;
        let names = rows
            .iter()
            .map(|row| row["name"].as_str().unwrap().to_owned());
        names
            .filter(|name| !name.contains('!') && name != "ended")
            .collect()
    }
}
