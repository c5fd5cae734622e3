//! Waits, which the routes show as calls.

use crate::requests::{answer_body, call, run_sse, serve, session, text_body};
use crate::support::{send, sse};
use reqwest::StatusCode;
use serde_json::{Value, json};

#[tokio::test]
async fn a_wait_is_a_call_whose_response_resumes_the_run() {
    let served = serve(|server| server).await;
    session(&served, "drafting").await;
    let events_before = run_sse(&served, &text_body("drafting", "cats")).await;
    let question = call(&events_before);
    assert_eq!(question["name"], "adk_request_input", "{events_before:?}");
    assert_eq!(
        question["args"]["message"],
        "May this be published? CATS CATS"
    );
    assert!(question["args"]["response_schema"].is_object());
    assert_eq!(
        events_before.last().unwrap()["longRunningToolIds"],
        json!([question["id"]])
    );
    let (_, session_json) = send(served.get("/apps/drafting/users/user/sessions/s")).await;
    assert_eq!(
        session_json["events"].as_array().unwrap().last(),
        events_before.last(),
        "{session_json}"
    );
    let (_, waiting) = send(served.get("/v1/waiting?workflow=drafting")).await;
    assert_eq!(
        waiting["waiting"][0]["id"], question["id"],
        "the own API lists the wait"
    );

    let run = &events_before[0]["invocationId"];
    let attach =
        json!({"appName": "drafting", "userId": "user", "sessionId": "s", "invocationId": run});
    assert_eq!(
        send(served.post("/run", &attach)).await,
        (StatusCode::OK, json!([])),
        "the run still waits"
    );

    let wrong = run_sse(
        &served,
        &answer_body("drafting", question, json!({"result": "perhaps"})),
    )
    .await;
    assert!(
        wrong[0]["error"]
            .as_str()
            .unwrap()
            .contains("of another type"),
        "{wrong:?}"
    );
    let answer = answer_body("drafting", question, json!({"Revise": {"note": "shorter"}}));
    let rest = run_sse(&served, &answer).await;
    assert!(
        rest.iter().all(|event| !events_before.contains(event)),
        "only new events: {rest:?}"
    );
    assert_eq!(
        rest.last().unwrap()["actions"]["stateDelta"]["post"],
        "CATS CATS (shorter)",
        "{rest:?}"
    );
    let second = run_sse(&served, &answer).await;
    assert!(second[0]["error"].is_string(), "{second:?}");
    // The page sends a text under `result`.
    let events_before = run_sse(&served, &text_body("drafting", "dogs")).await;
    let rest = run_sse(
        &served,
        &answer_body(
            "drafting",
            call(&events_before),
            json!({"result": "Publish"}),
        ),
    )
    .await;
    assert_eq!(
        rest.last().unwrap()["actions"]["stateDelta"]["post"],
        "DOGS DOGS",
        "{rest:?}"
    );
    let (_, runs) = send(served.get("/v1/runs?workflow=drafting&status=finished")).await;
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2, "{runs}");
    served.stop().await.unwrap();
}

#[tokio::test]
async fn the_own_api_answers_and_cancels_runs_of_these_routes() {
    let served = serve(|server| server).await;
    session(&served, "drafting").await;
    let last = async || {
        let (_, session) = send(served.get("/apps/drafting/users/user/sessions/s")).await;
        session["events"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()
            .clone()
    };
    let events_before = run_sse(&served, &text_body("drafting", "cats")).await;
    let (question, run) = (
        call(&events_before),
        events_before[0]["invocationId"].as_str().unwrap(),
    );
    let path = format!("/v1/waiting/{}", question["id"].as_str().unwrap());
    assert_eq!(
        send(served.post(&path, &json!("Publish"))).await.0,
        StatusCode::ACCEPTED
    );
    let rest = served
        .get(&format!("/v1/runs/{run}/events"))
        .header("accept", "text/event-stream");
    let rest = sse(&rest.send().await.unwrap().text().await.unwrap());
    assert_eq!(rest.last().unwrap().2["output"], "CATS CATS", "{rest:?}");
    assert_eq!(last().await["actions"]["stateDelta"]["post"], "CATS CATS");
    let events_before = run_sse(&served, &text_body("drafting", "dogs")).await;
    assert_eq!(&last().await, events_before.last().unwrap());
    let run = events_before[0]["invocationId"].as_str().unwrap();
    let (_, cancelled) = send(served.delete(&format!("/v1/runs/{run}"))).await;
    assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
    assert!(
        last().await["longRunningToolIds"].is_null(),
        "no question is open"
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_tool_call_is_confirmed() {
    for (confirmed, result) in [(true, "paid 7"), (false, "This tool call is rejected.")] {
        let served = serve(|server| server).await;
        session(&served, "paying").await;
        let mut pays = text_body("paying", "pay");
        // A request with `streaming` gets the pieces of a reply.
        pays["streaming"] = json!(confirmed);
        let events_before = run_sse(&served, &pays).await;
        let (question, args) = (call(&events_before), &call(&events_before)["args"]);
        assert_eq!(
            question["name"], "adk_request_confirmation",
            "{events_before:?}"
        );
        let original = &args["originalFunctionCall"];
        assert_eq!(
            (&original["name"], &original["args"]),
            (&json!("pay"), &json!({"amount": 7}))
        );
        assert_eq!(
            original["id"],
            events_before[0]["content"]["parts"][0]["functionCall"]["id"]
        );
        assert!(
            args["toolConfirmation"]["hint"]
                .as_str()
                .unwrap()
                .contains("amount"),
            "{args}"
        );
        let answer = answer_body(
            "paying",
            question,
            json!({"confirmed": confirmed, "payload": {}}),
        );
        let rest = run_sse(&served, &answer).await;
        let response = &rest[0]["content"]["parts"][0]["functionResponse"];
        assert_eq!(response["id"], original["id"]);
        assert!(
            response["response"].to_string().contains(result),
            "{rest:?}"
        );
        let text = |event: &Value| {
            event["content"]["parts"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        let texts: Vec<_> = rest[1..].iter().map(text).collect();
        let (partial, whole) = rest[1..].split_at(rest.len() - 2);
        assert_eq!(
            texts,
            if confirmed {
                vec!["Pa", "id.", "Paid."]
            } else {
                vec!["Paid."]
            },
            "{rest:?}"
        );
        assert!(
            partial
                .iter()
                .all(|event| event["partial"] == true && event["id"].is_null()),
            "{rest:?}"
        );
        assert!(
            whole[0]["partial"].is_null() && whole[0]["id"].is_string(),
            "{rest:?}"
        );
        served.stop().await.unwrap();
    }
}

#[tokio::test]
async fn a_long_running_call_is_answered() {
    let served = serve(|server| server).await;
    session(&served, "asking").await;
    let events_before = run_sse(&served, &text_body("asking", "?")).await;
    assert_eq!(events_before[0]["longRunningToolIds"], json!(["call-1"]));
    let rest = run_sse(
        &served,
        &answer_body("asking", call(&events_before), json!({"color": "red"})),
    )
    .await;
    assert_eq!(
        rest[0]["content"]["parts"][0]["text"], "It is red.",
        "{rest:?}"
    );
    served.stop().await.unwrap();
}
