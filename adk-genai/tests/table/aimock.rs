//! The table against a foreign mock server, `@copilotkit/aimock`, whose wire formats were written
//! by others.
//!
//! `tests/peers/run-aimock.sh cargo test -p adk-workflow-genai --test table -- --ignored` starts
//! the mock server and sets `ADK_AIMOCK`. These tests are ignored by a plain `cargo test`, which
//! needs neither npm nor a server.

use crate::ask::{Providers, ask, request, results};
use crate::cell::{Case, cases, columns, formats};
use crate::same;
use serde_json::Value;

/// Reports whether the mock server supports a case.
fn can(case: Case<'_>) -> bool {
    match case.column.name.as_str() {
        // The mock neither falls silent nor reports a disconnected client, and has no form for the
        // other cases.
        "slow before"
        | "slow in the stream"
        | "cancel on drop"
        | "cut in a call"
        | "refused"
        | "empty"
        | "image answered"
        | "error in the stream" => false,
        // In all other formats, the mock reports a normal end.
        "blocked" => case.format.name == "OpenAI chat",
        "usage" => case.format.name != "Ollama",
        _ => true,
    }
}

#[tokio::test]
#[ignore = "needs the mock server that tests/peers/run-aimock.sh starts"]
async fn every_cell_holds_against_a_foreign_mock_server() {
    let url = std::env::var("ADK_AIMOCK")
        .expect("`tests/peers/run-aimock.sh` starts the server and sets ADK_AIMOCK");
    let url = url.trim_end_matches('/');
    let providers = Providers::new(url);
    let columns = columns();
    let mut wrong = Vec::new();
    let mut tried = 0;
    for format in &formats() {
        for case in cases(&columns, format).filter(|case| can(*case)) {
            tried += 1;
            if let Err(what) = hold(case, url, &providers).await {
                wrong.push(format!("{}: {what}", case.at()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {tried} cells:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(tried > 150, "{tried}");
}

/// Removes results that the mock cannot provide. It counts tokens only in the case about tokens,
/// and there neither cached ones nor thoughts; and call ids are arbitrary in formats that do not
/// require them.
fn comparable(case: Case<'_>, mut gave: Value) -> Value {
    for call in gave["calls"]
        .as_array_mut()
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        if matches!(case.format.name.as_str(), "Gemini" | "Ollama") {
            call.remove("id");
        }
    }
    if gave["calls"].is_null() {
        gave.as_object_mut().map(|gave| gave.remove("calls"));
    }
    if case.column.name != "usage" {
        gave.as_object_mut().map(|gave| gave.remove("usage"));
    } else if let Some(usage) = gave["usage"].as_object_mut() {
        usage.retain(|name, _| matches!(name.as_str(), "input" | "output"));
    }
    gave
}

/// Returns the requests after the first `from`.
async fn journal(url: &str, from: usize) -> Result<Vec<Value>, String> {
    let log = reqwest::get(format!("{url}/__aimock/journal?offset={from}")).await;
    let log = log
        .map_err(|error| error.to_string())?
        .text()
        .await
        .map_err(|error| error.to_string())?;
    serde_json::from_str(&log).map_err(|error| format!("{error}: {log}"))
}

async fn hold(case: Case<'_>, url: &str, providers: &Providers) -> Result<(), String> {
    let model = providers.model(case);
    let before = journal(url, 0).await?.len();
    let said = ask(&*model, request(case)).await;
    let refused = case.gives().get("requests").is_some();
    if !refused {
        same(
            "came",
            &comparable(case, said.gave(case)),
            &comparable(case, case.gives().clone()),
        )?;
    }
    if case.column.name == "parallel calls" {
        let response = said.end.map_err(|error| error.to_string())?;
        let said = ask(&*model, results(request(case), response)).await;
        let text = said.end.map_err(|error| error.to_string())?.content.text();
        same("came of the results", &text.into(), &"Hello there.".into())?;
    }
    let log = journal(url, before).await?;
    same("requests", &log.is_empty().into(), &refused.into())?;
    let Some(last) = log.last() else {
        return Ok(());
    };
    same("path", &last["path"], &case.path().into())?;
    heard(case, &last["body"])
}

/// Checks the last request as the mock recorded it, in one form for all formats.
fn heard(case: Case<'_>, body: &Value) -> Result<(), String> {
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let with_role = |role: &str| {
        messages
            .iter()
            .filter(|message| message["role"] == role)
            .collect::<Vec<_>>()
    };
    same("instructions", &with_role("system").len().into(), &1.into())?;
    if !with_role("user")
        .iter()
        .any(|message| message["content"].to_string().contains(&case.column.name))
    {
        return Err(format!("it did not hear the question: {body}"));
    }
    if case.column.name == "parallel calls" {
        let texts: Vec<_> = with_role("tool")
            .iter()
            .map(|message| message["content"].to_string())
            .collect();
        if !matches!(&texts[..], [a, b] if a.contains("sunny") && b.contains("rainy")) {
            return Err(format!("it did not hear the results: {body}"));
        }
    }
    Ok(())
}
