//! Two servers on one database: `tests/peers/run-postgres.sh cargo test -p adk-workflow-server --test it -- --ignored balanced`.

use crate::support::{Served, no_grace, send, sse};
use adk::postgres::PostgresStore;
use adk::server::Limits;
use reqwest::StatusCode;
use serde_json::json;

/// A server with a connection of its own to the database.
async fn server(app: &str, limits: Limits) -> Served {
    let store = PostgresStore::connect(&std::env::var("ADK_POSTGRES").unwrap()).await.unwrap();
    let runner = adk::Runner::builder().app_name(app).store(store);
    Served::new(&runner.build().unwrap(), |server| server.limits(limits)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn any_server_shows_answers_and_cancels_what_another_one_drives() {
    let app = format!("balanced-{}", std::process::id());
    let (one, two) = (server(&app, no_grace()).await, server(&app, Limits::default()).await);

    // Begun at the one, followed at the other, and answered there.
    let (_, run) = send(one.post("/v1/approval/runs", &json!({"topic": "cats"}))).await;
    let path = format!("/v1/runs/{}", run["run"].as_str().unwrap());
    let (_, seen) = send(two.get(&path)).await;
    assert_eq!(seen["status"], "paused");
    let wait = format!("/v1/waiting/{}", seen["waiting"][0]["id"].as_str().unwrap());
    let (status, _) = send(two.post(&wait, &json!("Publish"))).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let events =
        one.get(&format!("{path}/events")).header("accept", "text/event-stream").send().await.unwrap();
    let events = sse(&events.text().await.unwrap());
    assert_eq!(events.last().unwrap().2["output"], "CATS CATS", "{events:?}");

    // One key, asked at both at once, is one run.
    let ask = |served: &Served| {
        send(served.post("/v1/shouting/runs", &json!({"topic": "cats"})).header("idempotency-key", "k"))
    };
    let ((_, first), (_, second)) = tokio::join!(ask(&one), ask(&two));
    assert_eq!((&first["run"], &first["output"]), (&second["run"], &json!("CATS")), "{first} {second}");

    // A run of the one is cancelled at the other.
    let (_, hanging) =
        send(one.post("/v1/hanging/runs", &json!({"topic": "x"})).header("prefer", "respond-async")).await;
    let path = format!("/v1/runs/{}", hanging["run"].as_str().unwrap());
    let (_, cancelled) = send(two.delete(&path)).await;
    assert_eq!(cancelled["status"], "cancelled");

    // What the one leaves when it stops is taken up by the other.
    let (_, hanging) =
        send(one.post("/v1/hanging/runs", &json!({"topic": "y"})).header("prefer", "respond-async")).await;
    let path = format!("/v1/runs/{}", hanging["run"].as_str().unwrap());
    let followed =
        two.get(&format!("{path}/events")).header("accept", "text/event-stream").send().await.unwrap();
    one.stop().await.unwrap();
    let (_, running) = send(two.get(&path)).await;
    assert_eq!(running["status"], "running");
    send(two.delete(&path)).await;
    let events = sse(&followed.text().await.unwrap());
    assert_eq!(events.last().unwrap().2["status"], "cancelled", "{events:?}");
    two.stop().await.unwrap();
}
