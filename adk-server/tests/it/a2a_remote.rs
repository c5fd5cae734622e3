//! A workflow with a step that is a workflow of another server, over A2A.

use crate::support::{Served, no_grace, send};
use adk::a2a::remote;
use adk::engine::MemoryJournal;
use adk::prelude::*;
use adk::session::{MemoryStore, SessionStore};
use adk::sqlite::SqliteStore;
use adk::testing::{Reply, ScriptedModel};
use adk::{DynAgent, ErrorKind, RemoteErrorKind};
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::mpsc;

workflow! {
    /// Tells a story.
    pub Telling(topic: String) -> story: String {
        agent teller -> story: String { instruction: "Tell of {topic}." }
        teller
    }
}

workflow! {
    pub Delegating(topic: String) -> post: String {
        agent other(topic: String) -> post: String as Arc<dyn DynAgent>;
        other
    }
}

fn delegating(served: &Served, name: &str) -> Delegating {
    let other = remote(format!("http://{}/a2a/{name}", served.address)).name("other");
    let other = other
        .reads::<String>("topic")
        .writes::<String>("post")
        .build()
        .unwrap();
    Delegating::new(Arc::new(other)).unwrap()
}

#[tokio::test]
async fn a_workflow_is_a_step_of_another_workflow() {
    let reply = Reply::new()
        .text("A cat sat.")
        .pieces(["A cat".to_owned(), " sat.".to_owned()]);
    let there = adk::Runner::builder()
        .model(ScriptedModel::new().reply(reply))
        .build()
        .unwrap();
    let served = Served::new(&there, |server| server.workflow(Telling::default())).await;
    let runner = Runner::builder().build().unwrap();
    let output = runner
        .run(&delegating(&served, "telling"), "cats")
        .await
        .unwrap()
        .output;
    assert_eq!(output, "A cat sat.");
    let shouted = runner
        .run(&delegating(&served, "shouting"), "cats")
        .await
        .unwrap()
        .output;
    assert_eq!(shouted, "CATS");
    let error = runner
        .run(&delegating(&served, "failing"), "dogs")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Remote(RemoteErrorKind::Failed));
    assert!(
        error.to_string().contains("cannot write about dogs"),
        "{error}"
    );
    let error = runner
        .run(&delegating(&served, "nothing"), "dogs")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Remote(RemoteErrorKind::Refused));
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_question_of_another_server_is_answered_here() {
    let served = Served::in_memory().await;
    let (journal, sessions): (_, Arc<dyn SessionStore>) =
        (MemoryJournal::new(), Arc::new(MemoryStore::new()));
    let runner = || {
        let runner = Runner::builder()
            .session_store(sessions.clone())
            .engine(journal.clone());
        runner
            .workflow(delegating(&served, "approval"))
            .build()
            .unwrap()
    };
    let error = runner()
        .session("ann", "s")
        .run(&delegating(&served, "approval"), "cats")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Paused);
    // Another process continues the run.
    let runner = runner();
    let wait = runner.waiting().await.unwrap().remove(0);
    assert_eq!(wait.question, "May this be published? CATS CATS");
    runner
        .answer(&wait.id, json!({"Revise": {"note": "shorter"}}))
        .await
        .unwrap();
    runner.recover().await.unwrap().remove(0).result.unwrap();
    let session = runner.session("ann", "s").open().await.unwrap();
    assert_eq!(
        session.get("post").unwrap().as_str(),
        Some("CATS CATS (shorter)")
    );
    let (_, runs) = send(served.get("/v1/runs")).await;
    assert_eq!(
        runs["runs"].as_array().unwrap().len(),
        1,
        "the agent got one message: {runs}"
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_client_is_notified_after_the_server_of_its_task_has_stopped() {
    let (posted, mut received) = mpsc::unbounded_channel::<Value>();
    let hook = async |State(posted): State<mpsc::UnboundedSender<Value>>, body: Bytes| {
        posted.send(serde_json::from_slice(&body).unwrap()).unwrap();
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let router = axum::Router::new()
        .route("/hook", post(hook))
        .with_state(posted);
    tokio::spawn(axum::serve(listener, router).into_future());
    let folder = std::env::temp_dir().join(format!("adk-a2a-push-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("runs.db");
    let open = async || {
        let store = SqliteStore::open(&file).await.unwrap();
        let runner = adk::Runner::builder().store(store).build().unwrap();
        Served::new(&runner, |server| server.limits(no_grace()).push_to(&url)).await
    };
    let served = open().await;
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "cats"}]});
    let configuration = json!({"taskPushNotificationConfig": {"url": url}});
    let params = json!({"message": message, "configuration": configuration});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params});
    let (_, sent) = send(
        served
            .post("/a2a/approval", &body)
            .header("a2a-version", "1.0"),
    )
    .await;
    assert_eq!(
        received.recv().await.unwrap()["statusUpdate"]["status"]["state"],
        "TASK_STATE_INPUT_REQUIRED"
    );
    served.stop().await.unwrap();

    let served = open().await;
    let (_, waiting) = send(served.get("/v1/waiting")).await;
    let wait = waiting["waiting"][0]["id"].as_str().unwrap();
    let (status, _) = send(served.post(&format!("/v1/waiting/{wait}"), &json!("Publish"))).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    loop {
        let notification = received.recv().await.unwrap();
        assert_eq!(
            notification["statusUpdate"]["taskId"],
            sent["result"]["task"]["id"]
        );
        if notification["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED" {
            break;
        }
    }
    served.stop().await.unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}
