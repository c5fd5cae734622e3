//! Unusable databases: each error names its cause, and no acknowledged write is lost.

use crate::lossy::Lossy;
use crate::support::{Database, quick, server};
use adk_build::engine::{RunFilter, RunStatus};
use adk_build::session::{EventFilter, SessionStore};
use adk_build::{Await, Error, ErrorKind, Event, Flow, RunId, Runner, StateDelta, StoreErrorKind};
use adk_postgres::{Options, PostgresStore};
use adk_store_kit::place::{key, kind, runner};
use adk_store_kit::sessions::{self, Broken};
use adk_store_kit::trees::{By, Tree, by, parallel, repeat, run, say};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

async fn connect_error(url: &str) -> Error {
    PostgresStore::connect_with(url, quick().patience(Duration::from_secs(1)))
        .await
        .unwrap_err()
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn an_unreachable_server_or_database_is_an_error() {
    // No process listens on this port.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let error = connect_error(&format!("postgres://adk@127.0.0.1:{port}/postgres")).await;
    assert_eq!(kind(&error), StoreErrorKind::Unavailable, "{error}");
    assert!(error.is_retryable() && error.help().is_some(), "{error}");
    let error = connect_error(&server().replace("/postgres", "/nobody_made_it")).await;
    assert_eq!(kind(&error), StoreErrorKind::Missing, "{error}");
    assert!(
        error.help().is_some_and(|help| help.contains("createdb")),
        "{error}"
    );
    let error = connect_error("no url").await;
    assert!(
        error
            .help()
            .is_some_and(|help| help.contains("postgres://")),
        "{error}"
    );
    let error = connect_error(&server().replace("//adk@", "//nobody@")).await;
    assert!(
        !error.is_retryable() && error.to_string().contains("nobody"),
        "{error}"
    );
}

/// No process listens on these ports, so the test needs no server.
#[tokio::test]
async fn no_error_shows_the_password() {
    for (user, rest) in [
        ("me:sesame", "127.0.0.1:1/x"),
        ("me:sesame", "127.0.0.1:port/x"),
        ("me:sesame", "[/x"),
        ("me:se%73ame%", "/x?port=0"),
    ] {
        let error = connect_error(&format!("postgres://{user}@{rest}")).await;
        let source = std::error::Error::source(&error).map(|source| format!("{source} {source:?}"));
        let said = format!("{error} {error:?} {:?} {source:?}", error.help());
        assert!(
            said.contains("Postgres") && !said.contains("same"),
            "{said}"
        );
    }
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn opening_a_store_checks_the_rights_of_the_user() {
    let database = Database::new().await;
    let user = format!("reader_{}", database.name);
    database.execute(&format!("CREATE ROLE {user} LOGIN")).await;
    // The user may not create tables.
    let error = connect_error(&database.url_of(&user)).await;
    assert_eq!(kind(&error), StoreErrorKind::ReadOnly, "{error}");
    assert!(
        error.help().is_some_and(|help| help.contains("CREATE")),
        "{error}"
    );
    // The tables exist, but the user may only read them.
    PostgresStore::connect(&database.url).await.unwrap();
    database
        .execute(&format!(
            "GRANT SELECT ON ALL TABLES IN SCHEMA public TO {user}"
        ))
        .await;
    let error = connect_error(&database.url_of(&user)).await;
    assert_eq!(kind(&error), StoreErrorKind::ReadOnly, "{error}");
    assert!(
        error.to_string().contains(&user) && error.to_string().contains("adkw_runs"),
        "{error}"
    );
    // The user may write all tables but one.
    let all = "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO";
    database
        .execute(&format!(
            "{all} {user}; REVOKE INSERT ON events FROM {user}"
        ))
        .await;
    let error = connect_error(&database.url_of(&user)).await;
    assert!(
        error.to_string().contains("events") && !error.to_string().contains("adkw_runs"),
        "{error}"
    );
    database
        .execute(&format!("GRANT INSERT ON events TO {user}"))
        .await;
    let store = PostgresStore::connect(&database.url_of(&user))
        .await
        .unwrap();
    runner(&store)
        .session("u", "s")
        .run(&Tree::new("w", vec![run(say("a"))]), "go")
        .await
        .unwrap();
    // The right is revoked while the store is open.
    database
        .execute(&format!("REVOKE INSERT ON events FROM {user}"))
        .await;
    let error = runner(&store)
        .session("u", "s")
        .run(&Tree::new("w", vec![run(say("a"))]), "go")
        .await
        .unwrap_err();
    assert_eq!(kind(&error), StoreErrorKind::ReadOnly, "{error}");
    // The server is read-only, like a standby.
    database
        .execute(&format!(
            "ALTER ROLE {user} SET default_transaction_read_only = on"
        ))
        .await;
    let error = connect_error(&database.url_of(&user)).await;
    assert_eq!(kind(&error), StoreErrorKind::ReadOnly, "{error}");
    assert!(
        error.help().is_some_and(|help| help.contains("primary")),
        "{error}"
    );
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn foreign_tables_are_refused_and_not_changed() {
    for (tables, said) in [
        ("CREATE TABLE sessions (id TEXT)", "version 1"),
        (
            "CREATE TABLE sessions (id TEXT);
             CREATE TABLE adk_internal_metadata (key TEXT, value TEXT);
             INSERT INTO adk_internal_metadata VALUES ('schema_version', '2')",
            "version 2",
        ),
        (
            "CREATE TABLE sessions (id TEXT, state TEXT);
             CREATE TABLE adk_internal_metadata (key TEXT, value TEXT);
             INSERT INTO adk_internal_metadata VALUES ('schema_version', '1')",
            "sessions.state",
        ),
        (
            "CREATE TABLE adkw_meta (key TEXT, value TEXT);
             INSERT INTO adkw_meta VALUES ('version', '9')",
            "another version of this crate (9)",
        ),
    ] {
        let database = Database::new().await;
        database.execute(tables).await;
        let error = connect_error(&database.url).await;
        assert_eq!(kind(&error), StoreErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains(said), "{error}");
        assert!(
            error
                .help()
                .is_some_and(|help| help.contains("search_path")),
            "{error}"
        );
        let sql = "SELECT count(*) FROM pg_tables WHERE tablename = 'events'";
        let made: i64 = sqlx::query_scalar(sql)
            .fetch_one(&mut database.connect().await)
            .await
            .unwrap();
        assert_eq!(made, 0);
    }
    // A schema of its own solves the conflict.
    let database = Database::new().await;
    database
        .execute("CREATE TABLE sessions (id TEXT); CREATE SCHEMA agents")
        .await;
    let url = format!("{}?options[search_path]=agents", database.url);
    let store = PostgresStore::connect(&url).await.unwrap();
    store.create(key(), StateDelta::default()).await.unwrap();
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_lock_is_an_error_after_the_timeout() {
    let database = Database::new().await;
    // The patience also limits the time to connect.
    let options = Options::default().patience(Duration::from_secs(1));
    // The server reports the lock after 50 ms.
    let url = format!("{}?options[lock_timeout]=50ms", database.url);
    let store = PostgresStore::connect_with(&url, options).await.unwrap();
    store.create(key(), StateDelta::default()).await.unwrap();
    let mut other = database.connect().await;
    sqlx::raw_sql("BEGIN; SELECT * FROM sessions FOR UPDATE")
        .execute(&mut other)
        .await
        .unwrap();
    let tree = Tree::new("w", vec![run(say("a"))]);
    let error = runner(&store)
        .session("u", "s")
        .run(&tree, "go")
        .await
        .unwrap_err();
    assert_eq!(kind(&error), StoreErrorKind::Locked, "{error}");
    assert!(error.is_retryable());
    sqlx::raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
    runner(&store)
        .session("u", "s")
        .run(&tree, "go")
        .await
        .unwrap();
    assert_eq!(
        store
            .read(&key(), &EventFilter::new())
            .await
            .unwrap()
            .unwrap()
            .len,
        2
    );
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn tables_that_are_dropped_while_it_is_open_are_an_error() {
    let database = Database::new().await;
    let store = PostgresStore::connect_with(&database.url, quick())
        .await
        .unwrap();
    store.create(key(), StateDelta::default()).await.unwrap();
    database.execute("DROP TABLE adkw_log").await;
    let error = runner(&store)
        .session("u", "s")
        .run(&Tree::new("w", vec![run(say("a"))]), "go")
        .await
        .unwrap_err();
    assert_eq!(kind(&error), StoreErrorKind::Corrupt, "{error}");
    assert!(error.help().is_some(), "{error}");
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn an_unreadable_row_is_an_error_of_its_own() {
    let deep = format!(r#"{{"n":{}{}}}"#, "[".repeat(200), "]".repeat(200));
    for value in [&*deep, r#""no object""#, "[1]"] {
        for broken in [Broken::Session, Broken::Event, Broken::User, Broken::App] {
            let database = Database::new().await;
            let break_row = async || {
                let row = match broken {
                    Broken::Session => ("sessions", "state", "id = 'bad'"),
                    Broken::Event => (
                        "events",
                        "event_data",
                        "id LIKE '%2' AND session_id = 'bad'",
                    ),
                    Broken::User => (
                        "user_states",
                        "state",
                        "app_name = 'broken' AND user_id = 'u'",
                    ),
                    Broken::App => ("app_states", "state", "app_name = 'broken'"),
                };
                let (table, column, which) = row;
                database
                    .execute(&format!(
                        "UPDATE {table} SET {column} = '{value}' WHERE {which}"
                    ))
                    .await;
            };
            sessions::unreadable_rows_are_reported(&database, broken, break_row).await;
        }
    }
}

/// Exact texts are stored next to the values that ADK reads.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn an_unreadable_exact_text_is_an_error_of_its_own() {
    let database = Database::new().await;
    let break_row = async || {
        database
            .execute(r#"UPDATE adkw_sessions SET exact = '{"k": "no JSON"}' WHERE id = 'bad'"#)
            .await;
    };
    sessions::unreadable_rows_are_reported(&database, Broken::Session, break_row).await;
    let database = Database::new().await;
    let break_row = async || {
        let sql = "UPDATE adkw_log SET exact = 'no JSON' WHERE event_id LIKE '%2' AND place = 1
            AND session = (SELECT number FROM adkw_sessions WHERE id = 'bad')";
        database.execute(sql).await;
    };
    sessions::unreadable_rows_are_reported(&database, Broken::Event, break_row).await;
}

/// Makes a database read-only or writable for new connections, and closes all connections.
async fn read_only(database: &Database, yes: bool) {
    let mut own = database.connect().await;
    let (on, name) = (if yes { "on" } else { "off" }, &database.name);
    for sql in [
        "SET default_transaction_read_only = off".to_owned(),
        format!("ALTER DATABASE {name} SET default_transaction_read_only = {on}"),
        format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = '{name}' AND pid <> pg_backend_pid()"
        ),
    ] {
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
            .execute(&mut own)
            .await
            .unwrap();
    }
}

/// A workflow that counts its rounds until `go_on` allows the end.
fn rounds(go_on: &Arc<AtomicBool>) -> Tree {
    let go_on = go_on.clone();
    let round = by("a", move |cx| {
        let go_on = go_on.clone();
        Box::pin(async move {
            let ends = cx
                .step("look", async move { Ok(go_on.load(SeqCst)) })
                .await?;
            cx.emit(Event::new().with_text("round")).await?;
            Ok(if ends { Flow::Exit } else { Flow::Continue })
        })
    });
    Tree::new("w", vec![repeat("l", Some(1_000_000), vec![run(round)])])
}

fn knows(store: &PostgresStore, tree: Tree) -> Runner {
    let builder = Runner::builder()
        .app_name("app")
        .session_store(store.clone())
        .engine(store.clone());
    builder.workflow::<Tree>(tree).build().unwrap()
}

/// After a failover, the server is read-only for longer than the patience. No run fails, and
/// another process resumes the run although the first process is alive.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_server_that_is_read_only_for_a_while_fails_no_run() {
    let database = Database::new().await;
    let options = Options::default()
        .patience(Duration::from_millis(200))
        .lease(Duration::from_secs(1));
    let store = PostgresStore::connect_with(&database.url, options)
        .await
        .unwrap();
    let go_on = Arc::new(AtomicBool::new(false));
    let (runner, tree) = (knows(&store, rounds(&go_on)), rounds(&go_on));
    let mut stream = runner.session("u", "s").run(&tree, "go").stream();
    for _ in 0..3 {
        stream.next().await.unwrap().unwrap();
    }
    read_only(&database, true).await;
    let error = loop {
        if let Err(error) = stream.next().await.unwrap() {
            break error;
        }
    };
    assert!(error.is_retryable(), "{error}");
    drop(stream);
    let left = &runner.runs(&RunFilter::any()).await.unwrap()[0];
    assert_eq!((&left.status, left.is_ready), (&RunStatus::Running, true));
    read_only(&database, false).await;
    go_on.store(true, SeqCst);
    let other = PostgresStore::connect_with(&database.url, options)
        .await
        .unwrap();
    let other = knows(&other, rounds(&go_on));
    // The lease thread writes the release as soon as it can.
    let recovered = loop {
        let mut all = other.recover().await.unwrap();
        if let Some(run) = all.pop() {
            break run;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert!(recovered.result.unwrap().is_empty());
    let ended = &runner.runs(&RunFilter::any()).await.unwrap()[0];
    assert_eq!(ended.status, RunStatus::Finished);
}

/// Each call of the store first gets connections that have died in the pool.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn dead_connections_fail_no_call() {
    let database = Database::new().await;
    let store = PostgresStore::connect_with(&database.url, quick())
        .await
        .unwrap();
    let ask = || {
        Tree::new(
            "w",
            vec![run(Await::builder::<bool>("yes").question("?").build())],
        )
    };
    let (runner, tree) = (knows(&store, ask()), ask());
    let cut = async || read_only(&database, false).await;
    cut().await;
    store.create(key(), StateDelta::default()).await.unwrap();
    cut().await;
    runner.session("u", "s").run(&tree, "go").await.unwrap_err();
    cut().await;
    let wait = runner.waiting().await.unwrap().remove(0);
    cut().await;
    assert_eq!(
        runner.runs(&RunFilter::unfinished()).await.unwrap().len(),
        1
    );
    cut().await;
    assert_eq!(store.list("app", None, "").await.unwrap().len(), 1);
    cut().await;
    assert_eq!(
        store
            .read(&key(), &EventFilter::new())
            .await
            .unwrap()
            .unwrap()
            .len,
        1
    );
    cut().await;
    runner.answer(&wait.id, true).await.unwrap();
    cut().await;
    assert_eq!(runner.recover().await.unwrap().len(), 1);
    cut().await;
    assert!(store.get(&key()).await.unwrap().is_some());
    cut().await;
    assert!(store.delete(&key()).await.unwrap());
}

/// An agent with a recorded call, a state update and two events. A state key of its own keeps its
/// counter between them.
fn branch(name: &'static str) -> By {
    by(name, move |cx| {
        Box::pin(async move {
            let n: u64 = cx.state().get(name)?.unwrap_or(0);
            let next = cx.step("count", async move { Ok(n + 1) }).await?;
            cx.state()
                .update("all", |all: Option<u64>| all.unwrap_or(0) + 1)
                .await?;
            cx.emit(
                Event::new()
                    .with_text(format!("{next}"))
                    .with_state(format!("temp:{name}"), next),
            )
            .await?;
            let kept: u64 = cx.state().get(&format!("temp:{name}"))?.unwrap_or(0);
            cx.emit(
                Event::new()
                    .with_text(format!("{kept} again"))
                    .with_state(name, kept),
            )
            .await?;
            Ok(Flow::Continue)
        })
    })
}

/// The server commits the first event, the answer is lost, and the server does not come back in
/// time. The error reports an unknown outcome, and a second run with the same id is rejected.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_begin_whose_answer_is_lost_may_have_begun() {
    let database = Database::new().await;
    let lossy = Lossy::new(&database).await;
    let options = quick().patience(Duration::from_millis(500));
    let store = PostgresStore::connect_with(&lossy.url, options)
        .await
        .unwrap();
    let tree = Tree::new("w", vec![run(say("a"))]);
    let id = RunId::new();
    lossy.cut();
    let error = runner(&store)
        .session("u", "s")
        .run(&tree, "go")
        .run_id(id)
        .await
        .unwrap_err();
    assert_eq!(kind(&error), StoreErrorKind::OutcomeUnknown, "{error}");
    assert!(
        error.is_retryable() && error.is_of_store() && error.help().is_some(),
        "{error}"
    );
    let error = runner(&store)
        .session("u", "s")
        .run(&tree, "go")
        .run_id(id)
        .await
        .unwrap_err();
    assert_eq!(
        kind(&error),
        StoreErrorKind::Unavailable,
        "nothing was sent: {error}"
    );

    let other = PostgresStore::connect(&database.url).await.unwrap();
    let there = runner(&other).runs(&RunFilter::of_run(id)).await.unwrap();
    assert_eq!(there.len(), 1);
    let error = runner(&other)
        .session("u", "s")
        .run(&tree, "go")
        .run_id(id)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RunExists, "{error}");
}

/// The outcome of a commit without an answer is unknown. Here each commit succeeded, for one event
/// and for several at once: each event is delivered once, and has one place in the database and in
/// the session that the agents of the run read.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_commit_whose_answer_is_lost_is_done_once() {
    let database = Database::new().await;
    let other = PostgresStore::connect(&database.url).await.unwrap();
    other.create(key(), StateDelta::default()).await.unwrap();
    let lossy = Lossy::new(&database).await;
    let options = quick().patience(Duration::from_secs(60));
    let store = PostgresStore::connect_with(&lossy.url, options)
        .await
        .unwrap();
    let session = store.get(&key()).await.unwrap().unwrap();
    // A first run begins the lease, before answers are lost. To begin the lease takes two
    // statements, and the answer to the second would be lost in each attempt.
    runner(&store)
        .session("u", "s")
        .run(&Tree::new("w", vec![run(say("z"))]), "go")
        .await
        .unwrap();
    lossy.lose();
    for (names, rounds) in [(&["a"][..], 20), (&["b", "c", "d", "e"], 5)] {
        let before = session.len();
        let branches = names.iter().map(|name| run(branch(name))).collect();
        let tree = Tree::new(
            "w",
            vec![repeat("l", Some(rounds), vec![parallel("p", branches)])],
        );
        let mut stream = runner(&store).session("u", "s").run(&tree, "go").stream();
        let mut seen = Vec::new();
        while let Some(event) = stream.next().await {
            seen.push(event.unwrap().id);
        }
        let stored = other
            .read(&key(), &EventFilter::new())
            .await
            .unwrap()
            .unwrap();
        let ids = |events: &[Arc<Event>]| events.iter().map(|event| event.id).collect::<Vec<_>>();
        assert_eq!(seen, ids(&stored.events[before..]));
        session.load(0..session.len()).await.unwrap();
        assert_eq!(
            ids(&session.events().cloned().collect::<Vec<_>>()),
            ids(&stored.events)
        );
        assert_eq!(seen.len(), 1 + 3 * 20, "of {names:?}");
        // The branches of only this run write the key.
        assert_eq!(*stored.state["all"], 20, "each update is made once");
        for name in names {
            let all = stored.events[before..]
                .iter()
                .filter(|event| event.author == *name);
            let texts = all
                .map(|event| event.text())
                .filter(|text| !text.is_empty());
            let wanted = (1..=rounds).flat_map(|n| [format!("{n}"), format!("{n} again")]);
            assert!(texts.eq(wanted), "of {name}");
        }
    }
    assert!(
        lossy.lost_answers() > 100,
        "{} answers were lost",
        lossy.lost_answers()
    );
}

/// Returns the number of round trips of a run with `rounds` rounds, each with a recorded call and
/// an event, in a new database that is reached by the URL from `url`.
pub async fn round_trips(rounds: u32, url: impl Fn(&Database) -> String) -> u32 {
    let mut database = Database::new().await;
    database.url = url(&database);
    let server = Lossy::new(&database).await;
    let store = PostgresStore::connect(&server.url).await.unwrap();
    store.create(key(), StateDelta::default()).await.unwrap();
    let says = by("a", |cx| {
        Box::pin(async move {
            let n = cx.step("count", async { Ok(1) }).await?;
            cx.emit(Event::new().with_text("hello").with_state("n", n))
                .await?;
            Ok(Flow::Continue)
        })
    });
    let tree = Tree::new("w", vec![repeat("l", Some(rounds), vec![run(says)])]);
    runner(&store)
        .session("u", "s")
        .run(&tree, "go")
        .await
        .unwrap();
    server.round_trips()
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn an_event_is_one_round_trip_and_so_is_a_step() {
    let direct = |database: &Database| database.url.clone();
    // The difference of two runs excludes the statements to prepare each connection, and to begin
    // and end the run.
    let (few, many) = (
        round_trips(20, direct).await,
        round_trips(120, direct).await,
    );
    assert!(
        (200..=220).contains(&(many - few)),
        "{few} for 20 rounds, {many} for 120"
    );
}
