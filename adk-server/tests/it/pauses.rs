//! Streams that stay open while their runs wait for answers.

use crate::support::{Served, no_grace, send, sse};
use adk::InMemoryStore;
use adk::server::{Caller, Refusal};
use reqwest::Response;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;

type SentEvent = (String, String, Value);

/// Reads a stream to its end, or until an event of this name.
async fn read_until(stream: &mut Response, name: &str) -> Vec<SentEvent> {
    let mut text = String::new();
    let read = async {
        while let Some(part) = stream.chunk().await.unwrap() {
            text.push_str(std::str::from_utf8(&part).unwrap());
            if text.ends_with("\n\n") && text.contains(&format!("event: {name}\n")) {
                break;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), read)
        .await
        .unwrap_or_else(|_| panic!("no event `{name}` arrives"));
    sse(&text)
}

async fn opened(served: &Served, path: &str) -> Response {
    let request = served.post(path, &json!({"topic": "cats"}));
    let request = request.header("accept", "text/event-stream");
    request.header("x-user", "ann").send().await.unwrap()
}

fn wait_of(events: &[SentEvent]) -> String {
    let (name, _, run) = events.last().unwrap();
    assert_eq!((&**name, &run["status"]), ("paused", &json!("paused")));
    run["waiting"][0]["id"].as_str().unwrap().to_owned()
}

/// Checks the events after a pause whose wait was answered.
fn check_rest(before: &[SentEvent], rest: &[SentEvent], answer: &Value) {
    assert_eq!((&*rest[0].0, &rest[0].2), ("answered", answer), "{rest:?}");
    let (name, _, run) = rest.last().unwrap();
    assert_eq!(
        (&**name, &run["output"]),
        ("end", &json!("CATS CATS")),
        "{rest:?}"
    );
    let all = before.iter().chain(rest).map(|event| &event.1);
    let ids: Vec<_> = all.filter(|id| !id.is_empty()).collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
    assert_eq!(ids.len(), 4, "no event is lost or repeated: {ids:?}");
}

async fn by_header(request: axum::http::request::Parts) -> Result<Caller, Refusal> {
    let user = request.headers.get("x-user").unwrap().to_str().unwrap();
    Ok(Caller::user(user))
}

#[tokio::test]
async fn a_stream_stays_open_over_a_pause_and_names_the_answerer() {
    let runner = adk::Runner::builder().build().unwrap();
    let served = Served::new(&runner, |server| server.authorize(by_header)).await;
    let mut stream = opened(&served, "/v1/approval/runs").await;
    let before = read_until(&mut stream, "paused").await;
    let wait = wait_of(&before);
    let run = before.last().unwrap().2["run"].as_str().unwrap().to_owned();
    // A late follower of the pause sees it at once.
    let followed = served.get(&format!("/v1/runs/{run}/events"));
    let followed = followed.header("accept", "text/event-stream");
    let mut followed = followed.header("x-user", "ann").send().await.unwrap();
    let late = read_until(&mut followed, "paused").await;
    let answer = served.post(&format!("/v1/waiting/{wait}"), &json!("Publish"));
    send(answer.header("x-user", "ann")).await;
    let answer = json!({"wait": wait, "user": "ann"});
    check_rest(&before, &read_until(&mut stream, "end").await, &answer);
    check_rest(&late, &read_until(&mut followed, "end").await, &answer);
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_stream_ends_at_a_pause_if_it_asks_for_that() {
    let served = Served::in_memory().await;
    let stream = opened(&served, "/v1/approval/runs?until=pause").await;
    let events = sse(&stream.text().await.unwrap());
    let (name, _, run) = events.last().unwrap();
    assert_eq!((&**name, &run["status"]), ("end", &json!("paused")));
    let (status, error) = send(served.post("/v1/approval/runs?until=noon", &json!({}))).await;
    assert_eq!(
        (status.as_u16(), &error["error"]["kind"]),
        (400, &json!("query_invalid"))
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_stream_continues_after_an_answer_through_another_process() {
    let store = InMemoryStore::new();
    let runner = || adk::Runner::builder().store(store.clone()).build().unwrap();
    let [one, two] = [runner(), runner()];
    let one = Served::new(&one, |server| server).await;
    // Another program only stores the answer, and the watch of the server resumes the run.
    let mut stream = opened(&one, "/v1/approval/runs").await;
    let before = read_until(&mut stream, "paused").await;
    let wait = wait_of(&before);
    two.answer(&wait, "Publish").await.unwrap();
    let rest = read_until(&mut stream, "end").await;
    check_rest(&before, &rest, &json!({"wait": wait}));
    // Another server answers and drives the run.
    let two = Served::new(&two, |server| server).await;
    let mut stream = opened(&one, "/v1/approval/runs").await;
    let before = read_until(&mut stream, "paused").await;
    let wait = wait_of(&before);
    send(two.post(&format!("/v1/waiting/{wait}"), &json!("Publish"))).await;
    let rest = read_until(&mut stream, "end").await;
    check_rest(&before, &rest, &json!({"wait": wait}));
    one.stop().await.unwrap();
    two.stop().await.unwrap();
}

#[tokio::test]
async fn a_paused_stream_ends_with_its_run_and_with_its_server() {
    let runner = adk::Runner::builder().build().unwrap();
    let served = Served::new(&runner, |server| server.limits(no_grace())).await;
    let mut stream = opened(&served, "/v1/approval/runs").await;
    let before = read_until(&mut stream, "paused").await;
    let run = before.last().unwrap().2["run"].as_str().unwrap();
    send(served.delete(&format!("/v1/runs/{run}"))).await;
    let rest = read_until(&mut stream, "end").await;
    assert_eq!((rest.len(), &rest[0].2["status"]), (1, &json!("cancelled")));
    let mut stream = opened(&served, "/v1/approval/runs").await;
    read_until(&mut stream, "paused").await;
    served.stop().await.unwrap();
    assert_eq!(read_until(&mut stream, "none").await, []);
}
