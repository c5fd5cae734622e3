//! Runs that requests start.

use crate::fixtures::{code, fields, final_status, message, outcome, resume, run, served, with};
use crate::support::{self, no_grace, send, sse};
use adk::testing::{Reply, ScriptedModel};
use reqwest::StatusCode;
use serde_json::{Value, json};

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
            content(json!([{
                "type": "image",
                "source": {"type": "data", "value": "%", "mimeType": "image/png"},
            }])),
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
async fn the_client_state_sets_inputs_and_session_keys() {
    let model = ScriptedModel::new().text("Fine.").repeat_last();
    let served = served(model.clone()).await;
    let mut body = message("t", "cats");
    body["state"] = json!({
        "topic": "dogs",
        "tone": "loud",
        "draft": "mine",
        "user:motto": "us",
        "app:limit": 1,
    });
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
