use super::*;
use crate::{Content, FunctionCall, FunctionResponse};
use adk_model::Thought;

/// Two rows that google-adk 2.13.0 wrote (`DatabaseSessionService.append_event`).
const USER: &str = r#"{
    "content": {"parts": [{"text": "hi \u00fc"}], "role": "user"},
    "invocation_id": "e-1",
    "author": "user",
    "actions": {
        "state_delta": {},
        "artifact_delta": {},
        "requested_auth_configs": {},
        "requested_tool_confirmations": {}
    },
    "node_info": {"path": ""},
    "id": "64ce02a7-2aa8-4410-88b8-b80d34f6a346",
    "timestamp": 1795295498.056889
}"#;
const MODEL: &str = r#"{
    "model_version": "g",
    "content": {
        "parts": [
            {"text": "t", "thought": true, "thought_signature": "__4B"},
            {
                "function_call": {
                    "id": "adk-1",
                    "args": {"camelKey": {"aB": 1}, "n": null},
                    "name": "f"
                }
            },
            {"inline_data": {"data": "__4B-w==", "display_name": "x", "mime_type": "image/png"}},
            {"executable_code": {"code": "1+1", "language": "PYTHON"}},
            {"file_data": {"file_uri": "gs://a", "mime_type": "x/y"}},
            {
                "function_response": {
                    "will_continue": false,
                    "id": "adk-1",
                    "name": "f",
                    "response": {"result": null}
                }
            }
        ],
        "role": "model"
    },
    "grounding_metadata": {"web_search_queries": ["q"]},
    "partial": false,
    "turn_complete": true,
    "finish_reason": "STOP",
    "error_code": "X",
    "error_message": "m",
    "custom_metadata": {"someKey": {"inNer": 1}},
    "usage_metadata": {
        "candidates_token_count": 4,
        "prompt_token_count": 3,
        "total_token_count": 7
    },
    "invocation_id": "e-1",
    "author": "critic",
    "actions": {
        "skip_summarization": true,
        "state_delta": {"user:n": "Bob", "draft": {"b": 1, "a": null}},
        "artifact_delta": {"a.png": 2},
        "transfer_to_agent": "z",
        "transfer_reason": "r",
        "escalate": false,
        "requested_auth_configs": {},
        "requested_tool_confirmations": {},
        "end_of_agent": true,
        "agent_state": {"times_looped": 1},
        "route": "x"
    },
    "node_info": {"path": "wf@1/critic@2"},
    "long_running_tool_ids": ["adk-1"],
    "branch": "p.a",
    "id": "not a uuid",
    "timestamp": 1795295498.15431
}"#;

/// Asserts that `written` has all fields of `stored`, in any order.
fn assert_within(stored: &Value, written: &Value, place: &str) {
    match (stored, written) {
        (Value::Object(stored), Value::Object(written)) => {
            for (key, value) in stored {
                let found = written
                    .get(key)
                    .unwrap_or_else(|| panic!("{place}.{key} is lost"));
                assert_within(value, found, &format!("{place}.{key}"));
            }
        }
        (Value::Array(stored), Value::Array(written)) => {
            assert_eq!(stored.len(), written.len(), "{place}");
            let both = stored.iter().zip(written).enumerate();
            both.for_each(|(at, (a, b))| assert_within(a, b, &format!("{place}[{at}]")));
        }
        _ => assert_eq!(stored, written, "{place}"),
    }
}

#[test]
fn rows_of_adk_are_read_and_written_unchanged() {
    for row in [USER, MODEL] {
        let event = Event::from_stored(row).unwrap();
        let written: Value = serde_json::from_str(&event.to_stored().unwrap()).unwrap();
        assert_within(&serde_json::from_str(row).unwrap(), &written, "");
        assert_eq!(
            Event::from_stored(&event.to_stored().unwrap()).unwrap(),
            event
        );
    }
    let event = Event::from_stored(MODEL).unwrap();
    assert_eq!(
        (&*event.author, event.branch.as_deref()),
        ("critic", Some("p.a"))
    );
    let content = event.content.as_ref().unwrap();
    let signature = Some("//4B".to_owned());
    assert_eq!(
        content.parts[0],
        Part::from(Thought {
            text: "t".into(),
            signature
        })
    );
    assert_eq!(
        Value::from(content.function_calls().next().unwrap().args.clone()),
        json!({"camelKey": {"aB": 1}, "n": null})
    );
    assert!(
        matches!(&content.parts[2], Part::InlineData(blob) if *blob.data == [0xff, 0xfe, 1, 0xfb])
    );
    assert!(matches!(&content.parts[3], Part::Other(part) if part.contains_key("executable_code")));
    assert_eq!(
        content.function_responses().next().unwrap().response["result"],
        Value::Null
    );
    assert_eq!(event.actions.escalate, Some(false));
    assert_eq!(
        event.actions.state_delta.get("draft").unwrap().to_string(),
        r#"{"b":1,"a":null}"#
    );
    assert_eq!(event.long_running_tool_ids(), ["adk-1"]);
    assert_eq!(event.usage().unwrap().input_tokens, 3);
    assert_eq!(event.custom_metadata()["someKey"], json!({"inNer": 1}));
    assert_eq!(
        (event.timestamp, event.id),
        (1_795_295_498_154_310, EventId::of_text("not a uuid"))
    );
    let unknown = &event.details.as_ref().unwrap().unknown;
    let sources = event.details.as_ref().unwrap().grounding_metadata.as_ref();
    assert_eq!(sources.unwrap()["web_search_queries"], json!(["q"]));
    assert_eq!(unknown["actions"]["transfer_reason"], json!("r"));
    assert_eq!(
        unknown["content"]["parts"][5]["function_response"]["will_continue"],
        json!(false)
    );
    assert_eq!(unknown.get("author"), None);
}

#[test]
fn a_copy_of_a_stored_event_has_its_own_ids() {
    let mut event = Event::from_stored(MODEL).unwrap();
    event.id = EventId::of_text("another");
    let written: Value = serde_json::from_str(&event.to_stored().unwrap()).unwrap();
    assert_eq!(written["id"], json!(event.id.to_string()));
    assert_eq!(written["invocation_id"], json!("e-1"));
}

#[test]
fn data_without_a_field_in_adk_is_stored_in_the_metadata() {
    let call = |malformed: Option<&str>, signature: Option<&str>| {
        let (malformed, signature) = (malformed.map(str::to_owned), signature.map(str::to_owned));
        Part::from(FunctionCall {
            id: "c".into(),
            name: "f".into(),
            signature,
            malformed,
            ..Default::default()
        })
    };
    let response = FunctionResponse {
        id: "c".into(),
        name: "f".into(),
        ..Default::default()
    };
    let parts = vec![
        call(Some("{\"q\": "), None),
        call(None, Some("AQID/w==")),
        call(None, Some("no base64!")),
        Part::from(response),
    ];
    let mut event = Event::new()
        .with_content(Content::new(crate::Role::Model, parts))
        .with_metadata("mine", 1);
    event.timestamp = 1_700_000_000_000_001;
    let stored = event.to_stored().unwrap();
    let value: Value = serde_json::from_str(&stored).unwrap();
    let part = |n: usize| &value["content"]["parts"][n];
    assert_eq!(
        part(0)["function_call"],
        json!({"id": "c", "name": "f", "args": {}})
    );
    assert_eq!(part(1)["thought_signature"], json!("AQID_w=="));
    assert_eq!(
        part(2)["thought_signature"],
        json!(URL_SAFE.encode("no base64!"))
    );
    assert_eq!(value["custom_metadata"]["mine"], json!(1));
    assert_eq!(
        value["custom_metadata"][OWN]["malformed"],
        json!({"0": "{\"q\": "})
    );
    assert_eq!(Event::from_stored(&stored).unwrap(), event);
}

#[test]
fn text_that_is_not_an_event_is_an_error() {
    for text in ["", "[1]", "{\"content\": 3}", "{\"author\": {}}", "null"] {
        let error = Event::from_stored(text).unwrap_err();
        assert_eq!(
            error.kind(),
            ErrorKind::Store(StoreErrorKind::Corrupt),
            "{text}: {error}"
        );
    }
}
