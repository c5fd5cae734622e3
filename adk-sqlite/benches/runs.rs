//! Benchmark of many concurrent runs: `cargo bench -p adk-workflow-sqlite --bench runs`. Prints the
//! memory per run that waits for a person and per run that waits for a slow model, the time to
//! resume 1,000 interrupted runs, the time of an answer among 100,000 waits, and the time of 10,000
//! deadlines at once. `-- paused 40000` shows that runs that wait for a person add no memory once
//! the store's caches are full; `-- large` measures all operations of a store with 1,000,000
//! events.

#![allow(clippy::unwrap_used, reason = "a benchmark fails by a panic")]

use adk_build::{Event, Flow, RunEnd, Runner};
use adk_sqlite::SqliteStore;
use adk_store_kit::OpenStore;
use adk_store_kit::measure::{size, waits};
use adk_store_kit::trees::{By, Tree, by, run, say};
use std::sync::Arc;
use std::time::Instant;

fn runner(store: &SqliteStore, tree: &Arc<Tree>) -> Runner {
    let runner = Runner::builder()
        .app_name("app")
        .session_store(store.clone())
        .engine(store.clone());
    runner.workflow(tree.clone()).build().unwrap()
}

fn tree(last: By) -> Arc<Tree> {
    Arc::new(Tree::new(
        "w",
        vec![run(say("a")), run(last), run(say("z"))],
    ))
}

/// Waits for a person.
fn asks() -> By {
    by("asks", |cx| {
        Box::pin(async move {
            let yes: bool = cx.wait("decision").await?;
            cx.emit(Event::new().with_state("yes", yes)).await?;
            Ok(Flow::Continue)
        })
    })
}

/// An agent whose call never returns in this process.
fn slow() -> By {
    by("slow", |cx| {
        Box::pin(async move {
            cx.step("model", std::future::pending::<adk_build::Result<()>>())
                .await?;
            Ok(Flow::Continue)
        })
    })
}

/// An agent with the recorded call of [`slow`], which returns.
fn fast() -> By {
    by("slow", |cx| {
        Box::pin(async move {
            cx.step("model", async { Ok(()) }).await?;
            Ok(Flow::Continue)
        })
    })
}

fn resident() -> i64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<i64>().unwrap() * 4096
}

async fn paused(store: &SqliteStore, runs: i64) {
    let tree = tree(asks());
    let runner = runner(store, &tree);
    let pause = async |from: i64, to: i64| {
        for n in from..to {
            let mut stream = runner
                .session("u", format!("paused{n}"))
                .run(tree.clone(), "go")
                .stream();
            while let Some(event) = stream.next().await {
                event.unwrap();
            }
            assert!(matches!(stream.end(), RunEnd::Paused(_)));
        }
    };
    // The number of runs doubles each time: the caches of the store fill first, and later runs add
    // nothing.
    let mut from = runs / 8;
    pause(0, from).await;
    while from > 0 && from < runs {
        let (before, to) = (resident(), (from * 2).min(runs));
        pause(from, to).await;
        let (grown, all) = (resident() - before, resident() >> 20);
        println!(
            "runs {from} to {to} paused: {} bytes for each, {all} MiB in all",
            grown / (to - from)
        );
        from = to;
    }
}

async fn live(store: &SqliteStore, runs: usize) {
    let tree = tree(slow());
    let runner = runner(store, &tree);
    let before = resident();
    let begin = Instant::now();
    let mut tasks = Vec::new();
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    for n in 0..runs {
        let (tree, runner, tell) = (tree.clone(), runner.clone(), tell.clone());
        tasks.push(tokio::spawn(async move {
            let mut stream = runner
                .session("u", format!("live{n}"))
                .run(tree, "go")
                .stream();
            stream.next().await.unwrap().unwrap();
            stream.next().await.unwrap().unwrap();
            tell.send(()).unwrap();
            stream.next().await;
        }));
    }
    for _ in 0..runs {
        told.recv().await.unwrap();
    }
    let each = (resident() - before) / runs as i64;
    println!(
        "{runs} runs wait for a slow call: {each} bytes for each, begun in {:.2?}",
        begin.elapsed()
    );
    for task in tasks {
        task.abort();
        let _ = task.await;
    }
}

async fn recovered(folder: &std::path::Path, runs: usize) {
    let file = folder.join("recover.db");
    let store = SqliteStore::open(&file).await.unwrap();
    live(&store, runs).await;
    drop(store);
    let store = SqliteStore::open(&file).await.unwrap();
    let runner = runner(&store, &tree(fast()));
    let begin = Instant::now();
    let all = runner.recover().await.unwrap();
    let time = begin.elapsed();
    assert_eq!(all.len(), runs);
    assert!(
        all.iter().all(|run| run.result.is_ok()),
        "{:?}",
        all.iter().find(|run| run.result.is_err())
    );
    println!("{runs} runs recovered in {time:.2?}");
}

/// Writes sessions, events and ended runs without the store. Event `i` belongs to session
/// `i % sessions`; the events of the long session come last.
fn fill(file: &std::path::Path) {
    let size::Size { sessions, long, .. } = size::MILLION;
    let first = size::FIRST;
    let short = sessions * 100;
    let sql = format!(
        "PRAGMA journal_mode=OFF; PRAGMA cache_size=-500000; BEGIN;
        CREATE TEMP TABLE e AS WITH RECURSIVE n (i) AS (
                SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {short} + {long})
            SELECT i, iif(i < {short}, 'b' || (i % {sessions}), 'long') AS session,
                iif(i < {short}, 'u' || (i % {sessions} / 10), 'long') AS user,
                iif(i < {short}, i / {sessions}, i - {short}) AS place,
                ({first} + i) * 1000000 AS micros,
                datetime({first} + i, 'unixepoch') || '.000000' AS time,
                printf('01998888-0000-7000-8000-%012x', i) AS id,
                printf('e-01998888-0000-7000-9000-%012x', iif(i < {short}, i % {sessions}, i / 100))
                    AS run FROM n;
        INSERT INTO sessions SELECT 'app', user, session, '{{\"key\":1}}', min(time), max(time)
            FROM e GROUP BY user, session;
        INSERT INTO adkw_sessions (app_name, user_id, id)
            SELECT app_name, user_id, id FROM sessions WHERE id LIKE 'b%' OR id = 'long';
        INSERT INTO adkw_runs (id, session, status, record, app, workflow, created, updated,
                user_id)
            SELECT run, n.number, 'finished', hex(zeroblob(500)), 'app', 'w', min(micros),
                max(micros), min(user)
            FROM e JOIN adkw_sessions n ON n.app_name = 'app' AND n.user_id = e.user
                AND n.id = e.session
            GROUP BY run, n.number ORDER BY run;
        INSERT INTO adkw_log (session, place, event_id, micros, run, slot)
            SELECT r.session, place, e.id, micros, r.number, 'w/l#' || place || '/a!0'
            FROM e JOIN adkw_runs r ON r.id = run ORDER BY r.session, place;
        INSERT INTO events SELECT id, 'app', user, session, run, time, replace(?1, 'ID', id) FROM e
            ORDER BY i;
        UPDATE adkw_runs SET owner = '1-dead' WHERE workflow = 'cut'; COMMIT;"
    );
    let connection = rusqlite::Connection::open(file).unwrap();
    for sql in sql.split_inclusive(';') {
        let mut statement = connection.prepare(sql).unwrap();
        let data = (0..statement.parameter_count()).map(|_| size::data());
        let mut rows = statement.query(rusqlite::params_from_iter(data)).unwrap();
        while rows.next().unwrap().is_some() {}
    }
}

async fn large(folder: &std::path::Path) {
    let file = folder.join("large.db");
    let store = SqliteStore::open(&file).await.unwrap();
    size::begin(&OpenStore::new(&store), size::MILLION).await;
    drop(store);
    fill(&file);
    let store = SqliteStore::open(&file).await.unwrap();
    let next = std::cell::Cell::new(size::MILLION.events());
    // Appends an event like google-adk.
    let foreign = async || {
        let i = next.replace(next.get() + 1);
        let time = format!("datetime({}, 'unixepoch') || '.000000'", size::FIRST + i);
        let sql = format!(
            "INSERT INTO events VALUES ('foreign{i}', 'app', 'long', 'long', 'e-1', {time}, NULL);
            UPDATE sessions SET update_time = {time} WHERE app_name = 'app' AND user_id = 'long'"
        );
        rusqlite::Connection::open(&file)
            .unwrap()
            .execute_batch(&sql)
            .unwrap();
    };
    size::measure("SQLite", &OpenStore::new(&store), size::MILLION, foreign).await;
    size::whole("SQLite", &OpenStore::new(&store), size::MILLION).await;
}

fn main() {
    // `-- live 500` measures only this case, with 500 runs.
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with('-'))
        .collect();
    let many: Option<usize> = args.iter().find_map(|arg| arg.parse().ok());
    let is_asked = |what: &str| {
        args.iter().all(|arg| arg.parse::<usize>().is_ok()) || args.iter().any(|arg| arg == what)
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let folder = std::env::temp_dir().join(format!("adk-sqlite-runs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(folder.join("runs.db")).await.unwrap();
        if is_asked("paused") {
            paused(&store, many.unwrap_or(10_000) as i64).await;
        }
        if is_asked("live") {
            live(&store, many.unwrap_or(10_000)).await;
        }
        if is_asked("recovered") {
            recovered(&folder, many.unwrap_or(1_000)).await;
        }
        if args.iter().any(|arg| arg == "large") {
            large(&folder).await;
        }
        if is_asked("waits") {
            let most = many.unwrap_or(100_000);
            let store = SqliteStore::open(folder.join("waits.db")).await.unwrap();
            waits::answers("SQLite", &OpenStore::new(&store), &[100, most / 10, most]).await;
            let store = SqliteStore::open(folder.join("due.db")).await.unwrap();
            waits::deadlines("SQLite", &OpenStore::new(&store), most / 10).await;
        }
    });
    let _ = std::fs::remove_dir_all(&folder);
}
