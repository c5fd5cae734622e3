//! Repeated requests and unavailable stores: a run starts once, and the status 503 means that no
//! run has started.

use crate::support::unavailable::UnavailableEngine;
use crate::support::{Served, no_grace, read, send, sse};
use adk::prelude::*;
use adk::server::{Caller, Refusal};
use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;

/// The number of payments, and the permits that let them end.
struct Gate {
    paid: AtomicU32,
    open: Semaphore,
}

/// Returns the gate of a topic. Each test uses its own topics.
fn gate(topic: &str) -> Arc<Gate> {
    static GATES: LazyLock<Mutex<HashMap<String, Arc<Gate>>>> = LazyLock::new(Mutex::default);
    let new = || {
        Arc::new(Gate {
            paid: AtomicU32::new(0),
            open: Semaphore::new(0),
        })
    };
    GATES
        .lock()
        .unwrap()
        .entry(topic.to_owned())
        .or_insert_with(new)
        .clone()
}

/// Pays when the gate is open.
#[agent(writes = receipt)]
async fn pay(topic: &str) -> String {
    let gate = gate(topic);
    gate.paid.fetch_add(1, SeqCst);
    drop(gate.open.acquire().await);
    topic.to_uppercase()
}

workflow! {
    /// Pays.
    pub Paying(topic: String) -> receipt: String { pay }
}

async fn serve(engine: &UnavailableEngine) -> Served {
    let runner = adk::Runner::builder()
        .engine(engine.clone())
        .build()
        .unwrap();
    Served::new(&runner, |server| {
        server.workflow(Paying::default()).limits(no_grace())
    })
    .await
}

fn pays(served: &Served, topic: &str) -> RequestBuilder {
    served.post("/v1/paying/runs", &json!({"topic": topic}))
}

async fn until(condition: impl AsyncFn() -> bool) {
    while !condition().await {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Lists the runs of a workflow.
async fn runs(served: &Served, workflow: &str) -> Vec<Value> {
    let (status, all) = send(served.get(&format!("/v1/runs?workflow={workflow}"))).await;
    assert_eq!(status, StatusCode::OK, "{all}");
    all["runs"].as_array().unwrap().clone()
}

async fn by_header(request: axum::http::request::Parts) -> Result<Caller, Refusal> {
    match request
        .headers
        .get("x-user")
        .and_then(|user| user.to_str().ok())
    {
        Some("admin") => Ok(Caller::operator()),
        Some(user) => Ok(Caller::user(user)),
        None => Err(Refusal::unauthorized("the header `x-user` is missing")),
    }
}

#[tokio::test]
async fn a_key_belongs_to_one_request_of_its_caller() {
    let runner = adk::Runner::builder().build().unwrap();
    let served = Served::new(&runner, |server| server.authorize(by_header)).await;
    let ask = |caller: &str, path: &str, body: &str| {
        let request = served
            .post(path, &json!(null))
            .header("x-user", caller)
            .header("idempotency-key", "k");
        send(request.body(body.to_owned()))
    };
    let (path, body) = ("/v1/shouting/runs", r#"{"topic": "cats", "times": 2}"#);
    let (status, first) = ask("admin", path, body).await;
    assert_eq!(
        (status, &first["output"]),
        (StatusCode::OK, &json!("CATS CATS"))
    );
    for (path, body) in [
        (path, r#"{"topic": "dogs", "times": 2}"#),
        (path, r#"{"topic": "cats"}"#),
        ("/v1/shouting/runs?session=s", body),
        ("/v1/shouting/runs?user=bob", body),
        ("/v1/approval/runs", body),
    ] {
        let (status, refused) = ask("admin", path, body).await;
        assert_eq!(
            (status, &refused["error"]["kind"]),
            (StatusCode::UNPROCESSABLE_ENTITY, &json!("key_reused"))
        );
        assert!(refused["error"]["help"].is_string(), "{refused}");
    }
    let (_, again) = ask("admin", path, r#"{"times":2,"topic":"cats"}"#).await;
    assert_eq!(again, first, "the JSON is the same");
    // Callers do not share keys.
    let (_, ann) = ask("ann", path, r#"{"topic": "dogs"}"#).await;
    let (_, bob) = ask("bob", path, r#"{"topic": "birds"}"#).await;
    assert_eq!(
        (&ann["output"], &bob["output"]),
        (&json!("DOGS"), &json!("BIRDS"))
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_key_is_forgotten_after_its_lifetime() {
    let runner = adk::Runner::builder().build().unwrap();
    let served = Served::new(&runner, |server| server.key_lifetime(Duration::ZERO)).await;
    let shout = || {
        served
            .post("/v1/shouting/runs", &json!({"topic": "cats"}))
            .header("idempotency-key", "k")
    };
    let ((_, first), (_, second)) = (send(shout()).await, send(shout()).await);
    assert_ne!(first["run"], second["run"]);
    served.stop().await.unwrap();
}

/// Both for a running run and for a run that is queued in its session.
#[tokio::test]
async fn a_repeated_request_that_prefers_no_wait_is_answered_at_once() {
    let served = serve(&UnavailableEngine::default()).await;
    let ask = async |topic: &str| {
        let request = served.post("/v1/paying/runs?session=s", &json!({"topic": topic}));
        let request = request
            .header("idempotency-key", topic)
            .header("prefer", "respond-async");
        let answer = tokio::time::timeout(Duration::from_secs(60), send(request)).await;
        let (status, run) = answer.expect("the response does not wait for a run");
        assert_eq!(status, StatusCode::ACCEPTED, "{run}");
        (run["run"].clone(), run["status"].clone())
    };
    for (topic, status) in [("driven", "running"), ("in line", "queued")] {
        let (first, again) = (ask(topic).await, ask(topic).await);
        assert_eq!((&first, &again.1), (&again, &json!(status)), "{topic}");
    }
    served.stop().await.unwrap();
}

/// Also if the first run is queued in its session for a long time.
#[tokio::test]
async fn a_repeated_request_starts_no_second_run_while_the_first_is_queued() {
    let served = serve(&UnavailableEngine::default()).await;
    let ask = |topic: &str| {
        let request = served.post("/v1/paying/runs?session=s", &json!({"topic": topic}));
        let sent = request
            .header("idempotency-key", format!("key of {topic}"))
            .send();
        tokio::spawn(async move {
            let response = sent.await.unwrap();
            let retry = response.headers().contains_key("retry-after");
            let (status, body) = read(response).await;
            (status, retry, body)
        })
    };
    let busy = ask("busy");
    until(async || gate("busy").paid.load(SeqCst) == 1).await;
    let mut all: Vec<_> = (0..4).map(|_| ask("waits")).collect();
    // Longer than a request waits for an earlier one.
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    all.push(ask("waits"));
    gate("busy").open.close();
    gate("waits").open.close();
    assert_eq!(busy.await.unwrap().0, StatusCode::OK);
    let mut known = BTreeSet::new();
    for request in all {
        match request.await.unwrap() {
            (StatusCode::OK, _, run) => drop(known.insert(run["run"].to_string())),
            (StatusCode::CONFLICT, true, error) => {
                assert_eq!(error["error"]["kind"], "starting", "{error}")
            }
            other => panic!("{other:?}"),
        }
    }
    let (status, _, run) = ask("waits").await.unwrap();
    assert_eq!((status, &run["output"]), (StatusCode::OK, &json!("WAITS")));
    known.insert(run["run"].to_string());
    assert_eq!(
        (
            known.len(),
            gate("waits").paid.load(SeqCst),
            runs(&served, "paying").await.len()
        ),
        (1, 1, 2)
    );
    served.stop().await.unwrap();
}

/// The key stays bound if the run cannot start, as after the death of the process. The next request
/// starts the run.
#[tokio::test]
async fn a_key_whose_run_has_not_started_starts_it_later_and_once() {
    let engine = UnavailableEngine::default();
    let served = serve(&engine).await;
    let ask = |topic: &str| pays(&served, topic).header("idempotency-key", "k");
    gate("later").open.close();
    engine.set_full(true);
    let (status, error) = send(ask("later")).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{error}");
    assert!(
        runs(&served, "paying").await.is_empty(),
        "503 means that no run has started"
    );
    engine.set_full(false);
    let (status, _) = send(ask("else")).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "the key is bound");
    let all = futures_util::future::join_all((0..8).map(|_| send(ask("later")))).await;
    assert!(
        all.iter()
            .all(|(status, run)| *status == StatusCode::OK && run["run"] == all[0].1["run"]),
        "{all:?}"
    );
    assert_eq!(
        (
            runs(&served, "paying").await.len(),
            gate("later").paid.load(SeqCst)
        ),
        (1, 1)
    );
    served.stop().await.unwrap();
}

/// The commit of the first event has an unknown outcome. The run may have started, so no response
/// is a 503.
#[tokio::test]
async fn a_start_with_unknown_outcome_is_not_a_503_and_at_most_one_run() {
    for (topic, goes, key, expected) in [
        // The store reports soon that nothing was written, and the run starts with the same id.
        ("lost", false, false, StatusCode::OK),
        ("lost with a key", false, true, StatusCode::OK),
        ("away", true, false, StatusCode::ACCEPTED),
        ("away with a key", true, true, StatusCode::CONFLICT),
    ] {
        let engine = UnavailableEngine::default();
        let served = serve(&engine).await;
        gate(topic).open.close();
        let ask = || {
            if key {
                pays(&served, topic).header("idempotency-key", "k")
            } else {
                pays(&served, topic)
            }
        };
        engine.lose_next_commit(goes);
        let response = ask().send().await.unwrap();
        let retry = response.headers().contains_key("retry-after");
        let (status, answer) = read(response).await;
        assert_eq!(
            (status, retry),
            (expected, expected == StatusCode::CONFLICT),
            "{topic}: {answer}"
        );
        engine.set_away(false);
        if expected == StatusCode::ACCEPTED {
            // The client has the id and can ask for the run.
            let path = format!("/v1/runs/{}", answer["run"].as_str().unwrap());
            assert_eq!(send(served.get(&path)).await.0, StatusCode::NOT_FOUND);
        } else {
            let (status, again) = send(ask()).await;
            assert_eq!(status, StatusCode::OK, "{again}");
            assert!(!key || expected == StatusCode::CONFLICT || again["run"] == answer["run"]);
        }
        let started = match (expected, key) {
            (StatusCode::ACCEPTED, _) => 0,
            (_, true) => 1,
            (_, false) => 2,
        };
        assert_eq!(gate(topic).paid.load(SeqCst), started, "{topic}");
        served.stop().await.unwrap();
    }
}

/// The previous test for an A2A task whose message is repeated.
#[tokio::test]
async fn a_task_with_unknown_start_is_submitted_and_starts_later_and_once() {
    let engine = UnavailableEngine::default();
    let served = serve(&engine).await;
    gate("submitted").open.close();
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "submitted"}]});
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    let ask = || {
        send(
            served
                .post("/a2a/paying", &body)
                .header("a2a-version", "1.0"),
        )
    };
    engine.lose_next_commit(true);
    let (status, first) = ask().await;
    let task = &first["result"]["task"];
    assert_eq!(
        (status, &task["status"]["state"]),
        (StatusCode::OK, &json!("TASK_STATE_SUBMITTED")),
        "{first}"
    );
    engine.set_away(false);
    assert!(runs(&served, "paying").await.is_empty());
    for _ in 0..2 {
        let (_, again) = ask().await;
        let again = &again["result"]["task"];
        assert_eq!(
            (&again["id"], &again["status"]["state"]),
            (&task["id"], &json!("TASK_STATE_COMPLETED"))
        );
    }
    assert_eq!(
        (
            runs(&served, "paying").await.len(),
            gate("submitted").paid.load(SeqCst)
        ),
        (1, 1)
    );
    served.stop().await.unwrap();
}

/// Starts a run with a request, makes the store unavailable during the run, and returns the
/// response. The run continues afterwards.
async fn response_without_store(
    served: &Served,
    engine: &UnavailableEngine,
    topic: &str,
    request: RequestBuilder,
) -> reqwest::Response {
    let request = tokio::spawn(request.send());
    until(async || gate(topic).paid.load(SeqCst) == 1).await;
    engine.set_away(true);
    gate(topic).open.close();
    let response = request.await.unwrap().unwrap();
    read_response(served, engine, response).await
}

/// Reads a response before the store recovers, and waits for the end of all runs.
async fn read_response(
    served: &Served,
    engine: &UnavailableEngine,
    response: reqwest::Response,
) -> reqwest::Response {
    let (status, headers) = (response.status(), response.headers().clone());
    let body = response.text().await.unwrap();
    engine.set_away(false);
    until(async || {
        runs(served, "paying")
            .await
            .iter()
            .all(|run| run["status"] == "finished")
    })
    .await;
    let mut again = axum::http::Response::builder().status(status);
    *again.headers_mut().unwrap() = headers;
    again.body(body).unwrap().into()
}

#[tokio::test]
async fn a_store_that_fails_after_the_start_fails_no_request() {
    let engine = UnavailableEngine::default();
    let served = serve(&engine).await;
    api_without_store(&served, &engine).await;
    stream_without_store(&served, &engine).await;
    a2a_without_store(&served, &engine).await;
    ag_ui_without_store(&served, &engine).await;
    adk_api_without_store(&served, &engine).await;
    assert_eq!(
        runs(&served, "paying").await.len(),
        6,
        "each request started one run"
    );
    served.stop().await.unwrap();
}

async fn api_without_store(served: &Served, engine: &UnavailableEngine) {
    let response = response_without_store(served, engine, "json", pays(served, "json")).await;
    let location = response.headers()["location"].to_str().unwrap().to_owned();
    let (status, run) = read(response).await;
    assert_eq!(
        (status, &run["status"]),
        (StatusCode::ACCEPTED, &json!("running")),
        "{run}"
    );
    assert_eq!(
        location,
        format!("/v1/runs/{}", run["run"].as_str().unwrap())
    );
    let (_, ended) = send(served.get(&location)).await;
    assert_eq!(
        (&ended["status"], &ended["output"]),
        (&json!("finished"), &json!("JSON"))
    );
}

async fn stream_without_store(served: &Served, engine: &UnavailableEngine) {
    let request = pays(served, "stream").header("accept", "text/event-stream");
    let response = response_without_store(served, engine, "stream", request).await;
    assert_eq!(response.status(), StatusCode::OK);
    let location = response.headers()["location"].to_str().unwrap().to_owned();
    let events = sse(&response.text().await.unwrap());
    assert!(
        events.iter().all(|(event, ..)| event.is_empty()),
        "neither an end nor an error: {events:?}"
    );
    let cursor = events
        .iter()
        .rfind(|(_, id, _)| !id.is_empty())
        .unwrap()
        .1
        .clone();
    let rest = served
        .get(&format!("{location}/events"))
        .header("accept", "text/event-stream");
    let rest = rest.header("last-event-id", cursor).send().await.unwrap();
    let rest = sse(&rest.text().await.unwrap());
    assert_eq!(rest.last().unwrap().2["output"], "STREAM", "{rest:?}");
}

async fn a2a_without_store(served: &Served, engine: &UnavailableEngine) {
    for (topic, method) in [("task", "SendMessage"), ("tasks", "SendStreamingMessage")] {
        let message = json!({"messageId": topic, "role": "ROLE_USER", "parts": [{"text": topic}]});
        let body =
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}});
        let send_it = || {
            served
                .post("/a2a/paying", &body)
                .header("a2a-version", "1.0")
        };
        let response = response_without_store(served, engine, topic, send_it()).await;
        assert_eq!(response.status(), StatusCode::OK);
        let text = response.text().await.unwrap();
        assert!(
            text.contains("TASK_STATE_WORKING") && !text.contains("\"error\""),
            "{text}"
        );
        assert!(!text.contains("TASK_STATE_FAILED"), "{text}");
        // A repeated message returns the same task.
        let text = send_it().send().await.unwrap().text().await.unwrap();
        assert!(text.contains("TASK_STATE_COMPLETED"), "{text}");
    }
}

async fn ag_ui_without_store(served: &Served, engine: &UnavailableEngine) {
    let input = json!({
        "threadId": "t",
        "runId": "r",
        "state": {},
        "messages": [{"id": "m", "role": "user", "content": "ag-ui"}],
        "tools": [],
        "context": [],
        "forwardedProps": {},
    });
    let request = served.post("/ag-ui/paying", &input);
    let response = response_without_store(served, engine, "ag-ui", request).await;
    assert_eq!(response.status(), StatusCode::OK);
    let events = sse(&response.text().await.unwrap());
    let last = &events.last().unwrap().2;
    assert_eq!(
        (&last["type"], &last["code"]),
        (&json!("RUN_ERROR"), &json!("running")),
        "{events:?}"
    );
}

async fn adk_api_without_store(served: &Served, engine: &UnavailableEngine) {
    let (status, _) = send(served.post("/apps/paying/users/user/sessions/s", &json!({}))).await;
    assert_eq!(status, StatusCode::OK);
    let message = json!({"role": "user", "parts": [{"text": "adk"}]});
    let body =
        json!({"appName": "paying", "userId": "user", "sessionId": "s", "newMessage": message});
    let request = served.post("/run", &body);
    let (status, events) = read(response_without_store(served, engine, "adk", request).await).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{events}");
    assert!(events.is_array());
}

/// No run starts while the store is unavailable, and the response reports that.
#[tokio::test]
async fn an_unavailable_store_before_the_start_is_a_503() {
    let engine = UnavailableEngine::default();
    let served = serve(&engine).await;
    engine.set_away(true);
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "none"}]});
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    for request in [
        pays(&served, "none"),
        pays(&served, "none").header("idempotency-key", "k"),
        pays(&served, "none").header("accept", "text/event-stream"),
        served
            .post("/a2a/paying", &body)
            .header("a2a-version", "1.0"),
    ] {
        assert_eq!(
            request.send().await.unwrap().status(),
            StatusCode::SERVICE_UNAVAILABLE
        );
    }
    engine.set_away(false);
    assert!(runs(&served, "paying").await.is_empty());
    assert_eq!(gate("none").paid.load(SeqCst), 0);
    served.stop().await.unwrap();
}

/// A 503 does not report the run of an earlier request with the key. A repetition returns that run.
#[tokio::test]
async fn a_request_repeated_without_a_store_returns_its_run_later() {
    let engine = UnavailableEngine::default();
    let served = serve(&engine).await;
    let ask = || {
        send(
            pays(&served, "again")
                .header("idempotency-key", "k")
                .header("prefer", "respond-async"),
        )
    };
    let (status, first) = ask().await;
    assert_eq!(status, StatusCode::ACCEPTED, "{first}");
    engine.set_away(true);
    let (status, refused) = ask().await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{refused}");
    engine.set_away(false);
    let (status, again) = ask().await;
    assert_eq!(
        (status, &again["run"]),
        (StatusCode::ACCEPTED, &first["run"])
    );
    until(async || gate("again").paid.load(SeqCst) == 1).await;
    assert_eq!(runs(&served, "paying").await.len(), 1);
    served.stop().await.unwrap();
}
