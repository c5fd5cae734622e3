//! The API over real connections.

use crate::support::{Served, no_grace, send, sse};
use adk::server::{Caller, Refusal};
use adk::sqlite::SqliteStore;
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[tokio::test]
async fn a_run_has_json_input_and_output() {
    let served = Served::in_memory().await;
    let (status, run) =
        send(served.post("/v1/shouting/runs", &json!({"topic": "cats", "times": 2}))).await;
    assert_eq!(
        (status, &run["output"]),
        (StatusCode::OK, &json!("CATS CATS")),
        "{run}"
    );
    assert_eq!(
        (&run["status"], &run["workflow"]),
        (&json!("finished"), &json!("shouting"))
    );
    let id = run["run"].as_str().unwrap();
    let (status, again) = send(served.get(&format!("/v1/runs/{id}"))).await;
    assert_eq!(
        (status, &again["output"]),
        (StatusCode::OK, &run["output"]),
        "{again}"
    );
    let (_, events) = send(served.get(&format!("/v1/runs/{id}/events"))).await;
    let authors: Vec<_> = events["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| &event["author"])
        .collect();
    assert_eq!(authors[0], "user");
    assert!(
        authors.iter().any(|author| *author == "shout"),
        "{authors:?}"
    );
    let (_, all) = send(served.get("/v1/runs?status=finished&workflow=shouting")).await;
    assert_eq!(all["runs"].as_array().unwrap().len(), 1, "{all}");
    let (status, failed) = send(served.post("/v1/failing/runs", &json!({"topic": "dogs"}))).await;
    assert_eq!(status, StatusCode::BAD_GATEWAY);
    assert_eq!(failed["error"]["path"], "failing/fails", "{failed}");
    assert_eq!(failed["error"]["help"], "ask for another");
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_message_may_accompany_the_input() {
    let served = Served::in_memory().await;
    let input = json!({"topic": "cats", "times": 2});
    let with = |message: Value| {
        let mut body = input.clone();
        body["message"] = message;
        body
    };
    let messages = async |body: &Value| {
        let (status, run) = send(served.post("/v1/shouting/runs", body)).await;
        assert_eq!(
            (status, &run["output"]),
            (StatusCode::OK, &json!("CATS CATS")),
            "{run}"
        );
        let (_, events) =
            send(served.get(&format!("/v1/runs/{}/events", run["run"].as_str().unwrap()))).await;
        events["events"][0]["content"]["parts"].clone()
    };
    assert_eq!(
        messages(&with(json!("Be loud."))).await,
        json!([{"text": "Be loud."}])
    );
    // An input alone is not a message.
    assert_eq!(messages(&input).await, json!([]));
    assert_eq!(messages(&with(json!(null))).await, json!([]));
    let (status, error) = send(served.post("/v1/shouting/runs", &with(json!(7)))).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(error["error"]["fields"][0]["field"], "message", "{error}");
    let keyed = |body: &Value| {
        send(
            served
                .post("/v1/shouting/runs", body)
                .header("idempotency-key", "k"),
        )
    };
    assert_eq!(keyed(&with(json!("one"))).await.0, StatusCode::OK);
    assert_eq!(
        keyed(&with(json!("two"))).await.0,
        StatusCode::UNPROCESSABLE_ENTITY,
        "another request"
    );
    let (_, api) = send(served.get("/openapi.json")).await;
    let body = "/paths/~1v1~1shouting~1runs/post/requestBody/content/application~1json/schema";
    let body = api.pointer(body).unwrap();
    assert_eq!(
        body["properties"]["message"]["type"],
        json!(["string", "null"]),
        "{body}"
    );
    assert_eq!(body["required"], json!(["topic"]), "{body}");
    let (_, all) = send(served.get("/v1/workflows")).await;
    let shouting = all["workflows"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["name"] == "shouting")
        .unwrap();
    assert_eq!(&shouting["body"], body);
    assert!(shouting["input"]["properties"]["message"].is_null());
    served.stop().await.unwrap();
}

#[tokio::test]
async fn invalid_requests_are_refused_before_a_run_starts() {
    let served = Served::in_memory().await;
    let run = |body: Value| send(served.post("/v1/shouting/runs", &body));
    let (status, error) = run(json!({"topic": 7, "times": "two", "more": 1})).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let fields = error["error"]["fields"].as_array().unwrap();
    let named: BTreeSet<_> = fields
        .iter()
        .map(|fault| fault["field"].as_str().unwrap())
        .collect();
    assert_eq!(named, ["more", "times", "topic"].into(), "{error}");
    for (body, field) in [
        (json!({}), "topic"),
        (json!(null), "topic"),
        (json!([1]), ""),
    ] {
        let (status, error) = run(body).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(
            error["error"]["fields"]
                .as_array()
                .unwrap()
                .iter()
                .any(|one| one["field"] == field),
            "{error}"
        );
    }
    let raw = |body: String| served.post("/v1/shouting/runs", &json!(null)).body(body);
    let deep = "[".repeat(1000) + &"]".repeat(1000);
    for (body, status) in [
        ("{".to_owned(), StatusCode::BAD_REQUEST),
        (deep, StatusCode::BAD_REQUEST),
        (
            "\"".to_owned() + &"x".repeat(2 << 20) + "\"",
            StatusCode::PAYLOAD_TOO_LARGE,
        ),
    ] {
        let (got, error) = send(raw(body)).await;
        assert_eq!(got, status, "{error}");
        assert!(
            error["error"]["message"].is_string() && error["error"]["help"].is_string(),
            "{error}"
        );
    }
    for path in [
        "/v1/Nothing/runs",
        "/nowhere",
        "/v1/runs/e-1",
        "/v1/waiting/x",
    ] {
        let (status, error) = send(served.post(path, &json!({"topic": "x"}))).await;
        assert!(
            status == StatusCode::NOT_FOUND || status == StatusCode::METHOD_NOT_ALLOWED,
            "{path} {error}"
        );
    }
    let (_, all) = send(served.get("/v1/runs")).await;
    assert_eq!(all["runs"], json!([]), "no run was started");
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_stream_continues_after_its_cursor() {
    let served = Served::in_memory().await;
    let request = served.post("/v1/approval/runs?until=pause", &json!({"topic": "cats"}));
    let response = request
        .header("accept", "text/event-stream")
        .send()
        .await
        .unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let events = sse(&response.text().await.unwrap());
    // Start and end events of steps are not stored, so they have no id.
    let last = events.iter().rfind(|event| !event.1.is_empty()).unwrap();
    let end = &events[events.len() - 1];
    assert_eq!(
        (&*end.0, &end.2["status"]),
        ("end", &json!("paused")),
        "{events:?}"
    );
    let wait = &end.2["waiting"][0];
    assert_eq!(wait["question"], "May this be published? CATS CATS");
    assert!(wait["schema"].is_object());
    let id = end.2["run"].as_str().unwrap();
    let path = format!("/v1/waiting/{}", wait["id"].as_str().unwrap());
    let (status, error) = send(served.post(&path, &json!({"Revise": {}}))).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{error}");
    let (status, run) = send(served.post(&path, &json!({"Revise": {"note": "shorter"}}))).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{run}");
    let (status, error) = send(served.post(&path, &json!("Publish"))).await;
    assert!(
        matches!(status, StatusCode::CONFLICT | StatusCode::NOT_FOUND),
        "{error}"
    );
    let rest = served
        .get(&format!("/v1/runs/{id}/events"))
        .header("accept", "text/event-stream");
    let rest = rest.header("last-event-id", &last.1).send().await.unwrap();
    let rest = sse(&rest.text().await.unwrap());
    let end = &rest[rest.len() - 1];
    assert_eq!(
        (&*end.0, &end.2["output"]),
        ("end", &json!("CATS CATS (shorter)")),
        "{rest:?}"
    );
    let seen: BTreeSet<_> = events
        .iter()
        .map(|event| &event.1)
        .filter(|id| !id.is_empty())
        .collect();
    let rest: BTreeSet<_> = rest
        .iter()
        .map(|event| &event.1)
        .filter(|id| !id.is_empty())
        .collect();
    assert!(rest.is_disjoint(&seen), "no event is repeated");
    let (_, all) = send(served.get(&format!("/v1/runs/{id}/events"))).await;
    let count = all["events"].as_array().unwrap().len();
    assert_eq!(count, seen.len() + rest.len(), "no event is lost");
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_repeated_request_returns_the_same_run() {
    let served = Served::in_memory().await;
    let ask = |key: &str, path: &str| {
        let request = served.post(path, &json!({"topic": "cats"}));
        send(request.header("idempotency-key", key))
    };
    let same = futures_util::future::join_all((0..8).map(|_| ask("a", "/v1/shouting/runs"))).await;
    let runs: BTreeSet<_> = same.iter().map(|(_, run)| run["run"].to_string()).collect();
    assert_eq!(runs.len(), 1, "{same:?}");
    assert!(
        same.iter()
            .all(|(status, run)| *status == StatusCode::OK && run["output"] == "CATS"),
        "{same:?}"
    );
    let (_, other) = ask("b", "/v1/shouting/runs?session=s").await;
    let (_, again) = ask("b", "/v1/shouting/runs?session=s").await;
    assert_eq!(
        (&other["run"], &other["session"]),
        (&again["run"], &json!("s"))
    );
    assert!(!runs.contains(&other["run"].to_string()));
    let (_, all) = send(served.get("/v1/runs")).await;
    assert_eq!(all["runs"].as_array().unwrap().len(), 2);
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_run_outlives_its_connection_and_its_process() {
    let folder = std::env::temp_dir().join(format!("adk-server-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("runs.db");
    let open = async || {
        let store = SqliteStore::open(&file).await.unwrap();
        let runner = adk::Runner::builder().store(store).build().unwrap();
        Served::new(&runner, |server| server.limits(no_grace())).await
    };
    let served = open().await;
    let request = served
        .post("/v1/hanging/runs", &json!({"topic": "x"}))
        .header("prefer", "respond-async");
    let (status, hanging) = send(request).await;
    assert_eq!(
        (status, &hanging["status"]),
        (StatusCode::ACCEPTED, &json!("running"))
    );
    let request = served.post("/v1/approval/runs", &json!({"topic": "x"}));
    let (status, approval) = send(request).await;
    assert_eq!(
        (status, &approval["status"]),
        (StatusCode::ACCEPTED, &json!("paused"))
    );
    served.stop().await.unwrap();

    let served = open().await;
    let run = format!("/v1/runs/{}", hanging["run"].as_str().unwrap());
    let (_, still) = send(served.get(&run)).await;
    assert_eq!(
        still["status"], "running",
        "the next process drives the run: {still}"
    );
    // A follower of the resumed run also receives the events that are not stored.
    let mut followed = served
        .get(&format!("{run}/events"))
        .header("accept", "text/event-stream")
        .send()
        .await
        .unwrap();
    let mut text = String::new();
    while !text.contains("lifecycle") {
        text.push_str(
            std::str::from_utf8(&followed.chunk().await.unwrap().expect("the run continues"))
                .unwrap(),
        );
    }
    let (status, cancelled) = send(served.delete(&run)).await;
    assert_eq!(
        (status, &cancelled["status"]),
        (StatusCode::OK, &json!("cancelled"))
    );
    let (_, waiting) = send(served.get("/v1/waiting")).await;
    let wait = waiting["waiting"][0]["id"].as_str().unwrap();
    let (status, _) = send(served.post(&format!("/v1/waiting/{wait}"), &json!("Publish"))).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let run = format!("/v1/runs/{}/events", approval["run"].as_str().unwrap());
    let rest = served
        .get(&run)
        .header("accept", "text/event-stream")
        .send()
        .await
        .unwrap();
    let rest = sse(&rest.text().await.unwrap());
    assert_eq!(rest[rest.len() - 1].2["output"], "X X", "{rest:?}");
    served.stop().await.unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Reads the user from a header.
async fn by_header(request: axum::http::request::Parts) -> Result<Caller, Refusal> {
    match request
        .headers
        .get("x-user")
        .and_then(|user| user.to_str().ok())
    {
        Some(user) => Ok(Caller::user(user)),
        None => Err(Refusal::unauthorized("the header `x-user` is missing")),
    }
}

#[tokio::test]
async fn users_see_only_their_own_data() {
    let runner = adk::Runner::builder().build().unwrap();
    let served = Served::new(&runner, |server| server.authorize(by_header)).await;
    let (status, _) = send(served.get("/v1/runs")).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    let ann = served
        .post("/v1/approval/runs?session=s", &json!({"topic": "x"}))
        .header("x-user", "ann");
    let (_, run) = send(ann).await;
    let (id, wait) = (
        run["run"].as_str().unwrap(),
        run["waiting"][0]["id"].as_str().unwrap(),
    );
    let bob =
        |request: reqwest::RequestBuilder| async { send(request.header("x-user", "bob")).await };
    for request in [
        served.get(&format!("/v1/runs/{id}")),
        served.delete(&format!("/v1/runs/{id}")),
        served.get(&format!("/v1/runs/{id}/events")),
        served.post(&format!("/v1/waiting/{wait}"), &json!("Publish")),
        served.post("/v1/approval/runs?user=ann", &json!({"topic": "x"})),
        served.get("/v1/runs?user=ann"),
        served.get("/v1/waiting?user=ann"),
    ] {
        let (status, answer) = bob(request).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{answer}");
        assert!(!answer.to_string().contains('X'), "{answer}");
    }
    for path in ["/v1/runs", "/v1/waiting", "/v1/runs?session=s"] {
        let (_, answer) = bob(served.get(path)).await;
        assert!(
            answer["runs"]
                .as_array()
                .or(answer["waiting"].as_array())
                .unwrap()
                .is_empty(),
            "{answer}"
        );
    }
    let (_, same) = bob(served.post("/v1/approval/runs?session=s", &json!({"topic": "y"}))).await;
    assert_ne!(
        same["run"], run["run"],
        "bob's session with this id is another session"
    );
    let (status, mine) = send(
        served
            .get(&format!("/v1/runs/{id}"))
            .header("x-user", "ann"),
    )
    .await;
    assert_eq!(
        (status, &mine["status"]),
        (StatusCode::OK, &json!("paused"))
    );
    served.stop().await.unwrap();
}

/// Emits the numbers.
#[adk::agent]
async fn tick(cx: &mut adk::Context, most: u32) -> adk::Result<()> {
    for at in 0..most {
        cx.emit(adk::Event::new().with_text(at.to_string())).await?;
    }
    Ok(())
}

adk::workflow! {
    /// Counts up to a number.
    pub Ticking(most: u32) { tick }
}

/// Unread events are neither kept in memory nor lost: the run continues, and the reader receives
/// each event once.
#[tokio::test]
async fn a_slow_reader_slows_no_run_and_misses_no_event() {
    let runner = adk::Runner::builder().build().unwrap();
    let served = Served::new(&runner, |server| server.workflow(Ticking::default())).await;
    let request = served.post("/v1/ticking/runs", &json!({"most": 4_000}));
    let mut response = request
        .header("accept", "text/event-stream")
        .send()
        .await
        .unwrap();
    let first = response.chunk().await.unwrap().unwrap();
    // The run ends although its events are not read.
    loop {
        let (_, runs) = send(served.get("/v1/runs?workflow=ticking")).await;
        if runs["runs"][0]["status"] == "finished" {
            break;
        }
        tokio::task::yield_now().await;
    }
    let mut text = String::from_utf8(first.to_vec()).unwrap();
    text.push_str(&response.text().await.unwrap());
    let events = sse(&text);
    let counted: Vec<_> = events
        .iter()
        .filter_map(|event| event.2["content"]["parts"][0]["text"].as_str())
        .collect();
    assert!(
        counted
            .iter()
            .map(|text| (*text).to_owned())
            .eq((0..4_000).map(|at: u32| at.to_string()))
    );
    assert_eq!(events.last().unwrap().2["status"], "finished");
    served.stop().await.unwrap();
}

#[tokio::test]
async fn runs_and_streams_over_the_limit_are_refused() {
    let runner = adk::Runner::builder().build().unwrap();
    let mut limits = no_grace();
    (limits.runs_per_user, limits.streams) = (1, 0);
    let served = Served::new(&runner, |server| server.limits(limits)).await;
    let shouting = || served.post("/v1/shouting/runs", &json!({"topic": "cats"}));
    let (status, error) = send(shouting().header("accept", "text/event-stream")).await;
    assert_eq!(
        (status, &error["error"]["kind"]),
        (StatusCode::SERVICE_UNAVAILABLE, &json!("too_many_streams"))
    );
    let hangs = served
        .post("/v1/hanging/runs", &json!({"topic": "x"}))
        .header("prefer", "respond-async");
    let (_, hanging) = send(hangs).await;
    let (status, error) = send(shouting().header("idempotency-key", "k")).await;
    assert_eq!(
        (status, &error["error"]["kind"]),
        (StatusCode::TOO_MANY_REQUESTS, &json!("too_many_runs"))
    );
    let (_, all) = send(served.get("/v1/runs")).await;
    assert_eq!(all["runs"].as_array().unwrap().len(), 1, "{all}");

    // The refused request has not used the key, so a repetition starts the run.
    send(served.delete(&format!("/v1/runs/{}", hanging["run"].as_str().unwrap()))).await;
    let run = loop {
        let (status, run) = send(shouting().header("idempotency-key", "k")).await;
        // The cancelled run may take a moment to end.
        if status != StatusCode::TOO_MANY_REQUESTS {
            break run;
        }
    };
    assert_eq!(run["output"], "CATS", "{run}");
    served.stop().await.unwrap();
}

/// Starts a run that occupies a session until it is cancelled. Returns its path.
async fn occupy_session(served: &Served, session: &str) -> String {
    let held = served.post(
        &format!("/v1/hanging/runs?session={session}"),
        &json!({"topic": "x"}),
    );
    let (status, run) = send(held.header("prefer", "respond-async")).await;
    assert_eq!(
        (status, &run["status"]),
        (StatusCode::ACCEPTED, &json!("running"))
    );
    format!("/v1/runs/{}", run["run"].as_str().unwrap())
}

#[tokio::test]
async fn a_request_for_a_queued_run_is_answered_at_once() {
    let served = Served::in_memory().await;
    let holder = occupy_session(&served, "s").await;
    let begin = |topic: &str| served.post("/v1/shouting/runs?session=s", &json!({"topic": topic}));
    let streamed = async |topic: &str| {
        let stream = begin(topic)
            .header("accept", "text/event-stream")
            .send()
            .await
            .unwrap();
        assert_eq!(
            stream.status(),
            StatusCode::OK,
            "the headers arrive while the run is queued"
        );
        stream
    };
    let (status, first) = send(begin("a").header("prefer", "respond-async")).await;
    assert_eq!(
        (status, &first["status"]),
        (StatusCode::ACCEPTED, &json!("queued")),
        "{first}"
    );
    let (second, third) = (streamed("b").await, streamed("c").await);
    let (_, all) = send(served.get("/v1/runs?status=unfinished&session=s")).await;
    let all = all["runs"].as_array().unwrap();
    let listed: Vec<_> = all
        .iter()
        .map(|run| run["status"].as_str().unwrap())
        .collect();
    assert_eq!(
        listed,
        ["queued", "queued", "queued", "running"],
        "the newest first"
    );
    let path = |run: &Value| format!("/v1/runs/{}", run["run"].as_str().unwrap());
    let (status, waits) = send(served.get(&path(&first))).await;
    assert_eq!(
        (status, &waits["status"]),
        (StatusCode::OK, &json!("queued"))
    );
    // Cancel a run in the middle of the queue: its follower sees that at once.
    let (status, cancelled) = send(served.delete(&path(&all[1]))).await;
    assert_eq!(
        (status, &cancelled["status"]),
        (StatusCode::OK, &json!("cancelled")),
        "{cancelled}"
    );
    let events = sse(&second.text().await.unwrap());
    assert_eq!(
        (events.len(), &events[0].2["status"]),
        (1, &json!("cancelled")),
        "{events:?}"
    );
    let (_, none) = send(served.get(&format!("{}/events", path(&all[1])))).await;
    assert_eq!(none["events"], json!([]));
    // The remaining runs start in order when the session is free.
    send(served.delete(&holder)).await;
    let events = sse(&third.text().await.unwrap());
    let end = &events[events.len() - 1];
    assert_eq!(
        (&*end.0, &end.2["output"]),
        ("end", &json!("C")),
        "{events:?}"
    );
    let (_, ended) = send(served.get(&path(&first))).await;
    assert_eq!(
        (&ended["status"], &ended["output"]),
        (&json!("finished"), &json!("A")),
        "{ended}"
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_queued_run_outlives_its_process() {
    let folder = std::env::temp_dir().join(format!("adk-server-queue-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("runs.db");
    let open = async || {
        let store = SqliteStore::open(&file).await.unwrap();
        let runner = adk::Runner::builder()
            .session_store(store.clone())
            .engine(store)
            .build()
            .unwrap();
        Served::new(&runner, |server| server.limits(no_grace())).await
    };
    let served = open().await;
    let holder = occupy_session(&served, "s").await;
    let begin = served.post("/v1/shouting/runs?session=s", &json!({"topic": "a"}));
    let (_, queued) = send(begin.header("prefer", "respond-async")).await;
    assert_eq!(queued["status"], "queued", "{queued}");
    served.stop().await.unwrap();

    let served = open().await;
    let path = format!("/v1/runs/{}", queued["run"].as_str().unwrap());
    let (_, still) = send(served.get(&path)).await;
    assert_eq!(
        still["status"], "queued",
        "the first run occupies the session: {still}"
    );
    let events = served
        .get(&format!("{path}/events"))
        .header("accept", "text/event-stream");
    let events = events.send().await.unwrap();
    send(served.delete(&holder)).await;
    let events = sse(&events.text().await.unwrap());
    assert_eq!(events[events.len() - 1].2["output"], "A", "{events:?}");
    served.stop().await.unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}
