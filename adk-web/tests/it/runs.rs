//! Runs, with their events, files, spans and pictures.

use crate::requests::{SESSIONS, part_body, run_sse, serve, session, text_body};
use crate::support::{Served, send, sse};
use reqwest::StatusCode;
use serde_json::{Value, json};

#[tokio::test]
async fn a_run_has_events_files_and_spans() {
    let served = serve(|server| server).await;
    session(&served, "writing").await;
    let (status, events) = send(served.post("/run", &text_body("writing", "cats"))).await;
    assert_eq!(status, StatusCode::OK, "{events}");
    let texts = |events: &[Value]| -> Vec<String> {
        let text = |event: &Value| {
            event["content"]["parts"][0]["text"]
                .as_str()
                .unwrap_or("-")
                .to_owned()
        };
        events.iter().map(text).collect()
    };
    assert_eq!(
        texts(events.as_array().unwrap()),
        ["A cat sat.", "Longer.", "Fine.", "Published."],
        "{events}"
    );
    assert_eq!(
        events[0]["actions"]["requestedToolConfirmations"],
        json!({})
    );
    assert_eq!(
        events[3]["actions"]["artifactDelta"],
        json!({"out/post.txt": 0})
    );
    let mut body = text_body("writing", "more");
    body["stateDelta"] = json!({"mood": "calm"});
    let second = run_sse(&served, &body).await;
    assert_eq!(
        texts(&second),
        ["A cat sat.", "Longer.", "Fine.", "Published."],
        "{second:?}"
    );
    assert_eq!(
        second[3]["actions"]["artifactDelta"],
        json!({"out/post.txt": 1})
    );
    let (_, session) = send(served.get(&format!("{SESSIONS}/s"))).await;
    assert_eq!(
        (&session["state"]["draft"], &session["state"]["mood"]),
        (&json!("A cat sat."), &json!("calm"))
    );
    assert_eq!(
        session["events"].as_array().unwrap().len(),
        10,
        "with those of the user"
    );
    check_files(&served).await;
    check_spans(&served).await;
    check_graph(&served, events[1]["id"].as_str().unwrap()).await;
    served.stop().await.unwrap();
}

/// Checks the files of two runs of `writing`.
async fn check_files(served: &Served) {
    let file = |rest: &str| format!("{SESSIONS}/s/artifacts{rest}");
    let get = |rest: &str| send(served.get(&file(rest)));
    let part = json!({"inlineData": {"mimeType": "text/plain", "data": "QSBjYXQgc2F0Lg=="}});
    assert_eq!(get("").await.1, json!(["out/post.txt"]));
    for rest in [
        "/out/post.txt",
        "/out/post.txt?version=0",
        "/out/post.txt/versions/1",
        "/out/post.txt/versions/latest",
    ] {
        assert_eq!(get(rest).await, (StatusCode::OK, part.clone()), "{rest}");
    }
    assert_eq!(get("/out/post.txt/versions").await.1, json!([0, 1]));
    let (_, about) = get("/out/post.txt/versions/metadata").await;
    assert_eq!(
        (&about[1]["version"], &about[1]["mimeType"]),
        (&json!(1), &json!("text/plain")),
        "{about}"
    );
    assert_eq!(
        get("/out/post.txt/versions/latest/metadata").await.1,
        about[1]
    );
    assert_eq!(
        get(&about[0]["canonicalUri"].as_str().unwrap()[SESSIONS.len() + 12..])
            .await
            .1,
        part
    );
    let save = json!({"filename": "note", "artifact": {"text": "hi"}});
    let (status, saved) = send(served.post(&file(""), &save)).await;
    assert_eq!(
        (status, &saved["version"]),
        (StatusCode::OK, &json!(0)),
        "{saved}"
    );
    assert_eq!(get("/note").await.1, json!({"text": "hi"}));
    assert_eq!(
        send(served.delete(&file("/note"))).await,
        (StatusCode::OK, Value::Null)
    );
    assert_eq!(get("").await.1, json!(["out/post.txt"]));
}

/// Checks the spans of two runs of `writing`.
async fn check_spans(served: &Served) {
    let (_, spans) = send(served.get("/dev/apps/writing/debug/trace/session/s")).await;
    let spans = spans.as_array().unwrap();
    let named = |name: &str| {
        spans
            .iter()
            .filter(|span| span["name"] == name)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (
            named("invocation").len(),
            named("invoke_agent critic").len()
        ),
        (2, 4),
        "each round: {spans:?}"
    );
    let critic = named("invoke_agent critic")[0];
    let parent = spans
        .iter()
        .find(|span| span["span_id"] == critic["parent_span_id"])
        .expect("a parent");
    assert_eq!(parent["name"], "invoke_agent polish");
    assert!(
        spans
            .iter()
            .all(|span| span["start_time"].as_u64() <= span["end_time"].as_u64()),
        "{spans:?}"
    );
}

/// Checks the picture with the agent of an event of the critic.
async fn check_graph(served: &Served, event: &str) {
    let (_, graph) = send(served.get(&format!(
        "/dev/apps/writing/users/user/sessions/s/events/{event}/graph"
    )))
    .await;
    let dot = graph["dotSrc"].as_str().unwrap();
    let id = dot
        .lines()
        .find(|line| line.contains("label=\"critic"))
        .unwrap()
        .trim()
        .split(' ')
        .next()
        .unwrap();
    assert!(
        dot.contains(&format!("    {id} [fillcolor=\"#0f5223\"")),
        "{dot}"
    );
    let (_, none) =
        send(served.get("/dev/apps/writing/users/user/sessions/s/events/none/graph")).await;
    assert_eq!(none, json!({}));
}

#[tokio::test]
async fn apps_are_described() {
    let served = serve(|server| server).await;
    let (_, names) = send(served.get("/list-apps?relative_path=./")).await;
    assert!(
        names.as_array().unwrap().contains(&json!("writing")),
        "{names}"
    );
    let (_, detailed) = send(served.get("/list-apps?detailed=true")).await;
    let writing = detailed["apps"]
        .as_array()
        .unwrap()
        .iter()
        .find(|app| app["name"] == "writing")
        .unwrap();
    assert_eq!(writing["description"], "Writes about a topic.");
    assert_eq!(send(served.get("/apps/writing/app-info")).await.1, *writing);
    assert_eq!(send(served.get("/version")).await.1["language"], "rust");
    assert_eq!(
        send(served.get("/config/telemetry")).await.1,
        json!({"telemetry": false})
    );
    let (_, graph) = send(served.get("/dev/apps/writing/build_graph")).await;
    let polish = &graph["root_agent"]["sub_agents"][1];
    assert_eq!(
        (&polish["name"], &polish["max_iterations"]),
        (&json!("polish"), &json!(3)),
        "{graph}"
    );
    assert_eq!(polish["sub_agents"][0]["name"], "critic");
    let (_, paying) = send(served.get("/dev/apps/paying/build_graph")).await;
    assert_eq!(
        paying["root_agent"]["sub_agents"][0]["tools"],
        json!([{"name": "pay", "type": "tool"}])
    );
    let (_, image) = send(served.get("/dev/apps/writing/build_graph_image?dark_mode=true")).await;
    assert!(
        image[""]["dotSrc"]
            .as_str()
            .unwrap()
            .starts_with("digraph \"writing\""),
        "{image}"
    );
    for (path, body) in [
        ("eval_sets", json!([])),
        ("tests", json!([])),
        ("eval-sets", json!({"evalSetIds": []})),
    ] {
        assert_eq!(
            send(served.get(&format!("/dev/apps/writing/{path}"))).await,
            (StatusCode::OK, body)
        );
    }
    let builder = served
        .get("/dev/apps/writing/builder?ts=1")
        .send()
        .await
        .unwrap();
    assert_eq!(
        (builder.status(), builder.text().await.unwrap()),
        (StatusCode::OK, String::new())
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_failed_run_returns_its_error() {
    let served = serve(|server| server).await;
    session(&served, "failing").await;
    let (status, error) = send(served.post("/run", &text_body("failing", "x"))).await;
    assert_eq!(status, StatusCode::BAD_GATEWAY, "{error}");
    assert!(
        error["detail"].as_str().unwrap().contains("cannot write"),
        "{error}"
    );
    let events = run_sse(&served, &text_body("failing", "x")).await;
    assert_eq!(events.len(), 1, "{events:?}");
    assert!(
        events[0]["error"]
            .as_str()
            .unwrap()
            .contains("cannot write"),
        "{events:?}"
    );
    // A message without text is valid.
    session(&served, "drafting").await;
    let events = run_sse(
        &served,
        &part_body(
            "drafting",
            json!({"functionCall": {"name": "f", "args": {}}}),
        ),
    )
    .await;
    assert!(
        events.last().unwrap()["error"].is_null(),
        "an empty topic is a valid input: {events:?}"
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_client_that_disconnects_cancels_its_run() {
    let served = serve(|server| server).await;
    session(&served, "hanging").await;
    let mut response = served
        .post("/run_sse", &text_body("hanging", "x"))
        .send()
        .await
        .unwrap();
    let run = loop {
        let (_, runs) = send(served.get("/v1/runs?workflow=hanging")).await;
        if let Some(run) = runs["runs"].get(0) {
            break run["run"].as_str().unwrap().to_owned();
        }
        let _ = tokio::time::timeout(std::time::Duration::from_millis(10), response.chunk()).await;
    };
    drop(response);
    let rest = served
        .get(&format!("/v1/runs/{run}/events"))
        .header("accept", "text/event-stream");
    let rest = sse(&rest.send().await.unwrap().text().await.unwrap());
    assert_eq!(rest.last().unwrap().2["status"], "cancelled", "{rest:?}");
    served.stop().await.unwrap();
}
