//! AG-UI over real connections, and with its official client.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "../../../adk-server/tests/support/mod.rs"]
mod support;

use crate::support::{Served, no_grace, send, sse};
use adk::prelude::*;
use adk::server::{Caller, Refusal};
use adk::testing::{Reply, ScriptedModel};
use reqwest::StatusCode;
use serde_json::{Value, json};

/// Deletes a file.
#[adk::tool(confirm)]
fn delete(path: String) -> String {
    format!("{path} is gone")
}

/// Counts words.
#[adk::tool]
fn count(text: String) -> usize {
    text.split_whitespace().count()
}

workflow! {
    /// Writes, and counts what it has written.
    pub Writing(topic: String, tone: String = "plain") -> draft: String {
        state user:motto: String;
        state app:limit: Option<u32>;

        /// Writes.
        agent writer -> draft: String {
            instruction: "Write about {topic}, {tone}, as {user:motto}.",
            tools: [count],
        }
        writer
    }
}

workflow! {
    /// Writes in rounds, and asks two critics.
    pub Refining(topic: String) -> draft: String {
        /// Writes.
        agent writer -> draft: String { instruction: "Write about {topic}." }
        /// Looks at the style.
        agent style -> style_notes: String { instruction: "Is {draft} well written?" }
        /// Looks at the facts.
        agent facts -> fact_notes: String { instruction: "Is {draft} true?" }

        refinement: loop(max = 2) <
            writer;
            critics: parallel < style; facts >
        >
    }
}

workflow! {
    /// Deletes files.
    pub Cleaning(wish: String) -> done: String {
        /// Deletes.
        agent cleaner -> done: String { instruction: "Do this: {wish}", tools: [delete] }
        cleaner
    }
}

workflow! {
    /// Hands over and back in nested loops, with a branch that is cancelled and a branch that
    /// fails.
    pub Mixing(topic: String) -> draft: String {
        /// Sorts.
        agent triage -> draft: String {
            instruction: "Sort {topic}.",
            transfer: [billing],
            max_turns: 9,
        }
        /// Knows money.
        agent billing -> draft: String { instruction: "Bill {topic}.", max_turns: 9 }
        /// Looks.
        agent critic { instruction: "Look at {draft}." }

        outer: loop(max = 2) <
            triage;
            inner: loop(max = 2) < parallel(first) < critic; support::hangs > >
        >;
        support::Shouting as loudly;
        parallel(on_error = skip) < critic as again; support::fails >
    }
}

workflow! {
    /// Fails while another branch streams a reply.
    pub Breaking(topic: String) -> draft: String {
        /// Writes.
        agent writer -> draft: String { instruction: "Write about {topic}." }

        parallel < writer; support::fails >
    }
}

/// Starts a server with all workflows and a scripted model.
async fn served(model: ScriptedModel) -> Served {
    let runner = adk::Runner::builder().model(model).build().unwrap();
    with(&runner, |server| server).await
}

async fn with(
    runner: &adk::Runner,
    more: impl FnOnce(
        adk::server::Server<adk::DefaultProvider, adk::NoResources>,
    ) -> adk::server::Server<adk::DefaultProvider, adk::NoResources>,
) -> Served {
    Served::new(runner, |server| {
        let server = server
            .workflow(Writing::default())
            .workflow(Refining::default());
        let server = server
            .workflow(Cleaning::default())
            .workflow(Mixing::default());
        more(server.workflow(Breaking::default()))
    })
    .await
}

fn message(thread: &str, text: &str) -> Value {
    let messages = json!([{"id": "m1", "role": "user", "content": text}]);
    json!({
        "threadId": thread, "runId": "r1", "messages": messages, "state": {}, "tools": [], "context": [],
        "forwardedProps": {},
    })
}

/// Sends a request and returns its events.
async fn run(served: &Served, path: &str, body: &Value) -> Vec<Value> {
    let response = served.post(path, body).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    sse(&response.text().await.unwrap())
        .into_iter()
        .map(|(_, _, data)| data)
        .collect()
}

/// Returns a field of all events of a type.
fn fields<'e>(events: &'e [Value], kind: &str, field: &str) -> Vec<&'e str> {
    let of_kind = events.iter().filter(|event| event["type"] == kind);
    of_kind
        .map(|event| event[field].as_str().unwrap())
        .collect()
}

fn outcome(events: &[Value]) -> &Value {
    &events.last().unwrap()["outcome"]
}

/// Returns the error code of a failed run.
fn code(events: &[Value]) -> &str {
    let last = events.last().unwrap();
    assert_eq!(
        (&events[0]["type"], &last["type"]),
        (&json!("RUN_STARTED"), &json!("RUN_ERROR")),
        "{last}"
    );
    last["code"].as_str().unwrap()
}

fn resume(thread: &str, entries: Value) -> Value {
    json!({"threadId": thread, "runId": "r2", "messages": [], "resume": entries})
}

/// Waits until the run of a thread has ended or waits, and returns its status.
async fn final_status(served: &Served, thread: &str) -> Value {
    let (_, runs) = send(served.get(&format!("/v1/runs?session={thread}"))).await;
    let path = format!(
        "/v1/runs/{}/events",
        runs["runs"][0]["run"].as_str().unwrap()
    );
    let rest = served
        .get(&path)
        .header("accept", "text/event-stream")
        .send()
        .await
        .unwrap();
    sse(&rest.text().await.unwrap()).pop().unwrap().2["status"].clone()
}

#[tokio::test]
async fn steps_have_rounds_and_text_arrives_in_pieces() {
    let model = ScriptedModel::new()
        .on("writer")
        .reply(
            Reply::new()
                .text("One cat.")
                .pieces(["One", " cat."])
                .usage(3, 4),
        )
        .reply(Reply::new().thought("Hm.").text("Two cats.").usage(5, 6))
        .on("style")
        .text("Fine.")
        .text("Good.")
        .on("facts")
        .text("True.")
        .text("Yes.");
    let file = std::env::temp_dir().join(format!("adk-ag-ui-steps-{}.db", std::process::id()));
    let store = adk::sqlite::SqliteStore::open(&file).await.unwrap();
    let runner = adk::Runner::builder()
        .model(model)
        .store(store)
        .build()
        .unwrap();
    let served = with(&runner, |server| server).await;
    let events = run(&served, "/ag-ui/refining", &message("t", "cats")).await;
    let started = fields(&events, "STEP_STARTED", "stepName");
    let round = |round: u32| {
        ["writer", "critics", "critics/style", "critics/facts"]
            .map(|step| format!("refining/refinement#{round}/{step}"))
    };
    let all = ["refining".to_owned(), "refining/refinement".to_owned()]
        .into_iter()
        .chain(round(1))
        .chain(round(2));
    assert_eq!(started, all.collect::<Vec<_>>());
    let deltas = fields(&events, "TEXT_MESSAGE_CONTENT", "delta");
    assert_eq!(
        deltas,
        [
            "One",
            " cat.",
            "Fine.",
            "True.",
            "Two cats.",
            "Good.",
            "Yes."
        ]
    );
    assert_eq!(
        fields(&events, "REASONING_MESSAGE_CONTENT", "delta"),
        ["Hm."]
    );
    let end = events.last().unwrap();
    assert_eq!(
        (&end["result"], &end["outcome"]["type"]),
        (&json!("Two cats."), &json!("success"))
    );
    assert_eq!(
        (
            &end["usage"][0]["inputTokens"],
            &end["usage"][0]["totalTokens"]
        ),
        (&json!(8), &json!(18))
    );
    let id = events[0]["metadata"]["adk"]["run"].as_str().unwrap();
    let (_, known) = send(served.get(&format!("/v1/runs/{id}"))).await;
    assert_eq!(
        (&known["session"], &known["output"]),
        (&json!("t"), &json!("Two cats."))
    );
    served.stop().await.unwrap();
    std::fs::remove_file(&file).unwrap();
}

#[tokio::test]
async fn invalid_requests_are_refused_and_other_errors_are_run_errors() {
    let served = served(ScriptedModel::new().text("Fine.")).await;
    let post = |path: &'static str, body: Value| {
        let request = served.post(path, &body);
        async move { send(request).await }
    };
    for (path, body, status) in [
        ("/ag-ui/nothing", message("t", "x"), StatusCode::NOT_FOUND),
        (
            "/ag-ui/shouting",
            json!({"runId": "r", "messages": []}),
            StatusCode::BAD_REQUEST,
        ),
        (
            "/ag-ui/shouting",
            json!({"threadId": "t", "runId": "", "messages": []}),
            StatusCode::BAD_REQUEST,
        ),
        ("/ag-ui/shouting", json!([]), StatusCode::BAD_REQUEST),
        (
            "/ag-ui/shouting?user=",
            json!({"threadId": "t", "runId": "r", "messages": 7}),
            StatusCode::BAD_REQUEST,
        ),
    ] {
        let (got, error) = post(path, body).await;
        assert_eq!(got, status, "{error}");
        assert!(
            error["error"]["message"].is_string() && error["error"]["help"].is_string(),
            "{error}"
        );
    }
    let content = |content: Value| {
        let mut body = message("t", "");
        body["messages"][0]["content"] = content;
        body
    };
    let approval = "/ag-ui/approval";
    for (path, body, expected) in [
        ("/ag-ui/failing", message("t", "x"), "agent"),
        ("/ag-ui/writing", message("t", "x"), "key_missing"),
        (
            "/ag-ui/shouting",
            json!({"threadId": "t", "runId": "r", "messages": []}),
            "input_invalid",
        ),
        ("/ag-ui/shouting", message("", "x"), "id_invalid"),
        ("/ag-ui/shouting", content(json!(7)), "input_invalid"),
        (
            "/ag-ui/shouting",
            content(json!([{"type": "hologram"}])),
            "input_invalid",
        ),
        (
            "/ag-ui/shouting",
            content(
                json!([{"type": "image", "source": {"type": "data", "value": "%", "mimeType": "image/png"}}]),
            ),
            "input_invalid",
        ),
        (
            approval,
            resume("t", json!([{"interruptId": "x", "status": "resolved"}])),
            "not_found",
        ),
    ] {
        let events = run(&served, path, &body).await;
        assert_eq!(code(&events), expected, "{path} {body}");
        assert!(events.last().unwrap()["message"].as_str().unwrap().len() > 10);
    }
    served.stop().await.unwrap();
    let mut none = no_grace();
    none.runs_per_user = 0;
    let served = with(&adk::Runner::builder().build().unwrap(), |server| {
        server.limits(none)
    })
    .await;
    let (status, error) = send(served.post("/ag-ui/shouting", &message("t", "x"))).await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "{error}");
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_waiting_thread_accepts_only_answers() {
    let served = served(ScriptedModel::new()).await;
    let path = "/ag-ui/approval";
    let events = run(&served, path, &message("t", "cats")).await;
    let wait = outcome(&events)["interrupts"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        outcome(&events)["interrupts"][0]["message"],
        "May this be published? CATS CATS"
    );
    assert_eq!(
        code(&run(&served, path, &message("t", "dogs")).await),
        "interrupted"
    );
    let answer = |payload: Value| {
        resume(
            "t",
            json!([{"interruptId": wait, "status": "resolved", "payload": payload}]),
        )
    };
    assert_eq!(
        code(&run(&served, path, &answer(json!({"Revise": {}}))).await),
        "answer_invalid"
    );
    let other = json!([{"interruptId": wait, "status": "resolved", "payload": "Publish"}]);
    assert_eq!(
        code(&run(&served, path, &resume("other", other.clone())).await),
        "not_found",
        "another thread"
    );
    assert_eq!(
        code(&run(&served, "/ag-ui/shouting", &resume("t", other)).await),
        "not_found",
        "another workflow"
    );
    let events = run(&served, path, &answer(json!({"Revise": {"note": "short"}}))).await;
    let end = events.last().unwrap();
    assert_eq!(
        (&end["result"], &end["runId"]),
        (&json!("CATS CATS (short)"), &json!("r2"))
    );
    let started = fields(&events, "STEP_STARTED", "stepName");
    assert_eq!(
        started,
        ["approval", "approval/decision", "approval/publish"],
        "ended steps are not sent again"
    );
    assert_eq!(
        code(&run(&served, path, &answer(json!("Publish"))).await),
        "answered",
        "nothing happens twice"
    );

    let events = run(&served, path, &message("t", "dogs")).await;
    let wait = outcome(&events)["interrupts"][0]["id"].clone();
    let given_up = resume("t", json!([{"interruptId": wait, "status": "cancelled"}]));
    assert_eq!(
        outcome(&run(&served, path, &given_up).await)["type"],
        "cancelled"
    );
    assert_eq!(final_status(&served, "t").await, "cancelled");
    assert_eq!(
        outcome(&run(&served, path, &message("t", "birds")).await)["type"],
        "interrupt",
        "the thread goes on"
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn several_interrupts_are_answered_at_once() {
    let delete = |path: &str| ("delete", json!({"path": path}));
    let model = ScriptedModel::new()
        .calls([delete("a"), delete("b")])
        .text("Done.");
    let served = served(model).await;
    let path = "/ag-ui/cleaning";
    let events = run(&served, path, &message("t", "Delete a and b.")).await;
    let interrupts = outcome(&events)["interrupts"].as_array().unwrap();
    let [a, b] = [0, 1].map(|nth: usize| interrupts[nth]["id"].as_str().unwrap());
    let entry = |id: &str, payload: Value| json!({"interruptId": id, "status": "resolved", "payload": payload});
    let asked = |entries: Value| resume("t", entries);
    assert_eq!(
        code(&run(&served, path, &asked(json!([entry(a, json!(true))]))).await),
        "interrupted",
        "one is left"
    );
    let two_runs = asked(json!([entry(a, json!(true)), entry("e-1/x", json!(true))]));
    assert_eq!(code(&run(&served, path, &two_runs).await), "not_found");
    let one_is_wrong = asked(json!([entry(a, json!(true)), entry(b, json!("perhaps"))]));
    assert_eq!(
        code(&run(&served, path, &one_is_wrong).await),
        "answer_invalid"
    );
    // For each wait the first answer counts.
    let events = run(
        &served,
        path,
        &asked(json!([entry(a, json!(false)), entry(b, json!(false))])),
    )
    .await;
    assert_eq!(outcome(&events)["type"], "success", "{events:?}");
    let results = fields(&events, "TOOL_CALL_RESULT", "content");
    assert_eq!(
        results,
        [
            r#"{"result":"a is gone"}"#,
            r#"{"error":"This tool call is rejected."}"#
        ]
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn the_client_state_sets_inputs_and_session_keys() {
    let model = ScriptedModel::new().text("Fine.").repeat_last();
    let served = served(model.clone()).await;
    let mut body = message("t", "cats");
    body["state"] = json!({"topic": "dogs", "tone": "loud", "draft": "mine", "user:motto": "us", "app:limit": 1});
    let events = run(&served, "/ag-ui/writing", &body).await;
    assert_eq!(outcome(&events)["type"], "success", "{events:?}");
    let request = &model.requests()[0];
    assert!(
        request
            .system_instruction
            .contains("Write about cats, loud, as us."),
        "{}",
        request.system_instruction
    );
    let snapshot = &events[1]["snapshot"];
    assert_eq!(
        (snapshot.get("draft"), snapshot.get("app:limit")),
        (None, None),
        "the rest is not the client's"
    );
    // The state may contain all inputs.
    let mut body = json!({"threadId": "t", "runId": "r", "messages": []});
    body["state"] = json!({"topic": "dogs"});
    run(&served, "/ag-ui/writing", &body).await;
    assert!(
        model.requests()[1]
            .system_instruction
            .contains("Write about dogs, plain, as us.")
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_message_may_contain_images_and_files() {
    let model = ScriptedModel::new().text("A cat.").repeat_last();
    let served = served(model.clone()).await;
    let mut body = message("t", "");
    body["state"] = json!({"user:motto": "us"});
    let file =
        json!({"type": "url", "value": "https://example.com/a.pdf", "mimeType": "application/pdf"});
    body["messages"][0]["content"] = json!([
        {"type": "text", "text": "this"},
        {"type": "image", "source": {"type": "data", "value": "AQID", "mimeType": "image/png"}},
        {"type": "document", "source": file},
    ]);
    let events = run(&served, "/ag-ui/writing", &body).await;
    assert_eq!(outcome(&events)["type"], "success", "{events:?}");
    let content = &model.requests()[0].contents[0];
    let image = adk::Part::inline_data("image/png", vec![1, 2, 3]);
    let file = adk::Part::file_data("https://example.com/a.pdf", "application/pdf");
    assert_eq!(content.parts, [adk::Part::text("this"), image, file]);
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_slow_reader_gets_the_whole_reply_and_slows_no_run() {
    // The text is larger than the socket buffers.
    let pieces: Vec<_> = (0..6000)
        .map(|nth| format!("{nth:08}").repeat(250))
        .collect();
    let text = pieces.concat();
    let model = ScriptedModel::new().reply(Reply::new().text(&*text).pieces(pieces));
    let served = served(model).await;
    let mut body = message("t", "cats");
    body["state"] = json!({"user:motto": "us"});
    let slow = served.post("/ag-ui/writing", &body).send().await.unwrap();
    assert_eq!(
        final_status(&served, "t").await,
        "finished",
        "before anything is read"
    );
    let events: Vec<_> = sse(&slow.text().await.unwrap())
        .into_iter()
        .map(|(_, _, data)| data)
        .collect();
    let pieces = fields(&events, "TEXT_MESSAGE_CONTENT", "delta");
    assert!(pieces.len() < 6000, "it was not slow: {}", pieces.len());
    let last = fields(&events, "TEXT_MESSAGE_START", "messageId")
        .pop()
        .unwrap();
    let last_message = events.iter().filter(|event| event["messageId"] == last);
    let text_received: String = last_message
        .filter_map(|event| event["delta"].as_str())
        .collect();
    assert!(
        text_received == text,
        "{} of {} bytes",
        text_received.len(),
        text.len()
    );
    let (started, ended) = (
        fields(&events, "STEP_STARTED", "stepName"),
        fields(&events, "STEP_FINISHED", "stepName"),
    );
    assert_eq!(started, ended.into_iter().rev().collect::<Vec<_>>());
    assert_eq!(outcome(&events)["type"], "success");
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_client_that_disconnects_cancels_only_its_run() {
    let served = served(ScriptedModel::new()).await;
    let mut gone = served
        .post("/ag-ui/hanging", &message("t", "x"))
        .send()
        .await
        .unwrap();
    gone.chunk().await.unwrap();
    drop(gone);
    assert_eq!(final_status(&served, "t").await, "cancelled");
    // Neither a waiting nor an ended run is cancelled.
    let events = run(&served, "/ag-ui/approval", &message("paused", "x")).await;
    assert_eq!(outcome(&events)["type"], "interrupt");
    run(&served, "/ag-ui/shouting", &message("ended", "x")).await;
    assert_eq!(final_status(&served, "paused").await, "paused");
    assert_eq!(final_status(&served, "ended").await, "finished");
    // If another program cancels the run, the client receives an event.
    let mut stream = served
        .post("/ag-ui/hanging", &message("told", "x"))
        .send()
        .await
        .unwrap();
    let first = String::from_utf8(stream.chunk().await.unwrap().unwrap().to_vec()).unwrap();
    let id = sse(&first)[0].2["metadata"]["adk"]["run"]
        .as_str()
        .unwrap()
        .to_owned();
    send(served.delete(&format!("/v1/runs/{id}"))).await;
    let rest = sse(&stream.text().await.unwrap());
    assert_eq!(
        rest.last().unwrap().2["outcome"]["type"],
        "cancelled",
        "{rest:?}"
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_server_that_stops_leaves_the_run_to_the_next_server() {
    let file = std::env::temp_dir().join(format!("adk-ag-ui-{}.db", std::process::id()));
    let store = adk::sqlite::SqliteStore::open(&file).await.unwrap();
    let runner = adk::Runner::builder().store(store).build().unwrap();
    let served = with(&runner, |server| server.limits(no_grace())).await;
    let response = served
        .post("/ag-ui/hanging", &message("t", "x"))
        .send()
        .await
        .unwrap();
    served.stop().await.unwrap();
    let events: Vec<_> = sse(&response.text().await.unwrap())
        .into_iter()
        .map(|(_, _, data)| data)
        .collect();
    assert_eq!(code(&events), "closing");
    // Wait until the server has finished its remaining work.
    runner
        .run(
            &support::Shouting::default(),
            support::ShoutingInput {
                topic: "x".into(),
                times: 9,
            },
        )
        .await
        .unwrap();
    let left = runner
        .runs(&adk::engine::RunFilter::unfinished())
        .await
        .unwrap();
    assert_eq!(left.len(), 1, "{left:?}");
    std::fs::remove_file(&file).unwrap();
}

/// Reads the user from a header.
async fn by_header(request: axum::http::request::Parts) -> Result<Caller, Refusal> {
    match request
        .headers
        .get("x-user")
        .and_then(|user| user.to_str().ok())
    {
        Some(user) => Ok(Caller::user(user)),
        None => Err(Refusal::unauthorized("there is no `x-user`")),
    }
}

/// Runs the official client, which validates all events.
async fn official(scenario: &str, served: &Served) {
    let program = std::path::Path::new(
        &std::env::var("ADK_CLIENTS").expect("tests/peers/run-clients.sh sets it"),
    )
    .join("ag_ui.mjs");
    let mut node = tokio::process::Command::new("node");
    node.arg(program)
        .arg(scenario)
        .arg(format!("http://{}", served.address))
        .kill_on_drop(true);
    let done = node.output().await.expect("node");
    let (out, err) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    assert!(done.status.success(), "{scenario}\n{out}\n{err}");
    // The client prints warnings for unknown events and invalid patches.
    assert_eq!(err, "", "{scenario}");
}

#[tokio::test]
#[ignore = "needs Node.js and `@ag-ui/client`: tests/peers/run-clients.sh"]
async fn the_official_client_runs_workflows() {
    let model = ScriptedModel::new()
        .on("writer")
        .reply(Reply::new().text("One cat.").pieces(["One", " cat."]))
        .reply(
            Reply::new()
                .thought("Hm.")
                .text("Two cats.")
                .thought_pieces(["H", "m."])
                .pieces(["Two ", "cats."]),
        )
        .reply(
            Reply::new()
                .text("Let me count.")
                .call("count", json!({"text": "a b"}))
                .pieces(["Let me ", "count."]),
        )
        .reply(Reply::new().text("Two words.").pieces(["Two", " words."]))
        .reply(
            Reply::new()
                .text("Never said.")
                .pieces(["Never", " said", "."]),
        )
        .on("style")
        .reply(Reply::new().text("Fine.").pieces(["Fi", "ne."]))
        .text("Good.")
        .on("facts")
        .reply(Reply::new().text("True.").pieces(["Tr", "ue."]))
        .text("Yes.")
        .on("cleaner")
        .calls([
            ("delete", json!({"path": "a"})),
            ("delete", json!({"path": "b"})),
        ])
        .text("One is gone.")
        .on("triage")
        .call("transfer_to_agent", json!({"agent_name": "billing"}))
        .reply(Reply::new().text("Sorted.").pieces(["Sor", "ted."]))
        .text("Sorted again.")
        .on("billing")
        .call("transfer_to_agent", json!({"agent_name": "triage"}))
        .on("critic")
        .reply(Reply::new().text("Fine.").pieces(["Fi", "ne."]))
        .repeat_last()
        .on("again")
        .reply(Reply::new().text("Still fine.").pieces(["Still ", "fine."]));
    let served = served(model).await;
    for scenario in [
        "refining",
        "tools",
        "interrupt",
        "confirm",
        "failure",
        "mixing",
        "breaking",
    ] {
        official(scenario, &served).await;
    }
    official("abort", &served).await;
    assert_eq!(final_status(&served, "aborted").await, "cancelled");
    served.stop().await.unwrap();
}

#[tokio::test]
#[ignore = "needs Node.js and `@ag-ui/client`: tests/peers/run-clients.sh"]
async fn the_official_client_acts_only_for_its_user() {
    let runner = adk::Runner::builder().build().unwrap();
    let served = with(&runner, |server| server.authorize(by_header)).await;
    official("users", &served).await;
    served.stop().await.unwrap();
}
