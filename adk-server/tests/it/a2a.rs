//! A2A over real connections, with valid and invalid requests.

use crate::support::{Served, send, sse};
use adk::prelude::*;
use adk::server::{Caller, Refusal};
use adk::testing::{Reply, ScriptedModel};
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::collections::BTreeSet;

workflow! {
    /// Tells a story.
    pub Telling(topic: String) -> story: String {
        agent teller -> story: String { instruction: "Tell of {topic}." }
        teller
    }
}

/// Returns a message with a text.
pub fn text_message(id: &str, text: &str) -> Value {
    json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]})
}

/// Calls a method of a workflow and returns the whole response.
pub async fn call(served: &Served, name: &str, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let (status, answer) = send(
        served
            .post(&format!("/a2a/{name}"), &body)
            .header("a2a-version", "1.0"),
    )
    .await;
    assert_eq!(
        (status, &answer["id"], &answer["jsonrpc"]),
        (StatusCode::OK, &json!(7), &json!("2.0")),
        "{answer}"
    );
    answer
}

/// Sends a message and returns the task.
pub async fn say(served: &Served, name: &str, message: Value) -> Value {
    let sent = call(served, name, "SendMessage", json!({"message": message})).await;
    sent["result"]["task"].clone()
}

/// Calls a streaming method and returns the results.
pub async fn stream(served: &Served, name: &str, method: &str, params: Value) -> Vec<Value> {
    let body = json!({"jsonrpc": "2.0", "id": "s", "method": method, "params": params});
    let request = served
        .post(&format!("/a2a/{name}/"), &body)
        .header("a2a-version", "1.0");
    let response = request.send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let events = sse(&response.text().await.unwrap());
    events
        .into_iter()
        .map(|(_, _, answer)| {
            assert_eq!(answer["id"], "s", "{answer}");
            answer["result"].clone()
        })
        .collect()
}

pub fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_card_describes_its_workflow() {
    let served = Served::in_memory().await;
    let (status, card) = send(served.get("/a2a/shouting/.well-known/agent-card.json")).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(
        (&card["name"], &card["description"]),
        (&json!("shouting"), &json!("Shouts."))
    );
    let interface = json!({
        "url": format!("http://{}/a2a/shouting", served.address),
        "protocolBinding": "JSONRPC",
        "protocolVersion": "1.0",
    });
    assert_eq!(card["supportedInterfaces"], json!([interface]));
    let can = json!({"streaming": true, "pushNotifications": false, "extendedAgentCard": false});
    assert_eq!(card["capabilities"], can);
    assert_eq!(card["defaultOutputModes"], json!(["text/plain"]));
    let skill = card["skills"][0]["description"].as_str().unwrap();
    for word in [
        "Shouts.",
        "`topic` (string): The text to shout.",
        "`times` (integer, optional)",
        "`draft` (string)",
    ] {
        assert!(skill.contains(word), "{skill}");
    }
    let behind = served
        .get("/a2a/shouting/.well-known/agent-card.json")
        .header("x-forwarded-proto", "https");
    let (_, card) = send(behind).await;
    assert!(
        card["supportedInterfaces"][0]["url"]
            .as_str()
            .unwrap()
            .starts_with("https://"),
        "{card}"
    );
    let (status, _) = send(served.get("/a2a/nothing/.well-known/agent-card.json")).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    served.stop().await.unwrap();
}

#[tokio::test]
async fn invalid_requests_are_refused_with_a_remedy() {
    let served = Served::in_memory().await;
    let done = call(
        &served,
        "shouting",
        "SendMessage",
        json!({"message": text_message("m", "x")}),
    )
    .await;
    let done = done["result"]["task"]["id"].clone();
    let file = json!({"messageId": "f", "role": "ROLE_USER", "parts": [{"raw": "AAAA"}]});
    let mut on_done = text_message("d", "more");
    on_done["taskId"] = done.clone();
    let push = json!({"taskId": done, "url": "http://127.0.0.1/hook"});
    for (method, params, code) in [
        ("Nothing", json!({}), -32601),
        ("message/send", json!({}), -32601),
        ("SendMessage", json!({}), -32602),
        ("SendMessage", json!([1]), -32602),
        (
            "SendMessage",
            json!({"message": {"messageId": "a", "role": "ROLE_USER", "parts": [{}]}}),
            -32602,
        ),
        (
            "SendMessage",
            json!({"message": {"messageId": "a", "role": "ROLE_KING", "parts": []}}),
            -32602,
        ),
        (
            "SendMessage",
            json!({"message": {"messageId": "a", "role": "ROLE_USER", "parts": []}}),
            -32602,
        ),
        (
            "SendMessage",
            json!({"message": text_message("", "x")}),
            -32602,
        ),
        ("SendMessage", json!({"message": file}), -32005),
        ("SendMessage", json!({"message": on_done}), -32004),
        ("SendStreamingMessage", json!({"message": {}}), -32602),
        ("GetTask", json!({"id": "nothing"}), -32001),
        (
            "GetTask",
            json!({"id": "e-019a0000-0000-7000-8000-000000000000"}),
            -32001,
        ),
        ("GetTask", json!({"id": ""}), -32602),
        ("GetTask", json!({"id": done, "historyLength": -1}), -32602),
        ("CancelTask", json!({"id": done}), -32002),
        ("SubscribeToTask", json!({"id": done}), -32004),
        ("ListTasks", json!({"pageSize": 101}), -32602),
        ("ListTasks", json!({"pageToken": "x"}), -32602),
        (
            "ListTasks",
            json!({"statusTimestampAfter": "yesterday"}),
            -32602,
        ),
        ("CreateTaskPushNotificationConfig", push, -32003),
        ("GetExtendedAgentCard", Value::Null, -32004),
    ] {
        let answer = call(&served, "shouting", method, params.clone()).await;
        let error = &answer["error"];
        assert_eq!(error["code"], code, "{method} {params} {answer}");
        let info = &error["data"][0];
        assert!(
            error["message"].is_string() && info["metadata"]["help"].is_string(),
            "{answer}"
        );
        assert_eq!(info["@type"], "type.googleapis.com/google.rpc.ErrorInfo");
    }
    // A task of another workflow is unknown.
    let other = call(&served, "approval", "GetTask", json!({"id": done})).await;
    assert_eq!(other["error"]["code"], -32001);

    let (_, all) = send(served.get("/v1/runs")).await;
    assert_eq!(
        all["runs"].as_array().unwrap().len(),
        1,
        "no run was started"
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn requests_of_other_versions_are_refused() {
    let served = Served::in_memory().await;
    let parts = json!([{"data": {"topic": 7, "more": 1}}]);
    let params = json!({"message": {"messageId": "a", "role": "ROLE_USER", "parts": parts}});
    let answer = call(&served, "shouting", "SendMessage", params).await;
    let fields: BTreeSet<_> = answer["error"]["data"][1]["fieldViolations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["field"].as_str().unwrap())
        .collect();
    assert_eq!(fields, ["more", "topic"].into(), "{answer}");
    let raw = |body: String| {
        served
            .post("/a2a/shouting", &json!(null))
            .body(body)
            .header("a2a-version", "1.0")
    };
    let deep = "[".repeat(1000) + &"]".repeat(1000);
    let request = |request: Value| (request.to_string(), StatusCode::OK, -32600);
    for (body, status, code) in [
        ("{".to_owned(), StatusCode::BAD_REQUEST, -32700),
        (String::new(), StatusCode::BAD_REQUEST, -32700),
        (deep, StatusCode::BAD_REQUEST, -32700),
        (
            "\"".to_owned() + &"x".repeat(2 << 20) + "\"",
            StatusCode::PAYLOAD_TOO_LARGE,
            -32603,
        ),
        request(json!([])),
        request(json!({"jsonrpc": "1.0", "id": 1, "method": "GetTask"})),
        request(json!({"jsonrpc": "2.0", "id": {}, "method": "GetTask"})),
        request(json!({"jsonrpc": "2.0", "id": 1, "method": 5})),
    ] {
        let (got, answer) = send(raw(body)).await;
        assert_eq!(
            (got, &answer["error"]["code"], &answer["id"]),
            (status, &json!(code), &Value::Null),
            "{answer}"
        );
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {}});
    for version in [None, Some("0.3"), Some("2.0"), Some("")] {
        let request = served.post("/a2a/shouting", &body);
        let request = version.into_iter().fold(request, |request, version| {
            request.header("a2a-version", version)
        });
        let (_, answer) = send(request).await;
        assert_eq!(answer["error"]["code"], -32009, "{version:?} {answer}");
    }
    let (status, _) = send(served.post("/a2a/nothing", &body)).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (status, _) = send(served.get("/a2a/shouting")).await;
    assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_stream_has_the_pieces_of_the_text() {
    let reply = Reply::new()
        .text("A cat sat.")
        .pieces(["A cat".to_owned(), " sat.".to_owned()]);
    let runner = adk::Runner::builder()
        .model(ScriptedModel::new().reply(reply))
        .build()
        .unwrap();
    let served = Served::new(&runner, |server| server.workflow(Telling::default())).await;
    let all = stream(
        &served,
        "telling",
        "SendStreamingMessage",
        json!({"message": text_message("m", "cats")}),
    )
    .await;
    assert_eq!(state(&all[0]["task"]), "TASK_STATE_WORKING", "{all:?}");
    let id = all[0]["task"]["id"].as_str().unwrap();
    let updates: Vec<_> = all
        .iter()
        .filter_map(|update| update.get("artifactUpdate"))
        .collect();
    let pieces: Vec<_> = updates
        .iter()
        .map(|update| {
            assert_eq!(
                (&update["taskId"], &update["artifact"]["artifactId"]),
                (&json!(id), &json!("story"))
            );
            (
                update["append"] == true,
                update["lastChunk"] == true,
                update["artifact"]["parts"][0]["text"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        pieces,
        [
            (false, false, "A cat"),
            (true, false, " sat."),
            (false, true, "A cat sat.")
        ],
        "{all:?}"
    );
    let says: Vec<_> = all
        .iter()
        .filter_map(|update| update["statusUpdate"]["status"].get("message"))
        .collect();
    assert_eq!(
        (says.len(), &says[0]["metadata"]["author"]),
        (1, &json!("teller")),
        "{all:?}"
    );
    assert_eq!(
        state(&all.last().unwrap()["statusUpdate"]),
        "TASK_STATE_COMPLETED"
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_task_outlives_its_connection_and_is_cancelled() {
    let served = Served::in_memory().await;
    let params =
        json!({"message": text_message("m", "x"), "configuration": {"returnImmediately": true}});
    let sent = call(&served, "hanging", "SendMessage", params).await;
    let task = &sent["result"]["task"];
    assert_eq!(state(task), "TASK_STATE_WORKING", "{sent}");
    let id = json!({"id": task["id"]});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": id});
    let request = || {
        served
            .post("/a2a/hanging", &body)
            .header("a2a-version", "1.0")
            .send()
    };
    drop(request().await.unwrap());
    let mut subscribed = request().await.unwrap();
    let first = subscribed.chunk().await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&first).contains("TASK_STATE_WORKING"));
    let cancelled = call(&served, "hanging", "CancelTask", id.clone()).await;
    assert_eq!(
        state(&cancelled["result"]),
        "TASK_STATE_CANCELED",
        "{cancelled}"
    );
    let rest = sse(&subscribed.text().await.unwrap());
    assert_eq!(
        state(&rest.last().unwrap().2["result"]["statusUpdate"]),
        "TASK_STATE_CANCELED",
        "{rest:?}"
    );
    let again = call(&served, "hanging", "CancelTask", id).await;
    assert_eq!(state(&again["result"]), "TASK_STATE_CANCELED");
    served.stop().await.unwrap();
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

#[tokio::test]
async fn users_see_only_their_own_tasks() {
    let runner = adk::Runner::builder().build().unwrap();
    let with = |server: adk::server::Server<_, _>| {
        server.authorize(by_header).push_to("http://127.0.0.1:1/")
    };
    let served = Served::new(&runner, with).await;
    let ask = |user: &'static str, method: &'static str, params: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = served
            .post("/a2a/approval", &body)
            .header("a2a-version", "1.0")
            .header("x-user", user);
        async { send(request).await.1 }
    };
    let (status, _) = send(served.get("/a2a/approval/.well-known/agent-card.json")).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    let mine = ask(
        "ann",
        "SendMessage",
        json!({"message": text_message("m", "x")}),
    )
    .await;
    let id = mine["result"]["task"]["id"].clone();
    let mut answer = text_message("a", "Publish");
    answer["taskId"] = id.clone();
    for (method, params) in [
        ("GetTask", json!({"id": id})),
        ("CancelTask", json!({"id": id})),
        ("SubscribeToTask", json!({"id": id})),
        ("SendMessage", json!({"message": answer})),
        ("SendStreamingMessage", json!({"message": answer})),
        (
            "CreateTaskPushNotificationConfig",
            json!({"taskId": id, "url": "http://127.0.0.1:1/"}),
        ),
        (
            "GetTaskPushNotificationConfig",
            json!({"taskId": id, "id": "x"}),
        ),
        ("ListTaskPushNotificationConfigs", json!({"taskId": id})),
        (
            "DeleteTaskPushNotificationConfig",
            json!({"taskId": id, "id": "x"}),
        ),
    ] {
        let refused = ask("bob", method, params).await;
        assert_eq!(refused["error"]["code"], -32001, "{method} {refused}");
    }
    let list = ask("bob", "ListTasks", json!({})).await;
    assert_eq!(list["result"]["totalSize"], 0, "{list}");
    let other = ask(
        "bob",
        "SendMessage",
        json!({"message": text_message("m", "y")}),
    )
    .await;
    assert_ne!(
        other["result"]["task"]["id"], id,
        "bob's message with this id starts another task"
    );
    let mine = ask("ann", "SendMessage", json!({"message": answer})).await;
    assert_eq!(
        state(&mine["result"]["task"]),
        "TASK_STATE_COMPLETED",
        "{mine}"
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_task_queued_in_its_context_is_submitted() {
    let served = Served::in_memory().await;
    let message = |id: &str, text: &str| {
        let mut message = text_message(id, text);
        message["contextId"] = json!("s");
        json!({"message": message, "configuration": {"returnImmediately": true}})
    };
    let holder =
        call(&served, "hanging", "SendMessage", message("1", "x")).await["result"]["task"].clone();
    assert_eq!(state(&holder), "TASK_STATE_WORKING", "{holder}");
    let task =
        call(&served, "shouting", "SendMessage", message("2", "a")).await["result"]["task"].clone();
    assert_eq!(state(&task), "TASK_STATE_SUBMITTED", "{task}");
    let listed = call(
        &served,
        "shouting",
        "ListTasks",
        json!({"status": "TASK_STATE_SUBMITTED"}),
    )
    .await;
    assert_eq!(listed["result"]["tasks"][0]["id"], task["id"], "{listed}");
    let id = json!({"id": task["id"]});
    let body = json!({"jsonrpc": "2.0", "id": "s", "method": "SubscribeToTask", "params": id});
    let followed = served
        .post("/a2a/shouting/", &body)
        .header("a2a-version", "1.0")
        .send()
        .await
        .unwrap();
    call(
        &served,
        "hanging",
        "CancelTask",
        json!({"id": holder["id"]}),
    )
    .await;
    let updates = sse(&followed.text().await.unwrap());
    assert_eq!(
        state(&updates[0].2["result"]["task"]),
        "TASK_STATE_SUBMITTED",
        "{updates:?}"
    );
    let last = &updates[updates.len() - 1].2["result"]["statusUpdate"];
    assert_eq!(state(last), "TASK_STATE_COMPLETED", "{updates:?}");
    served.stop().await.unwrap();
}
