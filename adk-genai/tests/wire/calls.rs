//! Tests of calls as servers really send them: duplicate ids, invalid indices, streams without an
//! end mark.

use super::*;

fn cities(response: &ModelResponse) -> Vec<String> {
    called(response)
        .iter()
        .map(|call| call.args["city"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Returns the events of a stream with two calls, in two pieces each.
fn stream(indices: &[Value; 2], ids: [&str; 2]) -> Vec<String> {
    let chunk = |delta: Value, finish: Value| {
        format!(
            "data: {}",
            json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
        )
    };
    let mut events = vec![chunk(
        json!({"role": "assistant", "content": "Hm."}),
        Value::Null,
    )];
    for ((index, id), city) in indices.iter().zip(ids).zip(["Paris", "Rome"]) {
        for (id, name, arguments) in [
            (Some(id), Some("get_weather"), "{\"city\":".to_owned()),
            (None, None, format!(" \"{city}\"}}")),
        ] {
            let mut piece = json!({"id": id, "function": {"name": name, "arguments": arguments}});
            if index != "none" {
                piece["index"] = index.clone();
            }
            events.push(chunk(json!({"tool_calls": [piece]}), Value::Null));
        }
    }
    events.push(chunk(json!({}), json!("tool_calls")));
    events.push(
        "data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 7, \"completion_tokens\": 9}}"
            .to_owned(),
    );
    events
}

#[tokio::test]
async fn a_stream_of_calls_is_read_with_any_numbers_and_any_end() {
    for indices in [
        [json!(0), json!(1)],
        [json!(0), json!(0)],
        [json!("none"), json!("none")],
        [json!(null), json!(null)],
        [json!("0"), json!("1")],
        [json!(4_000_000_000_u32), json!(4_000_000_001_u32)],
    ] {
        for ids in [["x", "y"], ["x", "x"]] {
            for ends in [true, false] {
                let mut events = stream(&indices, ids);
                if ends {
                    events.push("data: [DONE]".to_owned());
                }
                let server = WireServer::start([Reply::events(events)]).await;
                let (pieces, response) = ask(&model(&server, OPENAI), request("hi", true)).await;
                let at = format!("{indices:?} {ids:?} {ends}");
                assert_eq!(cities(&response), ["Paris", "Rome"], "{at}");
                assert_eq!(
                    (said(&pieces).as_str(), response.content.text().as_str()),
                    ("Hm.", "Hm."),
                    "{at}"
                );
                assert_eq!(
                    (response.usage.input_tokens, response.usage.output_tokens),
                    (7, 9),
                    "{at}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_stream_that_stops_inside_an_event_is_retryable() {
    let server = WireServer::start([Reply::raw(
        "text/event-stream",
        "data: {\"choices\": [{\"del",
    )])
    .await;
    let (_, error) = fail(&model(&server, OPENAI), request("hi", true)).await;
    assert_eq!(
        error.kind(),
        adk_build::model::ModelErrorKind::Connection,
        "{error}"
    );
    assert!(error.is_retryable());
}

#[tokio::test]
async fn an_event_ends_with_any_end_of_line() {
    for end in ["\n\n", "\r\n\r\n", "\r\r"] {
        let mut events = stream(&[json!(0), json!(1)], ["x", "y"]);
        events.retain(|event| !event.contains("[DONE]"));
        let body: String = events.iter().flat_map(|event| [event, end]).collect();
        let server = WireServer::start([Reply::raw("text/event-stream", &body)]).await;
        let (_, response) = ask(&model(&server, OPENAI), request("hi", true)).await;
        assert_eq!(cities(&response), ["Paris", "Rome"], "{end:?}");
    }
}

#[tokio::test]
async fn a_stream_that_stops_without_a_reason_is_broken() {
    // Some servers send an empty reason with each piece.
    for reason in ["null", "\"\""] {
        let events = stream(&[json!(0), json!(1)], ["x", "y"])
            .into_iter()
            .take(3);
        let finish = format!("\"finish_reason\":{reason}");
        let events = events.map(|event| event.replace("\"finish_reason\":null", &finish));
        let server = WireServer::start([Reply::events(events)]).await;
        let (_, error) = fail(&model(&server, OPENAI), request("hi", true)).await;
        assert_eq!(
            error.kind(),
            adk_build::model::ModelErrorKind::BrokenStream,
            "{error}"
        );
        assert!(
            error.to_string().contains("before it was complete"),
            "{error}"
        );
    }
}
