//! The official client, which validates all events.

use crate::fixtures::{final_status, served, with};
use crate::support::Served;
use adk::server::{Caller, Refusal};
use adk::testing::{Reply, ScriptedModel};
use serde_json::json;

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
