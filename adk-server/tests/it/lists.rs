//! Lists read what they return, however much the store has.

use crate::support::counting::CountingSessions;
use crate::support::{Served, send};
use adk::Event;
use reqwest::StatusCode;
use serde_json::{Value, json};

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
    assert!(all.len() > 2, "{all:?}");
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
