//! Messages that start tasks of A2A, and messages that answer them.

use crate::a2a::{call, say, state, stream, text_message};
use crate::support::{Served, send};
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[tokio::test]
async fn a_message_starts_a_task() {
    let served = Served::in_memory().await;
    let sent = call(
        &served,
        "shouting",
        "SendMessage",
        json!({"message": text_message("m1", "cats")}),
    )
    .await;
    let task = &sent["result"]["task"];
    assert_eq!(state(task), "TASK_STATE_COMPLETED", "{sent}");
    let part = json!({"text": "CATS", "mediaType": "text/plain"});
    let artifact = json!({"artifactId": "draft", "name": "draft", "parts": [part]});
    assert_eq!(task["artifacts"], json!([artifact]));
    assert_eq!(task["history"][0]["role"], "ROLE_USER");
    let (_, run) = send(served.get(&format!("/v1/runs/{}", task["id"].as_str().unwrap()))).await;
    assert_eq!(
        (&run["output"], &run["session"]),
        (&json!("CATS"), &task["contextId"]),
        "the task is the run"
    );

    let mut data = text_message("m2", "twice, please");
    data["parts"]
        .as_array_mut()
        .unwrap()
        .push(json!({"data": {"topic": "dogs", "times": 2}}));
    data["contextId"] = json!("talk");
    let sent = call(
        &served,
        "shouting",
        "SendMessage",
        json!({"message": data, "configuration": {"historyLength": 0}}),
    );
    let sent = sent.await;
    let second = &sent["result"]["task"];
    assert_eq!(
        second["artifacts"][0]["parts"][0]["text"], "DOGS DOGS",
        "{sent}"
    );
    assert_eq!(
        (&second["contextId"], &second["history"]),
        (&json!("talk"), &Value::Null)
    );

    let got = call(&served, "shouting", "GetTask", json!({"id": task["id"]})).await;
    assert_eq!(&got["result"], task);
    let list = call(&served, "shouting", "ListTasks", json!({"pageSize": 1})).await;
    assert_eq!(
        (
            &list["result"]["totalSize"],
            &list["result"]["tasks"][0]["id"]
        ),
        (&json!(2), &second["id"]),
        "{list}"
    );
    let next = json!({"pageToken": list["result"]["nextPageToken"], "includeArtifacts": true});
    let list = call(&served, "shouting", "ListTasks", next).await;
    assert_eq!(
        list["result"]["tasks"].as_array().unwrap().len(),
        1,
        "{list}"
    );
    assert_eq!(&list["result"]["tasks"][0]["artifacts"], &task["artifacts"]);
    assert_eq!(list["result"]["nextPageToken"], "");
    let since = task["status"]["timestamp"].clone();
    for (filter, count) in [
        (json!({"contextId": "talk"}), 1),
        (json!({"contextId": "nothing"}), 0),
        (json!({"status": "TASK_STATE_WORKING"}), 0),
        (
            json!({"status": "TASK_STATE_COMPLETED", "statusTimestampAfter": since}),
            2,
        ),
        (json!({"statusTimestampAfter": "2100-01-01T00:00:00Z"}), 0),
    ] {
        let list = call(&served, "shouting", "ListTasks", filter.clone()).await;
        assert_eq!(list["result"]["totalSize"], count, "{filter} {list}");
    }
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_failed_run_is_a_failed_task() {
    let served = Served::in_memory().await;
    let failed = say(&served, "failing", text_message("m1", "dogs")).await;
    assert_eq!(state(&failed), "TASK_STATE_FAILED");
    let why = failed["status"]["message"]["parts"][0]["text"]
        .as_str()
        .unwrap();
    assert!(
        why.contains("cannot write about dogs") && why.contains("help: ask for another"),
        "{why}"
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_repeated_message_starts_no_second_task() {
    let served = Served::in_memory().await;
    let ask = |name: &'static str, id: &'static str| {
        let params = json!({"message": text_message(id, "cats")});
        async { call(&served, name, "SendMessage", params).await["result"]["task"].clone() }
    };
    let same = futures_util::future::join_all((0..8).map(|_| ask("shouting", "m"))).await;
    let ids: BTreeSet<_> = same.iter().map(|task| task["id"].to_string()).collect();
    assert_eq!(ids.len(), 1, "{same:?}");
    assert!(
        same.iter()
            .all(|task| state(task) == "TASK_STATE_COMPLETED"),
        "{same:?}"
    );
    assert_ne!(ask("shouting", "n").await["id"], same[0]["id"]);
    // A repeated message retries a failed or cancelled task.
    assert_ne!(
        ask("failing", "m").await["id"],
        ask("failing", "m").await["id"]
    );
    let begin =
        json!({"message": text_message("m", "x"), "configuration": {"returnImmediately": true}});
    let hanging = async || {
        call(&served, "hanging", "SendMessage", begin.clone()).await["result"]["task"]["id"].clone()
    };
    let first = hanging().await;
    assert_eq!(hanging().await, first);
    call(&served, "hanging", "CancelTask", json!({"id": first})).await;
    assert_ne!(hanging().await, first);
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_message_answers_a_waiting_task() {
    let served = Served::in_memory().await;
    let sent = call(
        &served,
        "approval",
        "SendMessage",
        json!({"message": text_message("m", "cats")}),
    )
    .await;
    let task = &sent["result"]["task"];
    assert_eq!(state(task), "TASK_STATE_INPUT_REQUIRED", "{sent}");
    let parts = &task["status"]["message"]["parts"];
    assert_eq!(parts[0]["text"], "May this be published? CATS CATS");
    assert!(
        parts[1]["data"]["schema"].is_object() && parts[1]["data"]["id"].is_string(),
        "{parts}"
    );
    let answer = |id: &str, part: Value| {
        let message =
            json!({"messageId": id, "role": "ROLE_USER", "taskId": task["id"], "parts": [part]});
        json!({ "message": message })
    };
    for part in [
        json!({"text": "perhaps"}),
        json!({"data": {"Revise": {}}}),
        json!({"data": 7}),
    ] {
        let refused = call(&served, "approval", "SendMessage", answer("a", part)).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    let mut elsewhere = answer("a", json!({"text": "Publish"}));
    elsewhere["message"]["contextId"] = json!("elsewhere");
    assert_eq!(
        call(&served, "approval", "SendMessage", elsewhere).await["error"]["code"],
        -32602
    );
    let mut unknown = answer("a", json!({"text": "Publish"}));
    unknown["message"]["metadata"] = json!({"wait": "nothing"});
    assert_eq!(
        call(&served, "approval", "SendMessage", unknown).await["error"]["code"],
        -32602
    );
    let subscribed = stream(
        &served,
        "approval",
        "SubscribeToTask",
        json!({"id": task["id"]}),
    )
    .await;
    assert_eq!(
        (subscribed.len(), state(&subscribed[0]["task"])),
        (1, "TASK_STATE_INPUT_REQUIRED"),
        "{subscribed:?}"
    );

    let part = json!({"data": {"Revise": {"note": "shorter"}}});
    let all = stream(
        &served,
        "approval",
        "SendStreamingMessage",
        answer("a", part),
    )
    .await;
    assert_eq!(state(&all[0]["task"]), "TASK_STATE_WORKING", "{all:?}");
    let post = all
        .iter()
        .filter_map(|update| update.get("artifactUpdate"))
        .next_back()
        .unwrap();
    assert_eq!(post["artifact"]["parts"][0]["text"], "CATS CATS (shorter)");
    assert_eq!(
        state(&all.last().unwrap()["statusUpdate"]),
        "TASK_STATE_COMPLETED"
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_repeated_answer_returns_the_task() {
    let served = Served::in_memory().await;
    let task = say(&served, "approval", text_message("n", "dogs")).await;
    let mut answer = text_message("b", "Publish");
    answer["taskId"] = task["id"].clone();
    for _ in 0..2 {
        // The second message repeats the first, as if its response was lost.
        let ended = say(&served, "approval", answer.clone()).await;
        assert_eq!(state(&ended), "TASK_STATE_COMPLETED", "{ended}");
    }
    served.stop().await.unwrap();
}
