//! A run whose process is killed and resumed repeatedly ends like an uninterrupted one. The run
//! makes calls, streams model replies, runs tools, and asks a person, who answers from another
//! process.

use crate::place::{DynPlace, OpenStore};
use crate::random::Random;
use crate::runs::{calls, counting};
use crate::trees::{Tree, parallel, repeat, run};
use crate::victim::{Scratch, kill, kill_count, notes, start};
use crate::{changes, queue};
use adk_build::engine::{MemoryJournal, RunFilter, RunStatus};
use adk_build::llm::LlmAgent;
use adk_build::model::{Model, ModelRequest, ModelStream};
use adk_build::session::SessionKey;
use adk_build::session::{EventFilter, MemoryStore, SessionStore};
use adk_build::testing::{Reply, ScriptedModel};
use adk_build::tool::FunctionTool;
use adk_build::{Await, Content, ErrorKind, Event, Runner, ToolContext};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// Returns random numbers that differ between processes.
pub(crate) fn process_random() -> Random {
    Random::new(u64::from(std::process::id()))
}

/// A model that calls a tool twice at once, then reports the results in pieces. Each call is noted
/// in a file.
struct Talks(PathBuf);

impl Model for Talks {
    fn name(&self) -> &str {
        "talks"
    }

    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        let (path, turn) = (request.info.path.to_string(), request.info.turn);
        notes(&self.0, &format!("{path} model {turn}"));
        let responses = request
            .contents
            .iter()
            .flat_map(Content::function_responses);
        let responses =
            Value::from_iter(responses.map(|answer| json!(answer.response))).to_string();
        let pieces = ["it is ".to_owned(), "said ".to_owned(), responses];
        let reply = Reply::new()
            .text(pieces.concat())
            .pieces(pieces)
            .every(Duration::from_millis(1));
        let reply = match turn {
            0 => reply
                .call("add", json!({"n": 1}))
                .call("add", json!({"n": 20})),
            _ => reply,
        };
        ScriptedModel::new().reply(reply).generate(request)
    }
}

fn clerk(world: &Path) -> LlmAgent {
    let to = world.to_owned();
    let add = FunctionTool::new(
        "add",
        "Adds.",
        move |args: Map<String, Value>, cx: &mut ToolContext| {
            let n = args["n"].as_u64().unwrap_or_default();
            let sum = cx
                .state()
                .get::<u64>("sum")
                .ok()
                .flatten()
                .unwrap_or_default()
                + n;
            notes(&to, &format!("{} tool {n} of {}", cx.path(), sum - n));
            let _ = cx.state().set("sum", sum);
            format!("{n} is added")
        },
    );
    let add = add.writes::<u64>("sum");
    LlmAgent::builder("clerk")
        .model(Talks(world.to_owned()))
        .tool(add)
        .output_key("report")
        .build()
        .unwrap()
}

/// Builds a workflow of agents with calls and model replies, and of questions: one in each round,
/// and two concurrent ones.
fn asking(world: &Path) -> Tree {
    let one = |name| run(calls(name, world.to_owned()));
    let ask = |key| {
        run(Await::builder::<bool>(key)
            .question("Is it enough?")
            .build())
    };
    let round = vec![
        one("a"),
        parallel("p", vec![one("b"), run(clerk(world)), one("c")]),
        ask("yes"),
    ];
    let both = parallel("q", vec![ask("left"), one("d"), ask("right")]);
    Tree::new("w", vec![repeat("outer", Some(3), round), both, one("e")])
}

/// Starts or resumes a run, in the process that is killed.
pub(crate) async fn continues(store: OpenStore) {
    let world = PathBuf::from(std::env::var("ADK_WORLD").unwrap());
    let runner = store.knows("app", asking(&world));
    let handle = runner.session("u", std::env::var("ADK_SESSION").unwrap());
    let there = handle.get(&EventFilter::new().last(0)).await.unwrap();
    if there.is_none_or(|session| session.len == 0) {
        println!("\nbegun");
        let ended = handle.run(&asking(&world), "go").await;
        assert!(
            ended.is_err_and(|error| error.kind() == ErrorKind::Paused),
            "it asks"
        );
    } else {
        // A store that cannot detect dead processes waits until the lease expires.
        let is_driven = async || {
            let runs = store
                .registry()
                .runs("app", &RunFilter::unfinished())
                .await
                .unwrap();
            runs.iter()
                .any(|run| run.status == RunStatus::Running && !run.is_ready)
        };
        while is_driven().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        println!("\nbegun");
        for run in runner.recover().await.unwrap() {
            run.result.unwrap();
        }
    }
    let waits = !runner.waiting().await.unwrap().is_empty();
    println!("\n{}", if waits { "waits" } else { "done" });
}

/// Returns the events and calls of an uninterrupted run.
async fn reference(world: &Path) -> (BTreeMap<String, Vec<String>>, Vec<String>) {
    let (sessions, journal): (Arc<dyn SessionStore>, _) =
        (Arc::new(MemoryStore::new()), MemoryJournal::new());
    let runner: Runner = Runner::builder()
        .app_name("app")
        .session_store(sessions)
        .engine(journal)
        .workflow(asking(world))
        .build()
        .unwrap();
    let handle = runner.session("u", "s");
    let ended = handle.run(&asking(world), "go").await;
    assert!(ended.is_err_and(|error| error.kind() == ErrorKind::Paused));
    while answer(&runner).await {
        for run in runner.recover().await.unwrap() {
            run.result.unwrap();
        }
    }
    let there = handle.get(&EventFilter::new()).await.unwrap().unwrap();
    let calls = std::fs::read_to_string(world).unwrap();
    (
        by_branch(&there.events),
        calls.lines().map(str::to_owned).collect(),
    )
}

/// Answers one question as a person. Returns whether there was one.
async fn answer(runner: &Runner) -> bool {
    let open = runner.waiting().await.unwrap();
    match open.last() {
        Some(waiting) => runner
            .answer(&waiting.id, true)
            .await
            .map(|()| true)
            .unwrap(),
        None => false,
    }
}

/// The end of a process.
#[derive(PartialEq)]
enum ProcessEnd {
    Killed,
    Waits,
    Done,
}

/// A run whose process is killed and that is resumed, repeatedly, ends like an undisturbed run.
pub async fn a_killed_run_ends_like_an_undisturbed_run(place: &dyn DynPlace) {
    let wanted = kill_count();
    let scratch = Scratch::new();
    let (expected, names) = reference(&scratch.path().join("reference")).await;
    let (mut kills, mut random, mut answers) = (0, process_random(), 0);
    for number in 0.. {
        if kills >= wanted {
            break;
        }
        let session = format!("s{number}");
        let world = scratch.path().join(&session);
        let mut attempts = 0;
        loop {
            match attempt(
                place,
                &world,
                &session,
                Duration::from_micros(random.below(place.time_to_kill_dyn().as_micros() as u64)),
            ) {
                ProcessEnd::Killed => attempts += 1,
                ProcessEnd::Waits => {
                    assert!(answer(&place.open_dyn().await.knows("app", asking(&world))).await);
                    answers += 1;
                }
                ProcessEnd::Done => break,
            }
        }
        kills += attempts;
        let store = place.open_dyn().await;
        let runner = store.knows("app", asking(&world));
        assert!(
            runner.recover().await.unwrap().is_empty(),
            "no work remains"
        );
        assert!(
            store
                .registry()
                .runs("app", &RunFilter::unfinished())
                .await
                .unwrap()
                .is_empty()
        );
        assert!(runner.waiting().await.unwrap().is_empty());
        let there = runner
            .session("u", &session)
            .get(&EventFilter::new())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(by_branch(&there.events), expected, "after {attempts} kills");
        assert!(there.events.iter().all(|event| !event.partial));
        let made = std::fs::read_to_string(&world).unwrap();
        let mut times: HashMap<&str, usize> = HashMap::new();
        made.lines()
            .for_each(|line| *times.entry(line).or_default() += 1);
        assert!(names.iter().all(|name| times.contains_key(&**name)) && times.len() == names.len());
        // Repeated calls were in flight at a kill: at most one in each of two branches, and two
        // tools in the third.
        let again: usize = times.values().map(|n| n - 1).sum();
        assert!(
            again <= 4 * attempts,
            "{again} calls were repeated after {attempts} kills"
        );
    }
    println!("{kills} kills, {answers} answers between them");
    assert!(answers >= 5);
}

fn attempt(place: &dyn DynPlace, world: &Path, session: &str, after: Duration) -> ProcessEnd {
    let mut child = start(place, "go on")
        .env("ADK_WORLD", world)
        .env("ADK_SESSION", session)
        .spawn()
        .unwrap();
    let (mut ended, mut killer) = (ProcessEnd::Killed, None);
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        match line.as_deref() {
            Ok("begun") => killer = Some(kill(&child, after)),
            Ok("waits") => ended = ProcessEnd::Waits,
            Ok("done") => ended = ProcessEnd::Done,
            _ => {}
        }
    }
    let output = child.wait_with_output().unwrap();
    let failed = output.status.code().is_some_and(|code| code != 0);
    assert!(!failed, "{}", String::from_utf8_lossy(&output.stderr));
    killer.expect("the attempt has started").join().unwrap();
    // A process that is killed after its last line may not have written the end of its run.
    if output.status.code().is_none() {
        return ProcessEnd::Killed;
    }
    ended
}

/// Returns texts and writes by branch: the order is fixed within a branch and outside of all
/// branches.
fn by_branch(events: &[Arc<Event>]) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in events {
        let branch = event.branch.as_deref().unwrap_or_default().to_owned();
        let state: BTreeMap<_, _> = event
            .actions
            .state_delta
            .iter()
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect();
        let responses = event.function_responses().count();
        all.entry(branch).or_default().push(format!(
            "{} {} {state:?} {responses}",
            event.path,
            event.text()
        ));
    }
    all
}

/// Runs in several sessions, whose names begin with `ADK_SESSIONS`, and prints the delivered
/// events.
pub(crate) async fn count(store: OpenStore) {
    let (runner, name) = (store.runner("app"), std::env::var("ADK_SESSIONS").unwrap());
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

/// The number of kills per group of sessions. Each kill compares the complete sessions, so more
/// would have quadratic cost.
const SAME: usize = 20;

/// Delivered events, by session.
type Seen = HashMap<String, Vec<String>>;

/// A kill neither loses nor duplicates delivered events, and the data stays whole.
pub async fn a_kill_loses_no_delivered_event(place: &dyn DynPlace) {
    let kills = kill_count();
    let (mut all, mut kept) = (Seen::new(), Seen::new());
    let (mut random, mut events) = (process_random(), 0);
    for kill in 0..kills {
        for (session, ids) in seen_until_killed(
            place,
            &format!("s{}", kill / SAME),
            Duration::from_micros(random.below(place.time_to_kill_dyn().as_micros() as u64)),
        ) {
            events += ids.len();
            all.entry(session).or_default().extend(ids);
        }
        place.check_dyn().await;
        let store = place.open_dyn().await;
        are_stored(&store, &all).await;
        // The next kills have sessions of their own. The first earlier session is checked again at
        // the end, and the others are deleted.
        if (kill + 1) % SAME == 0 {
            for (session, ids) in all.drain() {
                if session.ends_with("-0") {
                    drop(kept.insert(session, ids))
                } else {
                    assert!(
                        store
                            .sessions
                            .delete(&SessionKey::new("app", "u", session))
                            .await
                            .unwrap()
                    )
                }
            }
        }
    }
    kept.extend(all);
    let store = place.open_dyn().await;
    are_stored(&store, &kept).await;
    assert_eq!(
        store.sessions.list("app", None, "").await.unwrap().len(),
        kept.len(),
        "no other session exists"
    );
    println!("{kills} kills, {events} events seen before them");
    assert!(events > kills);
}

/// Checks that delivered events are stored once and in order, and that state and events agree.
async fn are_stored(store: &OpenStore, seen: &Seen) {
    for (session, ids) in seen {
        let key = SessionKey::new("app", "u", session);
        let stored = store
            .sessions
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
fn seen_until_killed(place: &dyn DynPlace, sessions: &str, after: Duration) -> Seen {
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

/// Queued runs whose process was killed start in the order of their requests.
pub async fn queued_runs_of_a_killed_process_begin_in_order(place: &dyn DynPlace) {
    let mut child = start(place, "wait in line").spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "queued"));
    kill(&child, Duration::ZERO).join().unwrap();
    child.wait().unwrap();
    let gate = Arc::new(Notify::new());
    gate.notify_one();
    let runner = place.open_dyn().await.knows("app", queue::adding(&gate));
    // A store that cannot detect dead processes waits until the lease expires.
    while runner.runs(&RunFilter::ready()).await.unwrap().len() < 4 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for run in runner.recover().await.unwrap() {
        run.result.unwrap();
    }
    assert_eq!(
        queue::texts(&runner).await,
        [
            "first saw ",
            "a saw first;",
            "b saw first;a;",
            "c saw first;a;b;"
        ]
    );
}

/// Runs of random programs, whose processes are killed and whose next process has a changed
/// program, continue: no recorded call is repeated, and no answer is lost.
pub async fn killed_runs_continue_with_a_changed_program(place: &dyn DynPlace) {
    changes::killed::holds(place, kill_count()).await;
}
