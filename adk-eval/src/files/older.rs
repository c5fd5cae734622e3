//! The older schema of evalsets: a list of objects. It is read, never written.
//!
//! An object is either a case with its turns under `data`, or a turn with its `query`. All turns
//! without a case are one case.

use super::read::mismatch;
use crate::schema::Mismatch;
use adk_core::Result;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Converts the cases of a file to the current schema.
pub(super) fn convert(cases: Vec<Value>, name: &str) -> Result<Value> {
    let id = stem(name);
    let converted = if cases.iter().any(|case| case.get("query").is_some()) {
        turns(&cases).map(|turns| vec![json!({"eval_id": id, "conversation": turns})])
    } else {
        cases.iter().enumerate().map(case).collect()
    };
    let cases = converted.map_err(|error| mismatch(error, name))?;
    Ok(json!({"eval_set_id": id, "name": id, "eval_cases": cases}))
}

/// `evals/desk.test.json` to `desk`.
fn stem(name: &str) -> &str {
    let file = Path::new(name).file_name().and_then(|file| file.to_str());
    let file = file.unwrap_or(name);
    file.split('.').next().unwrap_or(file)
}

fn case((place, case): (usize, &Value)) -> Result<Value, Mismatch> {
    let place = format!("[{place}]");
    let data = case.get("data").and_then(Value::as_array);
    let data = data.ok_or_else(|| lacks(&place, "data"))?;
    let conversation = turns(data).map_err(|error| Mismatch {
        place: format!("{place}.data{}", error.place),
        ..error
    })?;
    let session = case.get("initial_session").and_then(Value::as_object);
    let session = session
        .filter(|session| !session.is_empty())
        .map(|session| {
            let text = |name| session.get(name).cloned().unwrap_or_else(|| json!(""));
            let state = session.get("state").cloned().unwrap_or_else(|| json!({}));
            json!({"app_name": text("app_name"), "user_id": text("user_id"), "state": state})
        });
    let id = case.get("name").ok_or_else(|| lacks(&place, "name"))?;
    Ok(json!({"eval_id": id, "conversation": conversation, "session_input": session}))
}

fn turns(turns: &[Value]) -> Result<Vec<Value>, Mismatch> {
    turns.iter().enumerate().map(turn).collect()
}

fn turn((place, turn): (usize, &Value)) -> Result<Value, Mismatch> {
    let place = format!("[{place}]");
    let query = turn.get("query").ok_or_else(|| lacks(&place, "query"))?;
    let reference = turn.get("reference").cloned().unwrap_or_else(|| json!(""));
    let uses = list(turn, "expected_tool_use").map(|used| {
        let name = used
            .get("tool_name")
            .ok_or_else(|| lacks(&place, "tool_name"))?;
        let args = used
            .get("tool_input")
            .ok_or_else(|| lacks(&place, "tool_input"))?;
        Ok(json!({"name": name, "args": args}))
    });
    let responses = list(turn, "expected_intermediate_agent_responses").map(|response| {
        let author = response
            .get("author")
            .ok_or_else(|| lacks(&place, "author"))?;
        let text = response.get("text").ok_or_else(|| lacks(&place, "text"))?;
        Ok(json!([author, [{"text": text}]]))
    });
    Ok(json!({
        "user_content": {"parts": [{"text": query}], "role": "user"},
        "final_response": {"parts": [{"text": reference}], "role": "model"},
        "intermediate_data": {
            "tool_uses": uses.collect::<Result<Vec<_>, Mismatch>>()?,
            "intermediate_responses": responses.collect::<Result<Vec<_>, Mismatch>>()?,
        },
    }))
}

fn list<'a>(turn: &'a Value, name: &str) -> impl Iterator<Item = &'a Map<String, Value>> {
    let list = turn.get(name).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_object)
}

fn lacks(place: &str, field: &str) -> Mismatch {
    Mismatch {
        place: place.to_owned(),
        fact: format!("lacks the field `{field}` of the older schema"),
        help: None,
    }
}
