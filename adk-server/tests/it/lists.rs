//! Lists read what they return, however much the store has.

use crate::a2a::call;
use crate::support::counting::CountingSessions;
use crate::support::unavailable::UnavailableEngine;
use crate::support::{Served, send};
use adk::Event;
use reqwest::StatusCode;
use serde_json::json;

/// Returns the number of events that the server reads for pages of one event, in a session with
/// this many later events.
async fn count_for_pages(later: usize) -> Vec<usize> {
    let store = CountingSessions::default();
    let runner = adk::Runner::builder().session_store(store.part());
    let runner = runner.build().unwrap();
    let served = Served::new(&runner, |server| server).await;
    let path = "/v1/shouting/runs?session=s";
    let (status, run) = send(served.post(path, &json!({"topic": "cats"}))).await;
    assert_eq!(status, StatusCode::OK, "{run}");
    let session = runner.session("user", run["session"].as_str().unwrap());
    let session = match session
        .get(&adk::session::EventFilter::new())
        .await
        .unwrap()
    {
        Some(_) => session,
        None => panic!("the session of the run is unknown: {run}"),
    };
    for _ in 0..later {
        session.append(vec![Event::new()]).await.unwrap();
    }
    let events = format!("/v1/runs/{}/events", run["run"].as_str().unwrap());
    let (_, all) = send(served.get(&events)).await;
    let all = all["events"].as_array().unwrap().clone();
    assert!(all.len() > 1, "{all:?}");
    store.take_count();
    let (mut counts, mut after) = (Vec::new(), String::new());
    for wanted in &all {
        let (_, page) = send(served.get(&format!("{events}?limit=1{after}"))).await;
        assert_eq!(page["events"], json!([wanted]));
        assert_eq!(page["next"], wanted["id"]);
        after = format!("&after={}", page["next"].as_str().unwrap());
        counts.push(store.take_count());
    }
    served.stop().await.unwrap();
    counts
}

#[tokio::test]
async fn a_page_of_events_reads_no_later_events() {
    let (small, large) = (count_for_pages(3).await, count_for_pages(300).await);
    assert!(small.iter().all(|count| *count <= 2), "{small:?}");
    assert_eq!(small, large);
}

/// Returns the number of runs that the server reads for pages of two runs, of this many.
async fn count_for_runs(many: usize) -> Vec<usize> {
    let engine = UnavailableEngine::default();
    let runner = adk::Runner::builder().engine(engine.clone());
    let served = Served::new(&runner.build().unwrap(), |server| server).await;
    for _ in 0..many {
        let (status, run) = send(served.post("/v1/shouting/runs", &json!({"topic": "cats"}))).await;
        assert_eq!(status, StatusCode::OK, "{run}");
    }
    let mut counts = Vec::new();
    engine.take_count();
    let (_, runs) = send(served.get("/v1/runs?limit=2")).await;
    assert_eq!(runs["runs"].as_array().map(Vec::len), Some(2), "{runs}");
    counts.push(engine.take_count());
    let mut page = json!({"pageSize": 2, "historyLength": 0});
    for _ in 0..2 {
        let tasks = call(&served, "shouting", "ListTasks", page.clone()).await;
        let tasks = &tasks["result"];
        assert_eq!(tasks["tasks"].as_array().map(Vec::len), Some(2), "{tasks}");
        assert_eq!(tasks["totalSize"], many);
        page["pageToken"] = tasks["nextPageToken"].clone();
        counts.push(engine.take_count());
    }
    served.stop().await.unwrap();
    counts
}

#[tokio::test]
async fn a_page_of_runs_reads_no_other_runs() {
    let (small, large) = (count_for_runs(5).await, count_for_runs(60).await);
    assert_eq!(
        small,
        [2, 3, 3],
        "one more task tells whether there is a next page"
    );
    assert_eq!(small, large);
}
