//! Runs on the store: what is seen is stored, in that order, and survives a kill.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "../../adk-core/tests/support/mod.rs"]
mod trees;

mod support;

use adk_core::session::{EventFilter, SessionKey, SessionStore};
use adk_core::{Event, Flow, Runner};
use adk_sqlite::SqliteStore;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use support::Folder;
use trees::{By, Tree, by, parallel, repeat, run, say};

fn runner(store: &SqliteStore) -> Runner {
    Runner::builder().app_name("app").session_store(store.clone()).engine(store.clone()).build().unwrap()
}

/// Counts up, and says where it is.
fn counts(name: &'static str, key: &'static str) -> By {
    by(name, move |cx| {
        Box::pin(async move {
            let n: u64 = cx.state().get(key)?.unwrap_or(0);
            cx.emit(Event::new().with_text(format!("{n}")).with_state(key, n + 1)).await?;
            Ok(Flow::Continue)
        })
    })
}

#[tokio::test]
async fn what_is_delivered_is_stored_in_that_order() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    let branches = ["a", "b", "c", "d"].map(|name| run(counts(name, name)));
    let tree = Tree::new(
        "w",
        vec![repeat("l", Some(20), vec![parallel("p", branches.into()), run(counts("n", "n"))])],
    );
    let runner = runner(&store);
    let mut stream = runner.session("u", "s").run(&tree, "go").stream();
    let mut seen: Vec<Arc<Event>> = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        // It is on the disk before anybody sees it.
        let other = Connection::open(folder.file()).unwrap();
        let sql = "SELECT count(*) FROM events WHERE id = ?1";
        let there: u32 = other.query_row(sql, [event.id.to_string()], |row| row.get(0)).unwrap();
        assert_eq!(there, 1);
        seen.push(event);
    }
    assert_eq!(seen.len(), 101);
    let key = SessionKey::new("app", "u", "s");
    let stored = store.read(&key, &EventFilter::new()).await.unwrap().unwrap();
    assert_eq!(stored.events, seen);
    assert!(seen.is_sorted_by_key(|event| (event.timestamp, event.id)));
    let state: HashMap<_, _> = stored.state.iter().map(|(key, value)| (&**key, (**value).clone())).collect();
    assert_eq!((&state["a"], &state["n"]), (&json!(20), &json!(20)));
}

#[tokio::test]
async fn many_runs_share_one_file_and_one_session() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    let runner = runner(&store);
    let tree = Arc::new(Tree::new("w", vec![repeat("l", Some(5), vec![run(say("a"))])]));
    let tasks: Vec<_> = (0..32)
        .map(|n| {
            // Half of them in one session.
            let id = if n % 2 == 0 { "shared".to_owned() } else { format!("s{n}") };
            let request = runner.session("u", id).run(tree.clone(), "go");
            tokio::spawn(request.into_future())
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    let shared = SessionKey::new("app", "u", "shared");
    let stored = store.read(&shared, &EventFilter::new()).await.unwrap().unwrap();
    assert_eq!(stored.len, 16 * 6);
    let live = store.get(&shared).await.unwrap().unwrap();
    assert!(live.events().eq(&stored.events));
    assert_eq!(runner.sessions(None).await.unwrap().len(), 17);
}

/// The program that is killed: runs in several sessions, and says what it has seen.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "is started and killed by another test"]
async fn victim() {
    let Ok(file) = std::env::var("ADK_VICTIM") else { return };
    let store = SqliteStore::open(file).await.unwrap();
    let runner = runner(&store);
    let branches = || ["a", "b"].map(|name| run(counts(name, name))).into();
    let tree = || {
        Tree::new(
            "w",
            vec![repeat("l", Some(1_000_000), vec![parallel("p", branches()), run(counts("n", "n"))])],
        )
    };
    let tasks: Vec<_> = (0..4)
        .map(|session| {
            let mut stream = runner.session("u", format!("s{session}")).run(Arc::new(tree()), "go").stream();
            tokio::spawn(async move {
                while let Some(event) = stream.next().await {
                    println!("seen s{session} {}", event.unwrap().id);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

/// Starts the victim, kills it after a while; what it has seen.
fn kill(file: &Path, after: Duration) -> HashMap<String, Vec<String>> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "victim", "--ignored", "--nocapture", "--test-threads=1"])
        .env("ADK_VICTIM", file)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seen: HashMap<String, Vec<String>> = HashMap::new();
    let mut killer = None;
    for line in lines {
        let Ok(line) = line else { break };
        // It has begun: the clock runs.
        killer.get_or_insert_with(|| {
            let pid = child.id().to_string();
            std::thread::spawn(move || {
                std::thread::sleep(after);
                Command::new("kill").args(["-9", &pid]).status().unwrap()
            })
        });
        let mut words = line.split(' ').skip_while(|word| !word.ends_with("seen")).skip(1);
        if let (Some(session), Some(id)) = (words.next(), words.next())
            && id.len() == 36
        {
            seen.entry(session.to_owned()).or_default().push(id.to_owned());
        }
    }
    child.wait().unwrap();
    killer.unwrap().join().unwrap();
    seen
}

/// `ADK_KILLS` says how often; 8 times when it is not set.
#[tokio::test]
async fn a_kill_loses_nothing_that_was_seen_and_doubles_nothing() {
    let kills = std::env::var("ADK_KILLS").map_or(8, |text| text.parse().unwrap());
    let folder = Folder::new();
    let mut all: HashMap<String, Vec<String>> = HashMap::new();
    let mut random = u64::from(std::process::id());
    for _ in 0..kills {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        for (session, ids) in kill(&folder.file(), Duration::from_micros((random >> 33) % 120_000)) {
            all.entry(session).or_default().extend(ids);
        }
        let check = Connection::open(folder.file()).unwrap();
        let health: String = check.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(health, "ok");
        drop(check);
        let store = SqliteStore::open(folder.file()).await.unwrap();
        for (session, ids) in &all {
            let key = SessionKey::new("app", "u", session);
            let stored = store.read(&key, &EventFilter::new()).await.unwrap().unwrap();
            let there: Vec<_> = stored.events.iter().map(|event| event.id.to_string()).collect();
            let places: HashMap<_, _> = there.iter().enumerate().map(|(place, id)| (id, place)).collect();
            assert_eq!(places.len(), there.len(), "an event is there twice");
            let order: Vec<_> =
                ids.iter().map(|id| *places.get(id).expect("what was seen is there")).collect();
            assert!(order.is_sorted(), "in the order in which it was seen");
            // At most what was in flight when it died is there and was not seen.
            let folded = stored.events.iter().filter(|event| event.author == "n").count() as u64;
            let state = stored.state.get("n").map_or(Value::from(0), |value| (**value).clone());
            assert_eq!(state, json!(folded), "event and state are one");
        }
        assert!(folder.names().iter().filter(|name| name.contains("-owner-")).count() <= kills + 1);
    }
    assert!(all.values().map(Vec::len).sum::<usize>() > kills);
}
