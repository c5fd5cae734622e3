//! A store, and programs that work on it: each a process that can be killed.

use super::effects;
use super::history::{self, Calls};
use super::program::Ending;
use super::support::Folder;
use adk::RunId;
use adk::engine::{Engine, RunFilter};
use adk::session::{EventFilter, SessionStore};
use adk::sqlite::SqliteStore;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};

/// How long runs may take after the last kill.
const PATIENCE: Duration = Duration::from_secs(90);

/// A run and the name of its workflow.
pub type Runs = Vec<(String, RunId)>;

/// New runs, one of each of these workflows.
pub fn runs_of(shapes: &[&str]) -> Runs {
    shapes.iter().map(|shape| ((*shape).to_owned(), RunId::new())).collect()
}

/// Where runs are stored, and what the world outside has seen of them.
pub struct Place {
    pub folder: Folder,
    /// The file of a SQLite store, or the URL of a Postgres database.
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

    /// Says that a process was killed or cut off: what begins again after this line was interrupted.
    pub fn note_kill(&self) {
        effects::write(&self.effects(), "kill");
    }

    /// A process of this test that does what its role says, as root of the words in `within`, such as `ip netns exec a`.
    pub fn program(&self, role: &str, within: &[String]) -> Command {
        let exe = std::env::current_exe().unwrap();
        let mut words = within.iter().cloned().chain([exe.display().to_string()]);
        let mut command = Command::new(words.next().unwrap());
        command
            .args(words)
            .args(["--exact", "program", "--ignored", "--nocapture", "--test-threads=1"])
            .env("ADK_ROLE", role)
            .env("ADK_STORE", &self.store)
            .env("ADK_EFFECTS", self.effects())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Starts a client that brings runs to their end: by way of this Restate, or itself.
    pub fn client(&self, restate: Option<&str>, runs: &Runs) -> Client {
        let mut command = self.program("client", &[]);
        command.env("ADK_RUNS", serde_json::to_string(runs).unwrap());
        if let Some(url) = restate {
            command.env("ADK_RESTATE", url);
        }
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut stdout, mut stderr) = (process.stdout.take().unwrap(), process.stderr.take().unwrap());
        let said = tokio::spawn(async move {
            let (mut said, mut errors) = (String::new(), String::new());
            let _ = tokio::join!(stdout.read_to_string(&mut said), stderr.read_to_string(&mut errors));
            (said, errors)
        });
        Client { process, said }
    }

    /// What is stored and was seen of a run.
    pub async fn left(&self, store: &(impl SessionStore + Engine), run: RunId) -> Left {
        let key = adk::session::SessionKey::new("app", "u", run.to_string());
        let there = store.read(&key, &EventFilter::new()).await.unwrap().expect("the session is there");
        let runs = store.registry().unwrap().runs("app", &RunFilter::of_run(run)).await.unwrap();
        Left {
            ids: there.events.iter().map(|event| event.id.to_string()).collect(),
            partial: there.events.iter().any(|event| event.partial),
            by_branch: history::by_branch(&there.events, run),
            branches: history::branches(&there.events),
            status: format!("{:?}", runs[0].status),
            seen: effects::of_run(&self.effects(), run),
        }
    }

    pub async fn open(&self) -> SqliteStore {
        SqliteStore::open(&self.store).await.unwrap()
    }
}

/// What is stored and was seen of a run.
pub struct Left {
    pub ids: Vec<String>,
    pub partial: bool,
    pub by_branch: BTreeMap<String, Vec<String>>,
    pub branches: std::collections::HashMap<String, String>,
    pub status: String,
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

    /// How the runs ended that it has seen end; panics when it does not end, or badly.
    pub async fn endings(mut self) -> Vec<Ending> {
        let ended = tokio::time::timeout(PATIENCE, self.process.wait()).await;
        self.kill();
        let (said, errors) = self.said.await.unwrap();
        let status = ended.unwrap_or_else(|_| panic!("not in time:\n{said}\n{errors}")).unwrap();
        // What a killed one has said is of no interest.
        assert!(status.code() != Some(101), "{said}\n{errors}");
        let endings = said.lines().filter_map(|line| line.strip_prefix("ended "));
        endings.map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// What a run of each workflow is that nobody disturbs.
pub struct Reference {
    pub runs: BTreeMap<String, Expected>,
}

/// What must be left of a run of a workflow.
pub struct Expected {
    pub by_branch: BTreeMap<String, Vec<String>>,
    pub calls: Calls,
    pub ending: Ending,
}

impl Reference {
    /// Runs each workflow on its store alone.
    pub async fn new(shapes: &[&str]) -> Self {
        let place = Place::new();
        let runs = runs_of(shapes);
        let endings = place.client(None, &runs).endings().await;
        let store = place.open().await;
        let mut all = BTreeMap::new();
        for ending in endings {
            let run = runs.iter().find(|(shape, _)| *shape == ending.shape).unwrap().1;
            let left = place.left(&store, run).await;
            let calls = Calls::new(&left.seen, &left.branches);
            all.insert(ending.shape.clone(), Expected { by_branch: left.by_branch, calls, ending });
        }
        assert_eq!(all.len(), shapes.len());
        Self { runs: all }
    }

    /// Whether a run has left what one has that nobody disturbs. How many of its calls were made again.
    pub fn check(&self, shape: &str, run: RunId, left: &Left, ending: &Ending) -> Result<usize, String> {
        let expected = &self.runs[shape];
        if let Some(difference) = history::difference(&expected.by_branch, &left.by_branch) {
            return Err(difference);
        }
        let ids: std::collections::HashSet<_> = left.ids.iter().collect();
        if ids.len() != left.ids.len() || left.partial {
            return Err("an event is stored twice, or in part".to_owned());
        }
        if left.status != "Finished" {
            return Err(format!("its status is {}", left.status));
        }
        let text = |value: &serde_json::Value| value.to_string().replace(&run.to_string(), "RUN");
        let (there, here) = (text(&expected.ending.output), text(&ending.output));
        if there != here || sorted(&expected.ending.loops) != sorted(&ending.loops) {
            return Err(format!("it ended with {here} after {:?}", ending.loops));
        }
        if ending.seen.as_ref().is_some_and(|seen| *seen != left.ids) {
            return Err(format!("the client has seen {:?}\nof {:?}", ending.seen, left.ids));
        }
        expected.calls.check(&left.seen)
    }
}

fn sorted(loops: &[String]) -> Vec<String> {
    let mut loops = loops.to_vec();
    loops.sort_unstable();
    loops
}
