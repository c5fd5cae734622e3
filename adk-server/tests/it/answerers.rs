//! Waits with `by`: each protocol refuses an answer of the wrong caller and names the required
//! role.

use crate::support::unavailable::UnavailableEngine;
use crate::support::{Served, send};
use adk::prelude::*;
use adk::server::{Caller, Refusal};
use adk::testing::ScriptedModel;
use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value, json};

/// Pays back.
#[tool(confirm, by = "staff")]
fn refund(amount: u32) -> String {
    format!("{amount} USD are paid")
}

workflow! {
    /// Asks the staff.
    pub Claim(order: String) -> approved: bool {
        /// Is the claim for {order} right?
        await(by = "staff") approved: bool
    }
}

workflow! {
    /// Asks anyone but the author.
    pub Reviewed(text: String) -> approved: bool {
        /// Is {text} well said?
        await(by = other) approved: bool
    }
}

workflow! {
    /// Asks the author.
    pub Signed(text: String) -> approved: bool {
        /// Is {text} yours?
        await approved: bool
    }
}

workflow! {
    /// Pays back an amount if the staff agrees.
    pub Refunding() -> said: String {
        agent clerk -> said: String { instruction: "Pay back.", tools: [refund] }
        clerk
    }
}

/// `x-user` is `USER` or `USER:ROLE`.
async fn by_header(request: axum::http::request::Parts) -> Result<Caller, Refusal> {
    let user = request
        .headers
        .get("x-user")
        .and_then(|user| user.to_str().ok());
    let user = user.ok_or_else(|| Refusal::unauthorized("there is no `x-user`"))?;
    Ok(match user.split_once(':') {
        Some((user, role)) => Caller::user(user).role(role),
        None => Caller::user(user),
    })
}

async fn serve() -> Served {
    let model = ScriptedModel::new()
        .call("refund", json!({"amount": 49}))
        .text("It is paid.");
    let runner = adk::Runner::builder().model(model).build().unwrap();
    let server = adk::serve(&runner)
        .workflow(Claim::default())
        .workflow(Reviewed::default());
    Served::start(server.workflow(Refunding::default()).authorize(by_header)).await
}

async fn by(caller: &str, request: RequestBuilder) -> (StatusCode, Value) {
    send(request.header("x-user", caller)).await
}

/// Starts a run of Ann and returns the run as she sees it.
async fn start(served: &Served, name: &str, input: &Value) -> Value {
    let (status, run) = by(
        "ann",
        served.post(&format!("/v1/{name}/runs?session=s"), input),
    )
    .await;
    assert_eq!(
        (status, &run["status"]),
        (StatusCode::ACCEPTED, &json!("paused")),
        "{run}"
    );
    run
}

#[track_caller]
fn assert_refused((status, answer): &(StatusCode, Value), needed: &str) {
    assert_eq!(*status, StatusCode::FORBIDDEN, "{answer}");
    assert!(answer.to_string().contains(needed), "{answer}");
}

async fn waits_of(served: &Served, caller: &str) -> Vec<String> {
    let (_, answer) = by(caller, served.get("/v1/waiting")).await;
    let ids = answer["waiting"].as_array().unwrap().iter();
    ids.map(|wait| wait["id"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn the_api_accepts_an_answer_from_a_caller_with_the_role() {
    let served = serve().await;
    for (name, input) in [("claim", json!({"order": "a7"})), ("refunding", json!({}))] {
        let run = start(&served, name, &input).await;
        let wait = &run["waiting"][0];
        assert_eq!(wait["by"], json!({"role": "staff"}), "{run}");
        let id = wait["id"].as_str().unwrap();
        let answer = || served.post(&format!("/v1/waiting/{id}"), &json!(true));
        for caller in ["ann", "ann:editor", "bob", "bob:editor"] {
            assert_refused(&by(caller, answer()).await, "the role `staff`");
        }
        assert_eq!(waits_of(&served, "ann").await, [id]);
        assert_eq!(waits_of(&served, "eve:staff").await, [id]);
        for caller in ["bob", "bob:editor"] {
            assert_eq!(waits_of(&served, caller).await, [""; 0], "{caller}");
        }
        let path = format!("/v1/runs/{}", run["run"].as_str().unwrap());
        let (status, reply) = by("eve:staff", answer()).await;
        assert_eq!(
            (status, &reply["run"]),
            (StatusCode::ACCEPTED, &run["run"]),
            "{reply}"
        );
        assert!(
            reply.get("user").is_none() && reply.get("waiting").is_none(),
            "the run belongs to ann: {reply}"
        );
        let (status, _) = by("eve:staff", served.get(&path)).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
        let rest = served
            .get(&format!("{path}/events"))
            .header("accept", "text/event-stream");
        let rest = rest
            .header("x-user", "ann")
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap();
        assert!(rest.contains("\"status\":\"finished\""), "{rest}");
        assert_eq!(waits_of(&served, "eve:staff").await, [""; 0]);
    }
    served.stop().await.unwrap();
}

#[tokio::test]
async fn another_user_answers_a_wait_that_the_author_may_not_answer() {
    let served = serve().await;
    let run = start(&served, "reviewed", &json!({"text": "x"})).await;
    let id = run["waiting"][0]["id"].as_str().unwrap();
    let answer = || served.post(&format!("/v1/waiting/{id}"), &json!(true));
    assert_refused(&by("ann", answer()).await, "another user");
    assert_refused(&by("ann:staff", answer()).await, "another user");
    assert_eq!(waits_of(&served, "bob").await, [id]);
    assert_eq!(by("bob", answer()).await.0, StatusCode::ACCEPTED);
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a2a_ag_ui_and_the_dev_ui_refuse_the_user_who_started_the_run() {
    let served = serve().await;
    let says = |id: &str, parts: Value, task: &Value| {
        let message = json!({"messageId": id, "role": "ROLE_USER", "parts": parts, "taskId": task});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
        by(
            "ann",
            served
                .post("/a2a/claim", &body)
                .header("a2a-version", "1.0"),
        )
    };
    let (_, sent) = says("m1", json!([{"text": "a7"}]), &json!("")).await;
    let task = &sent["result"]["task"];
    assert_eq!(
        task["status"]["message"]["parts"][1]["data"]["by"],
        json!({"role": "staff"}),
        "{sent}"
    );
    for _ in 0..2 {
        assert_refused(
            &says("m2", json!([{"text": "true"}]), &task["id"]).await,
            "the role `staff`",
        );
    }

    let thread = |resume: Value, messages: Value| {
        let body = json!({"threadId": "t", "runId": "r", "messages": messages, "resume": resume});
        served.post("/ag-ui/claim", &body)
    };
    let messages = json!([{"id": "1", "role": "user", "content": "a7"}]);
    let started = thread(json!([]), messages)
        .header("x-user", "ann")
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    let interrupt =
        crate::support::sse(&started).pop().unwrap().2["outcome"]["interrupts"][0].clone();
    assert_eq!(
        interrupt["metadata"]["adk"]["by"],
        json!({"role": "staff"}),
        "{started}"
    );
    let approved = json!([{"interruptId": interrupt["id"], "status": "resolved", "payload": {"approved": true}}]);
    assert_refused(
        &by("ann", thread(approved, json!([]))).await,
        "the role `staff`",
    );

    let base = "/apps/claim/users/ann/sessions";
    let (status, _) = by("ann", served.post(base, &json!({"sessionId": "w"}))).await;
    assert_eq!(status, StatusCode::OK);
    let turn = |parts: Value| json!({"appName": "claim", "userId": "ann", "sessionId": "w", "newMessage": {"role": "user", "parts": parts}});
    let (_, events) = by("ann", served.post("/run", &turn(json!([{"text": "a7"}])))).await;
    let events = events.as_array().unwrap();
    let call = events
        .iter()
        .flat_map(|event| event["content"]["parts"].as_array())
        .flatten();
    let call = call
        .filter_map(|part| part.get("functionCall"))
        .next_back()
        .unwrap();
    let response = json!({"id": call["id"], "name": call["name"], "response": {"result": true}});
    for path in ["/run", "/run_sse"] {
        let answer = turn(json!([{"functionResponse": response}]));
        assert_refused(
            &by("ann", served.post(path, &answer)).await,
            "the role `staff`",
        );
    }
    let open = waits_of(&served, "eve:staff").await;
    assert_eq!(open.len(), 3, "nothing has changed: {open:?}");
    served.stop().await.unwrap();
}

/// Returns the numbers of waits that the store reads for the lists of a caller with a role, and of
/// one without, among this many waits of another user.
async fn counts_among(many: usize) -> Vec<usize> {
    let engine = UnavailableEngine::default();
    let runner = adk::Runner::builder().engine(engine.clone());
    let runner = runner.build().unwrap();
    let server = adk::serve(&runner)
        .workflow(Claim::default())
        .workflow(Signed::default())
        .workflow(Reviewed::default());
    let served = Served::start(server.authorize(by_header)).await;
    for _ in 0..many {
        start(&served, "signed", &json!({"text": "a"})).await;
    }
    start(&served, "claim", &json!({"order": "a7"})).await;
    start(&served, "reviewed", &json!({"text": "a"})).await;
    let mut counts = Vec::new();
    for caller in ["eve:staff", "bob"] {
        engine.take_count();
        let listed = waits_of(&served, caller).await.len();
        counts.extend([listed, engine.take_count()]);
    }
    served.stop().await.unwrap();
    counts
}

#[tokio::test]
async fn a_list_of_waits_reads_no_waits_of_others() {
    assert_eq!(counts_among(1).await, [2, 2, 1, 1]);
    assert_eq!(counts_among(30).await, [2, 2, 1, 1]);
}
