//! A run whose process is killed and resumed repeatedly ends like an uninterrupted one. The run
//! makes calls, streams model replies, runs tools, and asks a person, who answers from another
//! process.

use super::survival::{Place, Random, Scratch, calls, kill, knows, notes, start};
use super::{Tree, parallel, repeat, run};
use adk_build::engine::{Engine, MemoryJournal, RunFilter, RunStatus};
use adk_build::llm::LlmAgent;
use adk_build::model::{Model, ModelRequest, ModelStream};
use adk_build::session::{EventFilter, MemoryStore, SessionStore};
use adk_build::testing::{Reply, ScriptedModel};
use adk_build::tool::FunctionTool;
use adk_build::{Await, Content, ErrorKind, Event, Runner, ToolContext};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

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
pub(super) async fn go_on<S: SessionStore + Engine + Clone>(store: S) {
    let world = PathBuf::from(std::env::var("ADK_WORLD").unwrap());
    let runner = knows(&store, asking(&world));
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
                .unwrap()
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
enum Attempt {
    Killed,
    Waits,
    Done,
}

/// Kills runs until `wanted` kills have happened.
pub async fn ends_the_same(place: &impl Place, wanted: usize) {
    let scratch = Scratch::new();
    let (expected, names) = reference(&scratch.path().join("reference")).await;
    let (mut kills, mut random, mut answers) = (0, Random::new(), 0);
    for number in 0.. {
        if kills >= wanted {
            break;
        }
        let session = format!("s{number}");
        let world = scratch.path().join(&session);
        let mut attempts = 0;
        loop {
            match attempt(place, &world, &session, random.micros(place.peace())) {
                Attempt::Killed => attempts += 1,
                Attempt::Waits => {
                    assert!(answer(&knows(&place.open().await, asking(&world))).await);
                    answers += 1;
                }
                Attempt::Done => break,
            }
        }
        kills += attempts;
        let store = place.open().await;
        let runner = knows(&store, asking(&world));
        assert!(
            runner.recover().await.unwrap().is_empty(),
            "no work remains"
        );
        assert!(
            store
                .registry()
                .unwrap()
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

fn attempt(place: &impl Place, world: &Path, session: &str, after: Duration) -> Attempt {
    let mut child = start(place, "go on")
        .env("ADK_WORLD", world)
        .env("ADK_SESSION", session)
        .spawn()
        .unwrap();
    let (mut ended, mut killer) = (Attempt::Killed, None);
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        match line.as_deref() {
            Ok("begun") => killer = Some(kill(&child, after)),
            Ok("waits") => ended = Attempt::Waits,
            Ok("done") => ended = Attempt::Done,
            _ => {}
        }
    }
    let output = child.wait_with_output().unwrap();
    let failed = output.status.code().is_some_and(|code| code != 0);
    assert!(!failed, "{}", String::from_utf8_lossy(&output.stderr));
    killer.expect("the attempt has started").join().unwrap();
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
