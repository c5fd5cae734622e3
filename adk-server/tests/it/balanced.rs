//! Two servers on one database: `tests/peers/run-postgres.sh cargo test -p adk-workflow-server
//! --test it -- --ignored balanced`.

use crate::support::{Served, no_grace, send, sse};
use adk::postgres::PostgresStore;
use adk::server::Limits;
use reqwest::StatusCode;
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use std::time::Duration;

/// Starts a server with its own connection to the database.
async fn server(app: &str, limits: Limits) -> Served {
    server_at(&std::env::var("ADK_POSTGRES").unwrap(), app, limits).await
}

async fn server_at(url: &str, app: &str, limits: Limits) -> Served {
    let store = PostgresStore::connect(url).await.unwrap();
    let runner = adk::Runner::builder().app_name(app).store(store);
    Served::new(&runner.build().unwrap(), |server| server.limits(limits)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_server_shows_answers_and_cancels_runs_of_another_server() {
    let app = format!("balanced-{}", std::process::id());
    let (one, two) = (
        server(&app, no_grace()).await,
        server(&app, Limits::default()).await,
    );

    // The first server starts the run; the second follows and answers it.
    let (_, run) = send(one.post("/v1/approval/runs", &json!({"topic": "cats"}))).await;
    let path = format!("/v1/runs/{}", run["run"].as_str().unwrap());
    let (_, seen) = send(two.get(&path)).await;
    assert_eq!(seen["status"], "paused");
    let wait = format!("/v1/waiting/{}", seen["waiting"][0]["id"].as_str().unwrap());
    let (status, _) = send(two.post(&wait, &json!("Publish"))).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let events = one
        .get(&format!("{path}/events"))
        .header("accept", "text/event-stream")
        .send()
        .await
        .unwrap();
    let events = sse(&events.text().await.unwrap());
    assert_eq!(
        events.last().unwrap().2["output"],
        "CATS CATS",
        "{events:?}"
    );

    // Concurrent requests with one key to both servers start one run.
    let ask = |served: &Served| {
        send(
            served
                .post("/v1/shouting/runs", &json!({"topic": "cats"}))
                .header("idempotency-key", "k"),
        )
    };
    let ((_, first), (_, second)) = tokio::join!(ask(&one), ask(&two));
    assert_eq!(first["run"], second["run"], "{first} {second}");
    // The server that does not drive the run may report it as running.
    let path = format!("/v1/runs/{}/events", first["run"].as_str().unwrap());
    for served in [&one, &two] {
        let events = served
            .get(&path)
            .header("accept", "text/event-stream")
            .send()
            .await
            .unwrap();
        let events = sse(&events.text().await.unwrap());
        assert_eq!(events.last().unwrap().2["output"], "CATS", "{events:?}");
    }

    // The second server cancels a run of the first.
    let (_, hanging) = send(
        one.post("/v1/hanging/runs", &json!({"topic": "x"}))
            .header("prefer", "respond-async"),
    )
    .await;
    let path = format!("/v1/runs/{}", hanging["run"].as_str().unwrap());
    let (_, cancelled) = send(two.delete(&path)).await;
    assert_eq!(cancelled["status"], "cancelled");

    // The second server resumes a run when the first one stops.
    let (_, hanging) = send(
        one.post("/v1/hanging/runs", &json!({"topic": "y"}))
            .header("prefer", "respond-async"),
    )
    .await;
    let path = format!("/v1/runs/{}", hanging["run"].as_str().unwrap());
    let followed = two
        .get(&format!("{path}/events"))
        .header("accept", "text/event-stream")
        .send()
        .await
        .unwrap();
    one.stop().await.unwrap();
    let (_, running) = send(two.get(&path)).await;
    assert_eq!(running["status"], "running");
    send(two.delete(&path)).await;
    let events = sse(&followed.text().await.unwrap());
    assert_eq!(
        events.last().unwrap().2["status"],
        "cancelled",
        "{events:?}"
    );
    two.stop().await.unwrap();
}

/// Sends requests with one key to two servers while the table of runs is locked, and repeats them
/// until they succeed. Each key must start one run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_key_of_two_servers_is_one_run_while_the_table_of_runs_is_locked() {
    let rounds: usize = std::env::var("ADK_KEYS").map_or(24, |rounds| rounds.parse().unwrap());
    // A separate database keeps the locks away from other tests.
    let (server, name) = (
        std::env::var("ADK_POSTGRES").unwrap(),
        format!("locked_{}", std::process::id()),
    );
    let mut admin = PgConnection::connect(&server).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(format!("CREATE DATABASE {name}")))
        .execute(&mut admin)
        .await
        .unwrap();
    let url = format!("{}/{name}", server.rsplit_once('/').unwrap().0);
    let [one, two] = [
        server_at(&url, &name, no_grace()).await,
        server_at(&url, &name, no_grace()).await,
    ];
    let random = |most: u64| Duration::from_millis(fastrand::u64(..most));
    let ask = async |served: &Served, round: usize, delay: Duration| {
        tokio::time::sleep(delay).await;
        loop {
            let request = served.post(
                "/v1/shouting/runs",
                &json!({"topic": format!("round {round}")}),
            );
            let (status, run) =
                send(request.header("idempotency-key", format!("key {round}"))).await;
            match status {
                StatusCode::OK => return run["run"].as_str().unwrap().to_owned(),
                // No run has started, the run may start soon, or it is running.
                StatusCode::SERVICE_UNAVAILABLE | StatusCode::CONFLICT | StatusCode::ACCEPTED => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                other => panic!("{other}: {run}"),
            }
        }
    };
    let mut runs = std::collections::BTreeSet::new();
    // Several rounds share one lock to save time.
    for first in (0..rounds).step_by(8) {
        let mut lock = PgConnection::connect(&url).await.unwrap();
        let locks = "BEGIN; LOCK TABLE adkw_runs IN EXCLUSIVE MODE";
        sqlx::raw_sql(locks).execute(&mut lock).await.unwrap();
        let unlock = async {
            tokio::time::sleep(Duration::from_secs(4)).await;
            sqlx::raw_sql("COMMIT").execute(&mut lock).await.unwrap();
        };
        let all = (first..rounds.min(first + 8)).map(|round| {
            let (one, two, ask) = (&one, &two, &ask);
            async move {
                let (at_one, at_two, again) = tokio::join!(
                    ask(one, round, random(4_000)),
                    ask(two, round, random(4_000)),
                    ask(two, round, random(4_000)),
                );
                assert_eq!((&at_one, &at_one), (&at_two, &again), "round {round}");
                at_one
            }
        });
        let ((), all) = tokio::join!(unlock, futures_util::future::join_all(all));
        runs.extend(all);
    }
    assert_eq!(runs.len(), rounds);
    let sql = "SELECT count(*) FROM adkw_runs";
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let stored: i64 = sqlx::query_scalar(sql)
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(stored, rounds as i64, "each key is one run");
    one.stop().await.unwrap();
    two.stop().await.unwrap();
}
