//! Common tests of durable stores with runs, through a [`Place`]: delivered events are stored in
//! their order, and a killed process neither loses nor duplicates delivered events. Repeatedly
//! resumed runs are in [`super::killed`]. Other crates run these tests on their stores.
//!
//! A file that uses this module has an ignored test `victim`, which calls [`victim`] with the store
//! of the place in `ADK_VICTIM`.

use super::{By, Tree, by, parallel, repeat, run};
use adk_build::engine::{Engine, RunFilter};
use adk_build::memory::MemoryService;
use adk_build::session::{EventFilter, SessionKey, SessionStore};
use adk_build::spec::KeySpec;
use adk_build::{ArtifactStore, Error, ErrorKind, Event, Flow, RunConfig, Runner, StoreErrorKind};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

/// A store that may be opened repeatedly, also by other processes.
pub trait Place: Sync {
    type Store: SessionStore + Engine + Clone;

    fn open(&self) -> impl Future<Output = Self::Store>;
    /// Returns the address with which another process opens the store.
    fn address(&self) -> String;
    /// Returns the maximum time before a kill, in microseconds.
    fn peace(&self) -> u64 {
        120_000
    }
    /// Whether an event is on disk, checked without the store.
    fn has(&self, id: &str) -> impl Future<Output = bool>;
}

/// A folder that is removed at the end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "adk-survival-{}-{}",
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

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns the key of the session that tests of one session use.
pub fn key() -> SessionKey {
    SessionKey::new("app", "u", "s")
}

/// Returns the kind of a store error.
pub fn kind(error: &Error) -> StoreErrorKind {
    match error.kind() {
        ErrorKind::Store(kind) => kind,
        other => panic!("{other:?}: {error}"),
    }
}

pub fn runner<S: SessionStore + Engine + Clone>(store: &S) -> Runner {
    runner_of("app", store)
}

/// Builds a runner of any app.
pub(super) fn runner_of<S: SessionStore + Engine + Clone>(app: &str, store: &S) -> Runner {
    let sessions: Arc<dyn SessionStore> = Arc::new(store.clone());
    Runner::builder()
        .app_name(app)
        .session_store(sessions)
        .engine(store.clone())
        .build()
        .unwrap()
}

/// Builds a runner that recovers runs of this workflow.
pub(super) fn knows<S: SessionStore + Engine + Clone>(store: &S, tree: Tree) -> Runner {
    let sessions: Arc<dyn SessionStore> = Arc::new(store.clone());
    let builder = Runner::builder()
        .app_name("app")
        .session_store(sessions)
        .engine(store.clone());
    builder
        .config(RunConfig::new().streaming(true))
        .workflow::<Tree>(tree)
        .build()
        .unwrap()
}

/// Makes an agent that counts up and emits its path.
fn counts(name: &'static str, key: &'static str) -> By {
    by(name, move |cx| {
        Box::pin(async move {
            let n: u64 = cx.state().get(key)?.unwrap_or(0);
            cx.emit(
                Event::new()
                    .with_text(format!("{n}"))
                    .with_state(key, n + 1),
            )
            .await?;
            Ok(Flow::Continue)
        })
    })
}

/// Builds a tree whose keys belong to the session, so that all its runs continue the counts.
fn counting(branches: &[&'static str], rounds: u32) -> Tree {
    let branches = branches
        .iter()
        .map(|name| run(counts(name, name)))
        .collect();
    let steps = vec![repeat(
        "l",
        Some(rounds),
        vec![parallel("p", branches), run(counts("n", "n"))],
    )];
    Tree::new("w", steps).states(
        const {
            &[
                KeySpec::new("a", "u64"),
                KeySpec::new("b", "u64"),
                KeySpec::new("n", "u64"),
            ]
        },
    )
}

/// Delivered events are stored, in their order.
pub async fn delivers(place: &impl Place) {
    let store = place.open().await;
    let runner = runner(&store);
    let tree = counting(&["a", "b", "c", "d"], 20);
    let mut stream = runner.session("u", "s").run(&tree, "go").stream();
    let mut seen: Vec<Arc<Event>> = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        assert!(
            place.has(&event.id.to_string()).await,
            "the event is on disk before its delivery"
        );
        seen.push(event);
    }
    assert_eq!(seen.len(), 101);
    let key = SessionKey::new("app", "u", "s");
    let stored = store
        .read(&key, &EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(stored.events, seen);
    assert!(seen.is_sorted_by_key(|event| (event.timestamp, event.id)));
    let state: HashMap<_, _> = stored
        .state
        .iter()
        .map(|(key, value)| (&**key, (**value).clone()))
        .collect();
    assert_eq!((&state["a"], &state["n"]), (&json!(20), &json!(20)));
}

/// Many runs share one store, and half of them share one session.
pub async fn shares(place: &impl Place) {
    let store = place.open().await;
    let runner = runner(&store);
    let tree = Arc::new(Tree::new(
        "w",
        vec![repeat("l", Some(5), vec![run(super::say("a"))])],
    ));
    let tasks: Vec<_> = (0..32)
        .map(|n| {
            let id = if n % 2 == 0 {
                "shared".to_owned()
            } else {
                format!("s{n}")
            };
            let request = runner.session("u", id).run(tree.clone(), "go");
            tokio::spawn(request.into_future())
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    let shared = SessionKey::new("app", "u", "shared");
    let stored = store
        .read(&shared, &EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(stored.len, 16 * 6);
    let live = store.get(&shared).await.unwrap().unwrap();
    live.load(0..stored.len).await.unwrap();
    assert!(live.events().eq(&stored.events));
    assert_eq!(runner.sessions(None).await.unwrap().len(), 17);
}

/// One process drives a run at a time. Here each process is a store with its own name.
pub async fn is_driven_once(place: &impl Place) {
    let scratch = Scratch::new();
    let world = scratch.path().join("world");
    let (store, other) = (place.open().await, place.open().await);
    let (here, there) = (
        knows(&store, calling(&world)),
        knows(&other, calling(&world)),
    );
    let workflow = calling(&world);
    let mut stream = here.session("u", "s").run(&workflow, "go").stream();
    let run = stream.next().await.unwrap().unwrap().invocation_id;

    let error = there.resume(&workflow, run).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RunBusy, "{error}");
    assert!(there.recover().await.unwrap().is_empty());
    // After its release here, the run continues in the other store.
    drop(stream);
    while !other
        .registry()
        .unwrap()
        .runs("app", &RunFilter::unfinished())
        .await
        .unwrap()[0]
        .is_ready
    {
        tokio::task::yield_now().await;
    }
    there.resume(&workflow, run).await.unwrap();
    assert!(there.recover().await.unwrap().is_empty() && here.recover().await.unwrap().is_empty());
    let unknown = here.resume(
        &workflow,
        "e-01890000-0000-7000-8000-000000000000".parse().unwrap(),
    );
    assert_eq!(unknown.await.unwrap_err().kind(), ErrorKind::UnknownRun);
}

/// Notes a call in a file.
pub(super) fn notes(world: &Path, line: &str) {
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(world)
        .unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// Makes an agent with a call that is noted in a file, and an event with its result.
pub(super) fn calls(name: &'static str, world: PathBuf) -> By {
    by(name, move |cx| {
        let world = world.clone();
        Box::pin(async move {
            let n: u64 = cx.state().get(name)?.unwrap_or(0);
            let line = cx.path().to_string();
            let call = cx.step("call", async move {
                notes(&world, &line);
                tokio::time::sleep(Duration::from_millis(1)).await;
                Ok(n + 1)
            });
            let next = call.await?;
            cx.emit(
                Event::new()
                    .with_text(format!("{name} {next}"))
                    .with_state(name, next),
            )
            .await?;
            cx.emit(
                Event::new()
                    .with_text("and")
                    .with_state(format!("temp:{name}"), next),
            )
            .await?;
            let kept: Option<u64> = cx.state().get(&format!("temp:{name}"))?;
            assert_eq!(kept, Some(next));
            Ok(Flow::Continue)
        })
    })
}

/// Builds a workflow of agents that make calls.
pub fn calling(world: &Path) -> Tree {
    let one = |name| run(calls(name, world.to_owned()));
    let inner = repeat("inner", Some(2), vec![one("d")]);
    let round = vec![one("a"), parallel("p", vec![one("b"), one("c")]), inner];
    Tree::new("w", vec![repeat("outer", Some(6), round), one("e")])
}

/// Executes the task in `ADK_TASK`, in the process that is killed.
pub async fn victim<S>(store: S)
where
    S: SessionStore + Engine + ArtifactStore + MemoryService + Clone,
{
    match &*std::env::var("ADK_TASK").unwrap() {
        "count" => count(store).await,
        "wait in line" => super::queued::waits(store).await,
        "change" => super::changes::killed::execute_once(store).await,
        _ => super::killed::go_on(store).await,
    }
}

/// Runs in several sessions, whose names begin with `ADK_SESSIONS`, and prints the delivered
/// events.
async fn count<S: SessionStore + Engine + Clone>(store: S) {
    let (runner, name) = (runner(&store), std::env::var("ADK_SESSIONS").unwrap());
    let tasks: Vec<_> = (0..4)
        .map(|session| {
            let tree = Arc::new(counting(&["a", "b"], 1_000_000));
            let session = format!("{name}-{session}");
            let mut stream = runner
                .session("u", session.clone())
                .run(tree, "go")
                .stream();
            tokio::spawn(async move {
                while let Some(event) = stream.next().await {
                    println!("seen {session} {}", event.unwrap().id);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

pub(super) fn start(place: &impl Place, task: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "runs::victim",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env("ADK_VICTIM", place.address())
        .env("ADK_TASK", task)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Kills a process after a while. It may have ended.
pub(super) fn kill(child: &Child, after: Duration) -> std::thread::JoinHandle<()> {
    let pid = child.id().to_string();
    std::thread::spawn(move || {
        std::thread::sleep(after);
        let _ = Command::new("kill")
            .args(["-9", &pid])
            .stderr(Stdio::null())
            .status();
    })
}

/// Pseudo-random numbers that differ between processes.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new() -> Self {
        Self(u64::from(std::process::id()))
    }

    pub(super) fn micros(&mut self, most: u64) -> Duration {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        Duration::from_micros((self.0 >> 33) % most)
    }
}

/// Returns the required number of kills: `ADK_KILLS`, or `otherwise`.
pub fn kills(otherwise: usize) -> usize {
    std::env::var("ADK_KILLS").map_or(otherwise, |text| text.parse().unwrap())
}

/// The number of kills per group of sessions. Each kill compares the complete sessions, so more
/// would have quadratic cost.
const SAME: usize = 20;

/// Delivered events, by session.
type Seen = HashMap<String, Vec<String>>;

/// A kill neither loses nor duplicates delivered events. `check` runs after each kill. After 20
/// kills, the test uses other sessions: it checks the first earlier session again at the end, and
/// deletes the others.
pub async fn loses_nothing(place: &impl Place, kills: usize, check: impl AsyncFn()) {
    let (mut all, mut kept) = (Seen::new(), Seen::new());
    let (mut random, mut events) = (Random::new(), 0);
    for kill in 0..kills {
        for (session, ids) in seen_until_killed(
            place,
            &format!("s{}", kill / SAME),
            random.micros(place.peace()),
        ) {
            events += ids.len();
            all.entry(session).or_default().extend(ids);
        }
        check().await;
        let store = place.open().await;
        are_stored(&store, &all).await;
        if (kill + 1) % SAME == 0 {
            for (session, ids) in all.drain() {
                if session.ends_with("-0") {
                    drop(kept.insert(session, ids))
                } else {
                    assert!(
                        store
                            .delete(&SessionKey::new("app", "u", session))
                            .await
                            .unwrap()
                    )
                }
            }
        }
    }
    kept.extend(all);
    let store = place.open().await;
    are_stored(&store, &kept).await;
    assert_eq!(
        store.list("app", None).await.unwrap().len(),
        kept.len(),
        "no other session exists"
    );
    println!("{kills} kills, {events} events seen before them");
    assert!(events > kills);
}

/// Checks that delivered events are stored once and in order, and that state and events agree.
async fn are_stored(store: &impl SessionStore, seen: &Seen) {
    for (session, ids) in seen {
        let key = SessionKey::new("app", "u", session);
        let stored = store
            .read(&key, &EventFilter::new())
            .await
            .unwrap()
            .unwrap();
        let there: Vec<_> = stored
            .events
            .iter()
            .map(|event| event.id.to_string())
            .collect();
        let places: HashMap<_, _> = there
            .iter()
            .enumerate()
            .map(|(place, id)| (id, place))
            .collect();
        assert_eq!(places.len(), there.len(), "an event is stored twice");
        let order: Vec<_> = ids
            .iter()
            .map(|id| *places.get(id).expect("a delivered event is stored"))
            .collect();
        assert!(order.is_sorted(), "stored in delivery order");
        // At most the events in flight at the kill are stored but were not delivered.
        let folded = stored
            .events
            .iter()
            .filter(|event| event.author == "n")
            .count() as u64;
        let state = stored
            .state
            .get("n")
            .map_or(Value::from(0), |value| (**value).clone());
        assert_eq!(state, json!(folded), "state and events agree");
    }
}

/// Starts the victim, kills it a while after its first event, and returns the delivered events.
fn seen_until_killed(place: &impl Place, sessions: &str, after: Duration) -> Seen {
    let mut victim = start(place, "count");
    let mut child = victim
        .env("ADK_SESSIONS", sessions)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut seen = Seen::new();
    let mut killer = None;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let Ok(line) = line else { break };
        let mut words = line
            .split(' ')
            .skip_while(|word| !word.ends_with("seen"))
            .skip(1);
        if let (Some(session), Some(id)) = (words.next(), words.next())
            && id.len() == 36
        {
            killer.get_or_insert_with(|| kill(&child, after));
            seen.entry(session.to_owned())
                .or_default()
                .push(id.to_owned());
        }
    }
    child.wait().unwrap();
    killer.expect("the victim has started").join().unwrap();
    seen
}
