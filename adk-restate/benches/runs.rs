//! Runs on Restate beside the same runs on plain stores, in the same minutes: latency, and runs per second.
//!
//! ```sh
//! RESTATE_SERVER=.../restate-server tests/peers/run-postgres.sh cargo bench -p adk-workflow-restate --bench runs
//! ```
//!
//! `-- restate+sqlite steps` measures only what has one of these words in its name. `MEASURE_SECONDS` is how long each row is
//! measured (5 s). Server, worker and clients share the machine; each engine has fresh tables, and Restate a fresh folder.

#![allow(clippy::unwrap_used, reason = "a benchmark fails by a panic")]

use adk::engine::Engine;
use adk::postgres::PostgresStore;
use adk::prelude::*;
use adk::restate::Restate;
use adk::session::SessionStore;
use adk::sqlite::SqliteStore;
use restate_sdk::endpoint::Endpoint;
use restate_sdk::ingress::ReqwestClient;
use restate_sdk::prelude::*;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Neither a step nor an event.
#[agent]
async fn nothing(cx: &mut adk::Context) {
    let _ = cx.path();
}

/// One step.
#[agent(writes = text)]
fn add(text: &str) -> String {
    format!("{text}.")
}

/// One step of an element.
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
        agent critic -> criticism: String { include_contents: none, instruction: "Criticise {text}." }
        agent refiner -> text: String { include_contents: none, instruction: "Apply {criticism} to {text}." }

        loop(max = 5) < critic; refiner >
    }
}

workflow! {
    /// 32 elements, four at a time.
    pub Elements(topics: Vec<String>) -> found: Vec<usize> {
        each(max = 32, max_concurrency = 4) topic in topics < look >
    }
}

/// What the SDK alone costs.
struct Bare;

#[restate_sdk::service]
impl Bare {
    #[handler]
    async fn steps(&self, ctx: restate_sdk::prelude::Context<'_>, count: u32) -> HandlerResult<String> {
        let mut text = String::from("a cat");
        for step in 0..count {
            let given = text.clone();
            text = ctx.run(async move || Ok(format!("{given}."))).name(format!("add{step}")).await?;
        }
        Ok(text)
    }
}

/// A process that ends with this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Where runs are kept: a file, or the URL of a database.
async fn store(place: &str) -> (Arc<dyn Engine>, Arc<dyn SessionStore>) {
    if place.starts_with("postgres://") {
        let store = PostgresStore::connect(place).await.unwrap();
        (Arc::new(store.clone()), Arc::new(store))
    } else {
        let store = SqliteStore::open(place).await.unwrap();
        (Arc::new(store.clone()), Arc::new(store))
    }
}

async fn runner(place: &str) -> Runner {
    let (engine, sessions) = store(place).await;
    Runner::builder().model(Rehearsal::new()).session_store(sessions).engine(engine).build().unwrap()
}

/// A worker in a process of its own, as this program with `worker`.
async fn work(port: u16, place: &str) {
    let address = format!("127.0.0.1:{port}").parse().unwrap();
    if place == "bare" {
        return HttpServer::new(Endpoint::builder().bind(Bare).build()).listen_and_serve(address).await;
    }
    let runner = runner(place).await;
    let endpoint =
        adk::restate::endpoint(&runner).workflow(NoSteps::default()).workflow(FiveSteps::default());
    endpoint.workflow(Rounds::default()).workflow(Elements::default()).serve(address).await.unwrap();
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A server in `folder` with one worker. Returns the URL of its ingress.
async fn restate(folder: &Path, place: &str) -> (Vec<Running>, String) {
    let [ingress, admin, node, port] = std::array::from_fn(|_| free_port());
    let mut server = Command::new(std::env::var_os("RESTATE_SERVER").expect("the path of restate-server"));
    server.args(["--no-logo", "--base-dir"]).arg(folder.join("restate")).current_dir(folder);
    server.envs([("RESTATE_DISABLE_TELEMETRY", "true"), ("RESTATE_BIND_IP", "127.0.0.1")]);
    server.envs([("RESTATE_LISTEN_MODE", "tcp"), ("RESTATE_LOG_FILTER", "warn")]);
    for (name, port) in [("INGRESS__", ingress), ("ADMIN__", admin), ("", node)] {
        server.env(format!("RESTATE_{name}BIND_PORT"), port.to_string());
    }
    let mut worker = Command::new(std::env::current_exe().unwrap());
    worker.args(["worker", &port.to_string(), place]);
    let processes = [server, worker]
        .map(|mut command| Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()));
    let deployment = serde_json::json!({ "uri": format!("http://127.0.0.1:{port}") });
    let http = reqwest::Client::new();
    let begin = Instant::now();
    loop {
        let request = http.post(format!("http://127.0.0.1:{admin}/deployments")).json(&deployment);
        if request.send().await.is_ok_and(|answer| answer.status().is_success()) {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "the server does not take the worker");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    (processes.into(), format!("http://127.0.0.1:{ingress}"))
}

/// Calls it again and again from so many clients at once, and prints a row.
async fn measure<F: Future<Output = ()> + Send>(
    engine: &str,
    what: &str,
    call: impl Fn() -> F + Clone + Send + 'static,
) {
    let seconds = std::env::var("MEASURE_SECONDS").map_or(5, |text| text.parse().unwrap());
    for clients in [1, 64] {
        let warm = Instant::now() + Duration::from_secs(1);
        let end = warm + Duration::from_secs(seconds);
        let tasks: Vec<_> = (0..clients).map(|_| {
            let call = call.clone();
            // Of the future alone the compiler knows that it may go to another thread.
            tokio::spawn(async move {
                let mut times = Vec::new();
                while Instant::now() < end {
                    let begin = Instant::now();
                    call().await;
                    if begin > warm {
                        times.push(begin.elapsed());
                    }
                }
                times
            })
        });
        let tasks: Vec<_> = tasks.collect();
        let mut times = Vec::new();
        for task in tasks {
            times.extend(task.await.unwrap());
        }
        times.sort_unstable();
        let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
        let rate = times.len() as f64 / seconds as f64;
        println!("| {engine} | {what} | {clients} | {:.2} ms | {:.2} ms | {rate:.0} |", at(0.5), at(0.99));
    }
}

async fn workflows(engine: &str, runner: Runner, is_asked: &impl Fn(&str, &str) -> bool) {
    macro_rules! row {
        ($what:literal, $workflow:ty, $input:expr) => {
            if is_asked(engine, $what) {
                let workflow = Arc::new(<$workflow>::default());
                let runner = runner.clone();
                let call = move || {
                    let (runner, workflow) = (runner.clone(), workflow.clone());
                    async move { drop(runner.run(workflow, $input).await.unwrap()) }
                };
                measure(engine, $what, call).await;
            }
        };
    }
    row!("no steps", NoSteps, "a cat".to_owned());
    row!("five steps", FiveSteps, "a cat".to_owned());
    row!("loop of 5, two agents", Rounds, "a cat".to_owned());
    row!("each over 32, 4 at a time", Elements, vec!["a cat".to_owned(); 32]);
}

async fn bare(folder: &Path, is_asked: &impl Fn(&str, &str) -> bool) {
    if !is_asked("bare SDK", "no steps") && !is_asked("bare SDK", "five steps") {
        return;
    }
    let (_processes, url) = restate(folder, "bare").await;
    let client =
        Arc::new(BareIngressClient::from_client(ReqwestClient::connect(url.parse().unwrap()).unwrap()));
    for (what, count) in [("no steps", 0), ("five steps", 5)] {
        let client = client.clone();
        let call = move || {
            let client = client.clone();
            async move { drop(client.steps(count).call().await.unwrap().into_body().unwrap()) }
        };
        if is_asked("bare SDK", what) {
            measure("bare SDK", what, call).await;
        }
    }
}

async fn all(folder: &Path, is_asked: impl Fn(&str, &str) -> bool) {
    println!("| engine | run | clients | p50 | p99 | runs/s |\n|---|---|---|---|---|---|");
    let database = std::env::var("ADK_POSTGRES").ok();
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let fresh = async |name: &str| {
        let url = database.as_ref()?;
        let admin = Command::new("psql").args([url, "-qc", &format!("CREATE DATABASE {name}")]).status();
        assert!(admin.unwrap().success());
        Some(format!("{}/{name}", url.rsplit_once('/').unwrap().0))
    };
    if is_asked("SQLite", "") {
        workflows("SQLite", runner(&file("plain.db")).await, &is_asked).await;
    }
    if let Some(place) = fresh("plain").await {
        workflows("Postgres", runner(&place).await, &is_asked).await;
    }
    bare(&folder.join("bare"), &is_asked).await;
    for (engine, place) in
        [("Restate+SQLite", Some(file("above.db"))), ("Restate+Postgres", fresh("above").await)]
    {
        let Some(place) = place else { continue };
        let (_processes, url) = restate(&folder.join(engine), &place).await;
        let (engine_below, sessions) = store(&place).await;
        let client = Restate::connect(url, engine_below).unwrap();
        let runner = Runner::builder().model(Rehearsal::new()).session_store(sessions).engine(client);
        workflows(engine, runner.build().unwrap(), &is_asked).await;
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if let [role, port, place] = &args[..]
        && role == "worker"
    {
        return runtime.block_on(work(port.parse().unwrap(), place));
    }
    let folder = std::env::temp_dir().join(format!("adk-restate-runs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let is_asked = |engine: &str, what: &str| {
        args.iter().all(|word| engine.to_lowercase().contains(word) || what.contains(word.as_str()))
    };
    runtime.block_on(all(&folder, is_asked));
    let _ = std::fs::remove_dir_all(&folder);
}
