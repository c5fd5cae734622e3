//! Benchmark of runs on Restate and of the same runs on plain stores, measured in alternation:
//! latency, runs per second, and CPU time per run of each process.
//!
//! ```sh
//! tests/peers/run-restate.sh tests/peers/run-postgres.sh \
//!     cargo bench -p adk-workflow-restate --bench runs
//! ```
//!
//! `-- restate+sqlite steps` measures only the rows whose text contains all of these words.
//! `MEASURE_SECONDS` sets the time per row (default 5 s). Server, worker and clients share the
//! machine; each engine has new tables, and Restate a new folder.

#![allow(
    missing_docs,
    reason = "`restate_sdk::service` generates items without"
)]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by a panic")]

#[path = "../tests/support/mod.rs"]
mod support;

use adk::Store;
use adk::postgres::PostgresStore;
use adk::prelude::*;
use adk::restate::Restate;
use adk::sqlite::SqliteStore;
use restate_sdk::endpoint::Endpoint;
use restate_sdk::ingress::ReqwestClient;
use restate_sdk::prelude::{ContextSideEffects as _, HandlerResult, HttpServer, RunFuture as _};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An agent without a recorded call or an event.
#[agent]
async fn nothing(cx: &mut adk::Context) {
    let _ = cx.path();
}

/// An agent with one recorded call.
#[agent(writes = text)]
fn add(text: &str) -> String {
    format!("{text}.")
}

/// An agent with one recorded call, for an element.
#[agent(writes = found)]
fn look(topic: &str) -> usize {
    topic.len()
}

workflow! {
    /// No step.
    pub NoSteps(text: String) { nothing }
}

workflow! {
    /// Five steps, one after the other.
    pub FiveSteps(text: String) -> text: String {
        add; add as second; add as third; add as fourth; add as fifth
    }
}

workflow! {
    /// Five rounds of two agents that ask a model, which answers at once.
    pub Rounds(text: String) -> text: String {
        agent critic -> criticism: String {
            include_contents: none,
            instruction: "Criticise {text}.",
        }
        agent refiner -> text: String {
            include_contents: none,
            instruction: "Apply {criticism} to {text}.",
        }

        loop(max = 5) < critic; refiner >
    }
}

workflow! {
    /// 32 elements, four at a time.
    pub Elements(topics: Vec<String>) -> found: Vec<usize> {
        each(max = 32, max_concurrency = 4) topic in topics < look >
    }
}

/// The names of the workflows in the printed table.
const RUNS: [&str; 4] = [
    "no steps",
    "five steps",
    "loop of 5, two agents",
    "each over 32, 4 at a time",
];

/// A service that uses Restate without ADK, to measure the cost of the Restate SDK itself.
struct Bare;

#[restate_sdk::service]
impl Bare {
    #[handler]
    async fn steps(
        &self,
        ctx: restate_sdk::prelude::Context<'_>,
        count: u32,
    ) -> HandlerResult<String> {
        let mut text = String::from("a cat");
        for step in 0..count {
            let given = text.clone();
            text = ctx
                .run(async move || Ok(format!("{given}.")))
                .name(format!("add{step}"))
                .await?;
        }
        Ok(text)
    }
}

/// The process that executes the runs: this one, or a worker of the Restate server at this address.
enum Who<'a> {
    This,
    Restate(&'a str),
}

/// Returns a runner whose store is `place`: a file, or the URL of a database.
async fn runner(place: &str, who: Who<'_>) -> Runner {
    if place.starts_with("postgres://") {
        runner_with(PostgresStore::connect(place).await.unwrap(), who)
    } else {
        runner_with(SqliteStore::open(place).await.unwrap(), who)
    }
}

fn runner_with(store: impl Store, who: Who<'_>) -> Runner {
    let builder = Runner::builder().model(Rehearsal::new());
    let builder = match who {
        Who::This => builder.store(store),
        Who::Restate(url) => builder.store(Restate::new(url, store).unwrap()),
    };
    builder.build().unwrap()
}

/// Runs a worker. This program is a worker if its argument is `worker`.
async fn work(address: SocketAddr, place: &str) {
    if place == "bare" {
        return HttpServer::new(Endpoint::builder().bind(Bare).build())
            .listen_and_serve(address)
            .await;
    }
    let runner = runner(place, Who::This).await;
    let endpoint = adk::restate::endpoint(&runner)
        .workflow(NoSteps::default())
        .workflow(FiveSteps::default());
    endpoint
        .workflow(Rounds::default())
        .workflow(Elements::default())
        .serve(address)
        .await
        .unwrap();
}

/// A worker in a process of its own, killed on drop.
struct Worker(Child);

impl Worker {
    async fn start(server: &support::Server, place: &str) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], support::free_port()));
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["worker", &address.to_string(), place])
            .stdout(Stdio::null());
        let worker = Self(command.spawn().unwrap());
        support::until("the worker listens", async || {
            tokio::net::TcpStream::connect(address).await.is_ok()
        })
        .await;
        server.register(address).await;
        worker
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Processes of an engine, whose CPU time is printed: clients, worker, server, database.
struct Processes {
    name: &'static str,
    pids: [Option<u32>; 4],
}

impl Processes {
    fn new(
        name: &'static str,
        restate: Option<(&Worker, &support::Server)>,
        has_database: bool,
    ) -> Self {
        let data = std::env::var("ADK_POSTGRES_DATA")
            .ok()
            .filter(|_| has_database);
        let postmaster = data.and_then(|data| {
            let file = std::fs::read_to_string(format!("{data}/postmaster.pid")).unwrap();
            file.lines().next()?.parse().ok()
        });
        let (worker, server) = restate
            .map(|(worker, server)| (worker.0.id(), server.pid()))
            .unzip();
        Self {
            name,
            pids: [Some(std::process::id()), worker, server, postmaster],
        }
    }

    /// Returns the CPU seconds of the processes and their children.
    fn used(&self) -> [f64; 4] {
        let all: Vec<(u32, u32, f64)> = std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| {
                let pid = entry.unwrap().file_name().to_str()?.parse().ok()?;
                let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
                // The fields after the process name are state, parent, and so on. The CPU times
                // begin with the twelfth of them, in hundredths of a second.
                let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
                let own = fields[11..13]
                    .iter()
                    .map(|ticks| ticks.parse::<f64>().unwrap())
                    .sum::<f64>();
                let ended = fields[13..15]
                    .iter()
                    .map(|ticks| ticks.parse::<f64>().unwrap())
                    .sum::<f64>();
                Some((pid, fields[1].parse().ok()?, (own + ended) / 100.0))
            })
            .collect();
        let is_database = |at: usize| at == 3;
        std::array::from_fn(|at| {
            let Some(of) = self.pids[at] else { return 0.0 };
            let is_counted = |pid, parent| pid == of || is_database(at) && parent == of;
            all.iter()
                .filter(|(pid, parent, _)| is_counted(*pid, *parent))
                .map(|(.., seconds)| seconds)
                .sum()
        })
    }
}

/// Calls `call` repeatedly from several concurrent clients, and prints a row.
async fn measure<F: Future<Output = ()> + Send>(
    processes: &Processes,
    what: &str,
    call: impl Fn() -> F + Clone + Send + 'static,
) {
    let least = std::env::var("MEASURE_SECONDS").map_or(5, |text| text.parse().unwrap());
    for clients in [1, 64] {
        let warm = Instant::now() + Duration::from_secs(1);
        let end = warm + Duration::from_secs(least);
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..clients {
            let call = call.clone();
            tasks.spawn(async move {
                let mut times = Vec::new();
                while Instant::now() < end {
                    let begin = Instant::now();
                    call().await;
                    if Instant::now() > warm {
                        times.push(begin.elapsed());
                    }
                }
                times
            });
        }
        tokio::time::sleep_until(warm.into()).await;
        let before = processes.used();
        let mut times = tasks.join_all().await.concat();
        let (after, seconds) = (processes.used(), warm.elapsed().as_secs_f64());
        times.sort_unstable();
        let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
        let count = times.len() as f64;
        let spent = [0, 1, 2, 3].map(|at| match processes.pids[at] {
            Some(_) => format!("{:.2}", (after[at] - before[at]) * 1e3 / count),
            None => String::new(),
        });
        let (name, rate) = (processes.name, count / seconds);
        let (p50, p99, spent) = (at(0.5), at(0.99), spent.join(" | "));
        println!("| {name} | {what} | {clients} | {p50:.2} | {p99:.2} | {rate:.1} | {spent} |");
    }
}

async fn workflows(processes: &Processes, runner: Runner, is_asked: &impl Fn(&str, &str) -> bool) {
    macro_rules! row {
        ($what:expr, $workflow:ty, $input:expr) => {
            if is_asked(processes.name, $what) {
                let workflow = Arc::new(<$workflow>::default());
                let runner = runner.clone();
                let call = move || {
                    let run = runner.run(workflow.clone(), $input);
                    async move { drop(run.await.unwrap()) }
                };
                measure(processes, $what, call).await;
            }
        };
    }
    row!(RUNS[0], NoSteps, "a cat".to_owned());
    row!(RUNS[1], FiveSteps, "a cat".to_owned());
    row!(RUNS[2], Rounds, "a cat".to_owned());
    row!(RUNS[3], Elements, vec!["a cat".to_owned(); 32]);
}

async fn bare(is_asked: &impl Fn(&str, &str) -> bool) {
    let server = support::Server::start().await;
    let worker = Worker::start(&server, "bare").await;
    let processes = Processes::new("bare SDK", Some((&worker, &server)), false);
    let client = ReqwestClient::connect(server.ingress().parse().unwrap()).unwrap();
    let client = Arc::new(BareIngressClient::from_client(client));
    for (what, count) in [(RUNS[0], 0), (RUNS[1], 5)] {
        let client = client.clone();
        let call = move || {
            let client = client.clone();
            async move {
                drop(
                    client
                        .steps(count)
                        .call()
                        .await
                        .unwrap()
                        .into_body()
                        .unwrap(),
                )
            }
        };
        if is_asked("bare SDK", what) {
            measure(&processes, what, call).await;
        }
    }
}

/// Creates a database, if there is a server.
fn database(name: &str) -> Option<String> {
    let url = std::env::var("ADK_POSTGRES").ok()?;
    let name = format!("{name}_{}", std::process::id());
    let made = Command::new("psql")
        .args([&url, "-qc", &format!("CREATE DATABASE {name}")])
        .status();
    assert!(made.unwrap().success());
    Some(format!("{}/{name}", url.rsplit_once('/').unwrap().0))
}

async fn all(is_asked: impl Fn(&str, &str) -> bool) {
    let columns =
        "p50, ms | p99, ms | runs/s | clients, ms of a core per run | worker | Restate | Postgres";
    println!("| engine | run | clients | {columns} |\n|---|---|---|---|---|---|---|---|---|---|");
    let folder = support::Folder::new();
    let file = |name: &str| Some(folder.path().join(name).to_str().unwrap().to_owned());
    let is_used = |name: &str| RUNS.iter().any(|what| is_asked(name, what));
    for (name, place) in [
        ("SQLite", file("plain.db")),
        ("Postgres", database("plain")),
    ] {
        let Some(place) = place.filter(|_| is_used(name)) else {
            continue;
        };
        let processes = Processes::new(name, None, name == "Postgres");
        workflows(&processes, runner(&place, Who::This).await, &is_asked).await;
    }
    if is_used("bare SDK") {
        bare(&is_asked).await;
    }
    for (name, place) in [
        ("Restate+SQLite", file("above.db")),
        ("Restate+Postgres", database("above")),
    ] {
        let Some(place) = place.filter(|_| is_used(name)) else {
            continue;
        };
        let server = support::Server::start().await;
        let worker = Worker::start(&server, &place).await;
        let processes = Processes::new(name, Some((&worker, &server)), name == "Restate+Postgres");
        workflows(
            &processes,
            runner(&place, Who::Restate(&server.ingress())).await,
            &is_asked,
        )
        .await;
    }
}

fn main() {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with('-'))
        .collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    if let [role, address, place] = &args[..]
        && role == "worker"
    {
        return runtime.block_on(work(address.parse().unwrap(), place));
    }
    let is_asked = |engine: &str, what: &str| {
        let row = format!("{engine} {what}").to_lowercase();
        args.iter().all(|word| row.contains(word))
    };
    runtime.block_on(all(is_asked));
}
