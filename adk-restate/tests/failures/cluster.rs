//! A store, and processes that work on it and can be killed.

use super::effects;
use super::history::{self, Calls};
use super::program::Ending;
use super::program::runner;
use super::support::{Folder, Server, Setup, free_port, until};
use adk::engine::{RunFilter, RunStatus};
use adk::postgres::PostgresStore;
use adk::session::EventFilter;
use adk::sqlite::SqliteStore;
use adk::{RunId, Runner};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// Maximum time of runs after the last kill.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs with the names of their workflows.
pub type Runs = Vec<(String, RunId)>;

/// Returns new runs, one of each workflow.
pub fn runs_of(shapes: &[&str]) -> Runs {
    shapes
        .iter()
        .map(|shape| ((*shape).to_owned(), RunId::new()))
        .collect()
}

/// The store of the runs, and the file that records their [effects](super::effects).
pub struct Place {
    pub folder: Folder,
    /// File of a SQLite store, or URL of a Postgres database.
    pub store: String,
}

impl Place {
    pub fn new() -> Self {
        let folder = Folder::new();
        let store = folder.path().join("runs.db").display().to_string();
        Self { folder, store }
    }

    pub fn effects(&self) -> PathBuf {
        self.folder.path().join("effects")
    }

    /// Writes to the file of effects that a process was killed, cut off or connected again: `kill`,
    /// `cut` or `whole`.
    pub fn note(&self, what: &str) {
        effects::write(&self.effects(), what);
    }

    /// Returns a command that runs this test program in a role, such as a worker. `within` are
    /// words before the command, such as `ip netns exec a`.
    pub fn program(&self, role: &str, within: &[String]) -> Command {
        let exe = std::env::current_exe().unwrap();
        let mut words = within.iter().cloned().chain([exe.display().to_string()]);
        let mut command = Command::new(words.next().unwrap());
        command
            .args(words)
            .args([
                "--exact",
                "program",
                "--ignored",
                "--nocapture",
                "--test-threads=1",
            ])
            .env("ADK_ROLE", role)
            .env("ADK_STORE", &self.store)
            .env("ADK_EFFECTS", self.effects())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Starts a client that completes runs: through the Restate server at this URL, or without one
    /// by executing them itself.
    pub fn client(&self, restate: Option<&str>, runs: &Runs) -> Client {
        self.client_of("", restate, runs, true)
    }

    /// Starts a client with the workflows of a build. The client answers the questions of the runs
    /// only if `answers` is set.
    pub fn client_of(
        &self,
        build: &str,
        restate: Option<&str>,
        runs: &Runs,
        answers: bool,
    ) -> Client {
        let mut command = self.program("client", &[]);
        command
            .env("ADK_RUNS", serde_json::to_string(runs).unwrap())
            .env("ADK_BUILD", build);
        command.env("ADK_ANSWERS", if answers { "yes" } else { "no" });
        if let Some(url) = restate {
            command.env("ADK_RESTATE", url);
        }
        let mut process = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut stdout, mut stderr) = (
            process.stdout.take().unwrap(),
            process.stderr.take().unwrap(),
        );
        let said = tokio::spawn(async move {
            let (mut said, mut errors) = (String::new(), String::new());
            let _ = tokio::join!(
                stdout.read_to_string(&mut said),
                stderr.read_to_string(&mut errors)
            );
            (said, errors)
        });
        Client { process, said }
    }

    /// Opens the store if it is a file.
    pub async fn sqlite(&self) -> SqliteStore {
        SqliteStore::open(&self.store).await.unwrap()
    }

    /// Returns a runner on the store, for checks.
    pub async fn runner(&self) -> Runner {
        if self.store.starts_with("postgres:") {
            return runner(PostgresStore::connect(&self.store).await.unwrap());
        }
        runner(self.sqlite().await)
    }

    /// Reads the stored state and the effects of a run.
    pub async fn left(&self, runner: &Runner, run: RunId) -> Left {
        let session = runner.session("u", run.to_string());
        let there = session
            .get(&EventFilter::new())
            .await
            .unwrap()
            .expect("the session is there");
        let runs = runner.runs(&RunFilter::of_run(run)).await.unwrap();
        Left {
            ids: there
                .events
                .iter()
                .map(|event| event.id.to_string())
                .collect(),
            partial: there.events.iter().any(|event| event.partial),
            by_branch: history::by_branch(&there.events, run),
            branches: history::branches(&there.events),
            status: runs[0].status.clone(),
            seen: effects::of_run(&self.effects(), run),
        }
    }
}

/// The stored state and the effects of a run, after the run.
pub struct Left {
    pub ids: Vec<String>,
    pub partial: bool,
    pub by_branch: BTreeMap<String, Vec<String>>,
    pub branches: HashMap<String, String>,
    pub status: RunStatus,
    pub seen: Vec<effects::Seen>,
}

/// A client process.
pub struct Client {
    process: Child,
    said: tokio::task::JoinHandle<(String, String)>,
}

impl Client {
    pub fn kill(&mut self) {
        let _ = self.process.start_kill();
    }

    /// Returns the ends of runs that the client saw, after it ended or the patience was over.
    /// Panics if the client failed.
    pub async fn endings(mut self) -> Vec<Ending> {
        let ended = timeout(PATIENCE, self.process.wait()).await;
        self.kill();
        let (said, errors) = self.said.await.unwrap();
        let failed = ended.is_ok_and(|status| status.unwrap().code() == Some(101));
        assert!(!failed, "{said}\n{errors}");
        let endings = said.lines().filter_map(|line| line.strip_prefix("ended "));
        endings
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// Results of undisturbed runs, by workflow.
pub struct Reference {
    pub runs: BTreeMap<String, Expected>,
}

/// The results that a run must have.
pub struct Expected {
    pub by_branch: BTreeMap<String, Vec<String>>,
    pub calls: Calls,
    pub ending: Ending,
}

impl Reference {
    /// Executes each workflow on a store without Restate.
    pub async fn new(shapes: &[&str]) -> Self {
        let place = Place::new();
        let runs = runs_of(shapes);
        let endings = place.client(None, &runs).endings().await;
        let runner = place.runner().await;
        let mut all = BTreeMap::new();
        for ending in endings {
            let run = runs
                .iter()
                .find(|(shape, _)| *shape == ending.shape)
                .unwrap()
                .1;
            let left = place.left(&runner, run).await;
            let calls = Calls::new(&left.seen, &left.branches);
            all.insert(
                ending.shape.clone(),
                Expected {
                    by_branch: left.by_branch,
                    calls,
                    ending,
                },
            );
        }
        assert_eq!(all.len(), shapes.len());
        Self { runs: all }
    }

    /// Returns the number of calls that undisturbed runs of all workflows make.
    pub fn calls(&self) -> usize {
        self.runs.values().map(|run| run.calls.len()).sum()
    }

    /// Compares a run with an undisturbed one. Returns the number of repeated calls.
    pub fn check(
        &self,
        shape: &str,
        run: RunId,
        left: &Left,
        ending: &Ending,
    ) -> Result<usize, String> {
        let expected = &self.runs[shape];
        if let Some(difference) = history::difference(&expected.by_branch, &left.by_branch) {
            return Err(difference);
        }
        let ids: HashSet<_> = left.ids.iter().collect();
        if ids.len() != left.ids.len() || left.partial {
            return Err("an event is stored twice, or in part".to_owned());
        }
        if left.status != RunStatus::Finished {
            return Err(format!("its status is {:?}", left.status));
        }
        let text = |value: &serde_json::Value| value.to_string().replace(&run.to_string(), "RUN");
        let (there, here) = (text(&expected.ending.output), text(&ending.output));
        if there != here || sorted(&expected.ending.loops) != sorted(&ending.loops) {
            return Err(format!("it ended with {here} after {:?}", ending.loops));
        }
        if ending.seen.as_ref().is_some_and(|seen| *seen != left.ids) {
            return Err(format!(
                "the client has seen {:?}\nof {:?}",
                ending.seen, left.ids
            ));
        }
        expected.calls.check(&left.seen)
    }
}

fn sorted(loops: &[String]) -> Vec<String> {
    let mut loops = loops.to_vec();
    loops.sort_unstable();
    loops
}

/// A proxy that forwards each connection to one of several addresses in turn, to the first one that
/// accepts it.
pub struct Balancer {
    pub address: SocketAddr,
    task: tokio::task::JoinHandle<()>,
}

impl Balancer {
    /// Starts a balancer. A `port` of 0 selects a free one.
    pub async fn new(address: SocketAddr, targets: Vec<SocketAddr>) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let (address, targets) = (listener.local_addr().unwrap(), Arc::new(targets));
        let next = Arc::new(AtomicUsize::new(0));
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (targets, first) = (targets.clone(), next.fetch_add(1, Relaxed));
                tokio::spawn(async move { hand_on(client, &targets, first).await });
            }
        });
        Self { address, task }
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn hand_on(mut client: TcpStream, targets: &[SocketAddr], first: usize) {
    for nth in 0..targets.len() {
        let target = targets[(first + nth) % targets.len()];
        if let Ok(Ok(mut worker)) =
            timeout(Duration::from_millis(300), TcpStream::connect(target)).await
        {
            let _ = tokio::io::copy_bidirectional(&mut client, &mut worker).await;
            return;
        }
    }
}

/// A worker process.
pub struct Worker {
    pub address: SocketAddr,
    /// Words before the command of the worker, such as `ip netns exec a`.
    pub within: Vec<String>,
    /// The version of the workflows that the worker has, see [`versions`](super::versions).
    pub build: &'static str,
    process: Option<Child>,
}

impl Worker {
    pub fn new(address: SocketAddr, within: &[&str], build: &'static str) -> Self {
        let within = within.iter().map(|word| (*word).to_owned()).collect();
        Self {
            address,
            within,
            build,
            process: None,
        }
    }

    /// Starts the process, and waits until it listens.
    pub async fn start(&mut self, place: &Place) {
        let log = place.folder.path().join(format!("worker-{}", self.address));
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(log)
            .unwrap();
        let mut command = place.program("worker", &self.within);
        command
            .env("ADK_LISTEN", self.address.to_string())
            .env("ADK_BUILD", self.build);
        let process = command
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        self.process = Some(process);
        let address = self.address;
        until("the worker listens", async || {
            TcpStream::connect(address).await.is_ok()
        })
        .await;
    }

    /// Kills the process if it lives.
    pub fn kill(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.start_kill();
        }
    }

    pub fn pid(&self) -> u32 {
        self.process.as_ref().and_then(Child::id).expect("it runs")
    }
}

/// The workers that share one address, and the Restate server that calls them.
pub struct Deployment {
    pub place: Place,
    pub server: Server,
    pub workers: Vec<Worker>,
    balancer: Balancer,
}

/// Settings of all servers in these tests: few calls per connection, so that workers share them,
/// and short pauses.
pub fn settings() -> Vec<(&'static str, &'static str)> {
    vec![
        (
            "RESTATE_WORKER__INVOKER__HTTP2_STREAMS_PER_CONNECTION_LIMIT",
            "2",
        ),
        ("RESTATE_DEFAULT_RETRY_POLICY__INITIAL_INTERVAL", "50ms"),
        ("RESTATE_DEFAULT_RETRY_POLICY__MAX_INTERVAL", "500ms"),
    ]
}

impl Deployment {
    /// Starts two workers and a server on this machine.
    pub async fn start() -> Self {
        let local = |port| SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port);
        let workers = (0..2)
            .map(|_| Worker::new(local(free_port()), &[], ""))
            .collect();
        let setup = Setup {
            settings: settings(),
            ..Setup::default()
        };
        Self::start_with(Place::new(), setup, workers, Ipv4Addr::LOCALHOST.into()).await
    }

    /// Starts the given workers, and a server that calls them at this address.
    pub async fn start_with(
        place: Place,
        setup: Setup,
        mut workers: Vec<Worker>,
        ip: IpAddr,
    ) -> Self {
        for worker in &mut workers {
            worker.start(&place).await;
        }
        let targets = workers.iter().map(|worker| worker.address).collect();
        let balancer = Balancer::new(SocketAddr::new(ip, 0), targets).await;
        let server = Server::start_in(setup).await;
        let deployment = Self {
            place,
            server,
            workers,
            balancer,
        };
        deployment.register().await;
        deployment
    }

    /// Registers the services of the workers.
    pub async fn register(&self) {
        self.server.register(self.balancer.address).await;
    }

    /// Starts a client that lets the workers complete these runs.
    pub fn client(&self, runs: &Runs) -> Client {
        self.place.client(Some(&self.server.ingress()), runs)
    }

    /// Checks the runs of a client that has ended, and collects the faults.
    pub async fn check(&self, reference: &Reference, runs: &Runs, endings: &[Ending]) -> Checked {
        let runner = self.place.runner().await;
        let mut checked = Checked::default();
        for (shape, run) in runs {
            let Some(ending) = endings.iter().find(|ending| ending.shape == *shape) else {
                checked.faults.push(format!(
                    "{shape} {run}: it did not end; {}",
                    self.describe(&runner, *run).await
                ));
                continue;
            };
            checked.stops += ending.stops.len();
            let left = self.place.left(&runner, *run).await;
            match reference.check(shape, *run, &left, ending) {
                Ok(again) => checked.again += again,
                Err(fault) => {
                    let asked = effects::questions(&self.place.effects(), &fault).join("\n");
                    checked
                        .faults
                        .push(format!("{shape} {run}: {fault}\n{asked}"));
                }
            }
        }
        if checked.faults.is_empty() {
            assert!(
                runner.waiting().await.unwrap().is_empty(),
                "no run waits any more"
            );
            until("Restate has nothing left to do", async || {
                self.open_invocations().await.is_empty()
            })
            .await;
        }
        checked
    }

    /// Describes a run that does not end.
    pub async fn describe(&self, runner: &Runner, run: RunId) -> String {
        let there = runner.runs(&RunFilter::of_run(run)).await.unwrap();
        if there.is_empty() {
            return "it is not in the store".to_owned();
        }
        let left = self.place.left(runner, run).await;
        let open = self.open_invocations().await;
        let sql = "SELECT id, index, entry_type, name, completed FROM sys_journal WHERE id IN \
                   (SELECT id FROM sys_invocation WHERE status != 'completed') ORDER BY id, index";
        let journal: Vec<String> = self
            .server
            .query(sql)
            .await
            .iter()
            .map(ToString::to_string)
            .collect();
        let last: Vec<_> = left
            .by_branch
            .iter()
            .map(|(branch, lines)| (branch, lines.last()))
            .collect();
        let (waiting, seen) = (runner.waiting().await.unwrap(), left.seen);
        format!(
            "{there:?}\n{last:?}\n{waiting:?}\n{seen:?}\n{open:#?}\n{}",
            journal.join("\n")
        )
    }

    /// Lists the unfinished invocations of Restate.
    pub async fn open_invocations(&self) -> Vec<serde_json::Value> {
        let sql =
            "SELECT target, status, last_failure FROM sys_invocation WHERE status != 'completed'";
        self.server.query(sql).await
    }
}

/// The result of the checks of some runs.
#[derive(Debug, Default)]
pub struct Checked {
    pub faults: Vec<String>,
    /// Number of repeated calls.
    pub again: usize,
    /// Number of errors after which clients resumed runs.
    pub stops: usize,
}

impl Checked {
    pub fn add(&mut self, other: Self) {
        self.faults.extend(other.faults);
        self.again += other.again;
        self.stops += other.stops;
    }
}
