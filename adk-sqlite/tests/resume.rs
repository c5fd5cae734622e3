//! A run that is killed over and over, and taken up by a new process each time, comes to the end of one that was never
//! killed: no event is lost or doubled, no recorded call is made again.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "../../adk-core/tests/support/mod.rs"]
mod trees;

mod support;

use adk_core::session::EventFilter;
use adk_core::{ErrorKind, Event, Flow, Runner};
use adk_sqlite::SqliteStore;
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use support::Folder;
use trees::{By, Tree, by, parallel, repeat, run};

/// Makes a call that the world outside sees, and says what has come of it.
fn calls(name: &'static str, world: PathBuf) -> By {
    by(name, move |cx| {
        let world = world.clone();
        Box::pin(async move {
            let n: u64 = cx.state().get(name)?.unwrap_or(0);
            let line = format!("{}\n", cx.path());
            let call = cx.step("call", async move {
                let mut file = std::fs::OpenOptions::new().create(true).append(true).open(world).unwrap();
                file.write_all(line.as_bytes()).unwrap();
                tokio::time::sleep(Duration::from_millis(1)).await;
                Ok(n + 1)
            });
            let next = call.await?;
            cx.emit(Event::new().with_text(format!("{name} {next}")).with_state(name, next)).await?;
            cx.emit(Event::new().with_text("and").with_state(format!("temp:{name}"), next)).await?;
            let kept: Option<u64> = cx.state().get(&format!("temp:{name}"))?;
            assert_eq!(kept, Some(next));
            Ok(Flow::Continue)
        })
    })
}

fn tree(world: &Path) -> Tree {
    let one = |name| run(calls(name, world.to_owned()));
    let inner = repeat("inner", Some(2), vec![one("d")]);
    let round = vec![one("a"), parallel("p", vec![one("b"), one("c")]), inner];
    Tree::new("w", vec![repeat("outer", Some(6), round), one("e")])
}

fn runner(store: &SqliteStore, world: &Path) -> Runner {
    let builder = Runner::builder().app_name("app").session_store(store.clone()).engine(store.clone());
    builder.workflow::<Tree>(tree(world)).build().unwrap()
}

/// The program that is killed: begins a run or takes it up again.
#[tokio::test]
#[ignore = "is started and killed by another test"]
async fn victim() {
    let Ok(file) = std::env::var("ADK_VICTIM") else { return };
    let (world, session) = (std::env::var("ADK_WORLD").unwrap(), std::env::var("ADK_SESSION").unwrap());
    let store = SqliteStore::open(file).await.unwrap();
    let runner = runner(&store, world.as_ref());
    println!("\nbegun");
    let handle = runner.session("u", session);
    let there = handle.get(&EventFilter::new().last(0)).await.unwrap();
    if there.is_none_or(|session| session.len == 0) {
        handle.run(&tree(world.as_ref()), "go").await.unwrap();
    } else {
        for run in runner.recover().await.unwrap() {
            run.result.unwrap();
        }
    }
    println!("\ndone");
}

/// Whether it came to its end before it was killed.
fn attempt(folder: &Folder, session: &str, after: Duration) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "victim", "--ignored", "--nocapture", "--test-threads=1"])
        .env("ADK_VICTIM", folder.file())
        .env("ADK_WORLD", folder.path().join(session))
        .env("ADK_SESSION", session)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut done, mut killer) = (false, None);
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        match line.as_deref() {
            Ok("begun") => {
                let pid = child.id().to_string();
                killer = Some(std::thread::spawn(move || {
                    std::thread::sleep(after);
                    // It may have ended.
                    let _ = Command::new("kill").args(["-9", &pid]).stderr(Stdio::null()).status();
                }));
            }
            Ok("done") => done = true,
            _ => {}
        }
    }
    killer.expect("it has begun").join().unwrap();
    let output = child.wait_with_output().unwrap();
    let failed = output.status.code().is_some_and(|code| code != 0);
    assert!(!failed, "{}", String::from_utf8_lossy(&output.stderr));
    done
}

/// Texts by path: the order within a branch, and of all that runs in no branch.
fn by_branch(events: &[Arc<Event>]) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in events {
        let branch = event.branch.as_deref().unwrap_or_default().to_owned();
        all.entry(branch).or_default().push(format!("{} {}", event.path, event.text()));
    }
    all
}

/// `ADK_KILLS` says how many kills there have to be; 10 when it is not set.
#[tokio::test]
async fn a_run_that_is_killed_ends_as_one_that_is_not() {
    let wanted = std::env::var("ADK_KILLS").map_or(10, |text| text.parse().unwrap());
    let folder = Folder::new();
    let reference = folder.path().join("reference");
    let plain: Runner = Runner::builder().build().unwrap();
    let outcome = plain.run(&tree(&reference), "go").await.unwrap();
    let expected: Vec<_> = outcome.session().events().cloned().collect();
    let expected = by_branch(&expected);
    let names: Vec<_> = std::fs::read_to_string(&reference).unwrap().lines().map(str::to_owned).collect();

    let (mut kills, mut random) = (0, u64::from(std::process::id()));
    for number in 0.. {
        if kills >= wanted {
            break;
        }
        let session = format!("s{number}");
        let mut attempts = 0;
        loop {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if attempt(&folder, &session, Duration::from_micros((random >> 33) % 120_000)) {
                break;
            }
            attempts += 1;
        }
        kills += attempts;
        let store = SqliteStore::open(folder.file()).await.unwrap();
        let runner = runner(&store, &folder.path().join(&session));
        assert!(runner.recover().await.unwrap().is_empty(), "nothing is left to do");
        let there = runner.session("u", &session).get(&EventFilter::new()).await.unwrap().unwrap();
        assert_eq!(by_branch(&there.events), expected, "after {attempts} kills");
        let made = std::fs::read_to_string(folder.path().join(&session)).unwrap();
        let mut times: HashMap<&str, usize> = HashMap::new();
        made.lines().for_each(|line| *times.entry(line).or_default() += 1);
        assert!(names.iter().all(|name| times.contains_key(&**name)) && times.len() == names.len());
        // Only what was in flight when it was killed: at most one call in each of two branches.
        let again: usize = times.values().map(|n| n - 1).sum();
        assert!(again <= 2 * attempts, "{again} calls were made again after {attempts} kills");
    }
    println!("{kills} kills");
}

#[tokio::test]
async fn a_run_is_driven_by_one_process_at_a_time() {
    let folder = Folder::new();
    let world = folder.path().join("world");
    let store = SqliteStore::open(folder.file()).await.unwrap();
    let here = runner(&store, &world);
    let workflow = tree(&world);
    let mut stream = here.session("u", "s").run(&workflow, "go").stream();
    let run = stream.next().await.unwrap().unwrap().invocation_id;

    let other = SqliteStore::open(folder.file()).await.unwrap();
    let there = runner(&other, &world);
    let error = there.resume(&workflow, run).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RunBusy, "{error}");
    assert!(there.recover().await.unwrap().is_empty());
    // Once it is given up here, it goes on there.
    drop(stream);
    there.resume(&workflow, run).await.unwrap();
    assert!(there.recover().await.unwrap().is_empty() && here.recover().await.unwrap().is_empty());
    let unknown = here.resume(&workflow, "e-01890000-0000-7000-8000-000000000000".parse().unwrap());
    assert_eq!(unknown.await.unwrap_err().kind(), ErrorKind::UnknownRun);
}
