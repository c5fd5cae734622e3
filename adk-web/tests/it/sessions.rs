//! The sessions of an app.

use crate::fixtures;
use crate::requests::{SESSIONS, serve, session, text_body};
use crate::support::counting::CountingSessions;
use crate::support::{Served, send};
use reqwest::StatusCode;
use serde_json::{Value, json};

#[tokio::test]
async fn sessions_are_created_read_changed_and_deleted() {
    sessions(serve(|server| server).await).await;
    let folder = std::env::temp_dir().join(format!("adk-web-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let store = adk::sqlite::SqliteStore::open(folder.join("runs.db"))
        .await
        .unwrap();
    let runner = fixtures::builder().store(store);
    sessions(fixtures::serve_on(&runner.build().unwrap(), |server| server).await).await;
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The list reads the sessions of its workflow, however many sessions of others the user has.
#[tokio::test]
async fn a_list_reads_only_its_own_sessions() {
    let mut counts = Vec::new();
    for others in [2, 200] {
        let store = CountingSessions::default();
        let runner = fixtures::builder().session_store(store.part());
        let runner = runner.build().unwrap();
        for nth in 0..others {
            let session = runner.session("user", format!("asking/{nth}"));
            session.create(adk::StateDelta::default()).await.unwrap();
        }
        let served = fixtures::serve_on(&runner, |server| server).await;
        store.take_count();
        assert_eq!(
            send(served.get(SESSIONS)).await,
            (StatusCode::OK, json!([]))
        );
        session(&served, "writing").await;
        store.take_count();
        let (_, all) = send(served.get(SESSIONS)).await;
        assert_eq!(all.as_array().map(Vec::len), Some(1), "{all}");
        counts.push(store.take_count());
        served.stop().await.unwrap();
    }
    assert_eq!(counts, [1, 1]);
}

async fn sessions(served: Served) {
    let state = json!({"k": 1, "user:n": "Ann", "temp:x": 2});
    let (status, made) = send(served.post(SESSIONS, &json!({"state": state}))).await;
    assert_eq!(status, StatusCode::OK, "{made}");
    assert_eq!(made["state"], json!({"k": 1, "user:n": "Ann"}));
    assert_eq!(
        (&made["appName"], &made["userId"], &made["events"]),
        (&json!("writing"), &json!("user"), &json!([]))
    );
    let one = format!("{SESSIONS}/{}", made["id"].as_str().unwrap());
    let (_, again) = send(served.get(&one)).await;
    assert_eq!(again, made);
    let patch = served
        .client
        .patch(format!("http://{}{one}", served.address));
    let (status, changed) =
        send(patch.json(&json!({"stateDelta": {"k": [2], "user:n": null}}))).await;
    assert_eq!(
        (status, &changed["state"]["k"]),
        (StatusCode::OK, &json!([2])),
        "{changed}"
    );
    assert_eq!(
        changed["events"][0]["actions"]["stateDelta"]["k"],
        json!([2])
    );
    assert!(changed["lastUpdateTime"].as_f64() > made["lastUpdateTime"].as_f64());
    // The list omits sessions of other workflows, which may have the same ids.
    session(&served, "asking").await;
    session(&served, "writing").await;
    let (_, all) = send(served.get(SESSIONS)).await;
    let ids: Vec<_> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|session| &session["id"])
        .collect();
    assert_eq!(ids, [&made["id"], &json!("s")], "{all}");
    assert!(
        all[0]["events"] == json!([]) && all[0]["state"]["k"] == json!([2]),
        "{all}"
    );
    assert_eq!(
        send(served.delete(&one)).await,
        (StatusCode::OK, Value::Null)
    );
    assert_eq!(send(served.get(&one)).await.0, StatusCode::NOT_FOUND);
    let content = json!({"parts": [{"text": "hi"}], "role": "user"});
    let event = json!({
        "id": "0190a4c2-7d5e-7000-8000-000000000001",
        "timestamp": 1.5,
        "author": "user",
        "content": content,
        "invocationId": "e-0190a4c2-7d5e-7000-8000-000000000002",
    });
    let (status, restored) =
        send(served.post(SESSIONS, &json!({"sessionId": "r", "events": [event]}))).await;
    assert_eq!(
        (status, &restored["events"][0]["content"]),
        (StatusCode::OK, &content),
        "{restored}"
    );
    // A run appends its events to the restored session.
    let mut run = text_body("writing", "more");
    run["sessionId"] = json!("r");
    let (_, events) = send(served.post("/run", &run)).await;
    let (_, all) = send(served.get(&format!("{SESSIONS}/r"))).await;
    assert_eq!(
        all["events"].as_array().unwrap().last(),
        events.as_array().unwrap().last(),
        "{all}"
    );
    assert_eq!(all["events"][0], restored["events"][0]);
    served.stop().await.unwrap();
}
