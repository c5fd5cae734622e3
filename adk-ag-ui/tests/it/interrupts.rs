//! Interrupts, and the answers of clients.

use crate::fixtures::{code, fields, final_status, message, outcome, resume, run, served};
use adk::testing::ScriptedModel;
use serde_json::{Value, json};

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
