//! Tests of all kinds of failures of a model.

use super::*;
use adk_build::model::ModelErrorKind as Kind;
use std::time::Duration;

#[tokio::test]
async fn refused_requests_have_the_same_error_kinds_streamed_or_not() {
    let cases = [
        (400, "the request is wrong", Kind::InvalidRequest),
        (422, "a field is wrong", Kind::InvalidRequest),
        (502, "a bad gateway", Kind::Unavailable),
    ];
    for (name, stream) in everywhere() {
        let replies = cases.map(|(status, message, _)| Reply::status(status).message(message));
        let server = WireServer::start(replies).await;
        let model = model(&server, name);
        for (status, message, kind) in cases {
            let (pieces, error) = fail(&model, request("hi", stream)).await;
            let at = format!("{name} {stream} {status}: {error}");
            assert_eq!(error.kind(), kind, "{at}");
            assert!(pieces.is_empty(), "{at}");
            let text = error.to_string();
            for part in [message, name, &status.to_string()] {
                assert!(text.contains(part), "{at}");
            }
            assert_eq!(error.is_retryable(), kind == Kind::Unavailable, "{at}");
        }
        // Each request was sent once.
        assert_eq!(server.requests().len(), cases.len());
    }
}

#[tokio::test]
async fn the_time_to_wait_is_found_in_both_forms_streamed_or_not() {
    for (name, stream) in everywhere() {
        for (status, value, wait) in [
            (429, "7", Some(7)),
            (503, "7", Some(7)),
            (429, "Sat, 21 Nov 2026 00:00:20 GMT", Some(30)),
            (429, "soon", None),
        ] {
            let server = WireServer::start([Reply::status(status)
                .header("retry-after", value)
                .header("date", "Fri, 20 Nov 2026 23:59:50 GMT")
                .message("slow down")])
            .await;
            let (_, error) = fail(&model(&server, name), request("hi", stream)).await;
            assert_eq!(
                error.retry_after(),
                wait.map(Duration::from_secs),
                "{name} {stream} {value}: {error}"
            );
        }
    }
}

#[tokio::test]
async fn no_server_is_a_connection_error() {
    // A socket that is bound and does not listen refuses connections, and no other test gets its
    // port.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let nowhere = format!("http://{}", socket.local_addr().unwrap());
    for (name, stream) in everywhere() {
        let genai = Genai::builder()
            .base_url(&nowhere)
            .api_key(KEY)
            .build()
            .unwrap();
        let (_, error) = fail(&genai.model(name).unwrap(), request("hi", stream)).await;
        assert_eq!(error.kind(), Kind::Connection, "{name} {stream}: {error}");
        assert!(error.to_string().contains("refused"), "{error}");
    }
}

#[tokio::test]
async fn a_stream_that_breaks_before_words_is_retryable() {
    for (name, stream) in everywhere() {
        let server =
            WireServer::start([Reply::text("one two three four").split(8).break_after(0)]).await;
        let (pieces, error) = fail(&model(&server, name), request("hi", stream)).await;
        assert!(pieces.is_empty(), "{name}");
        assert_eq!(error.kind(), Kind::Connection, "{name} {stream}: {error}");
    }
}

#[tokio::test]
async fn a_stream_that_ends_too_early_is_broken_even_if_it_is_closed_regularly() {
    for name in ALL {
        for (events, kind) in [(0, Kind::Connection), (5, Kind::BrokenStream)] {
            let server =
                WireServer::start([Reply::text("one two three four").split(8).end_after(events)])
                    .await;
            let (_, error) = fail(&model(&server, name), request("hi", true)).await;
            assert_eq!(error.kind(), kind, "{name} {events}: {error}");
        }
    }
}

#[tokio::test]
async fn an_incomplete_call_is_an_error() {
    for name in [OPENAI, RESPONSES, ANTHROPIC] {
        let call = Reply::new()
            .call("get_weather", json!({"city": "Paris"}))
            .split(8);
        let server = WireServer::start([call.break_after(5)]).await;
        let (pieces, error) = fail(&model(&server, name), request("hi", true)).await;
        assert!(pieces.is_empty(), "{name}");
        // No piece of the answer was delivered, so the call may be retried.
        assert_eq!(error.kind(), Kind::Connection, "{name}: {error}");
    }
}

#[tokio::test]
async fn a_body_without_an_answer_is_an_error() {
    for name in ALL {
        for (content_type, body) in [
            ("application/json", "{\"choices\": ["),
            ("application/json", "[]"),
            ("application/json", "{\"candidates\": 7, \"choices\": 7}"),
        ] {
            let server = WireServer::start([Reply::raw(content_type, body)]).await;
            let (_, error) = fail(&model(&server, name), request("hi", false)).await;
            assert_eq!(
                error.kind(),
                Kind::InvalidResponse,
                "{name} {body}: {error}"
            );
        }
    }
    for name in [OPENAI, GEMINI] {
        let server =
            WireServer::start([Reply::events(["data: {\"choices\": [", "data: [DONE]"])]).await;
        let (_, error) = fail(&model(&server, name), request("hi", true)).await;
        assert_eq!(error.kind(), Kind::InvalidResponse, "{name}: {error}");
    }
}

#[tokio::test]
async fn a_web_page_is_reported_streamed_or_not() {
    for (name, stream) in everywhere() {
        for (content_type, body, shown) in [
            ("text/html", "Welcome to the proxy", "Welcome to the proxy"),
            (
                "text/event-stream",
                "<!doctype html><title>Log in</title><p>...",
                ": Log in;",
            ),
            (
                "application/json",
                "\n <html><body>Hello",
                "<html><body>Hello",
            ),
        ] {
            let server = WireServer::start([Reply::raw(content_type, body)]).await;
            let (_, error) = fail(&model(&server, name), request("hi", stream)).await;
            assert_eq!(
                error.kind(),
                Kind::InvalidResponse,
                "{name} {stream} {body}: {error}"
            );
            assert!(error.to_string().contains("a web page"), "{error}");
            assert!(error.to_string().contains(shown), "{error}");
        }
    }
    let page = "<html><head><title>502 Bad Gateway</title></head></html>";
    let server = WireServer::start([Reply::status(502).message(page)]).await;
    let (_, error) = fail(&model(&server, OPENAI), request("hi", true)).await;
    assert!(
        error.to_string().contains("(502): 502 Bad Gateway"),
        "{error}"
    );
}

#[tokio::test]
async fn an_error_in_a_successful_response_has_its_kind() {
    for name in ALL {
        let body = json!({"error": {"message": "quota", "type": "rate_limit_error", "code": 429}});
        let server = WireServer::start([Reply::raw("application/json", &body.to_string())]).await;
        let (_, error) = fail(&model(&server, name), request("hi", false)).await;
        assert_eq!(error.kind(), Kind::RateLimited, "{name}: {error}");
    }
}

#[tokio::test]
async fn an_error_inside_of_a_stream_has_its_kind() {
    let overloaded =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let quota = json!({"error": {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED"}});
    let server_error = json!({"error": {"message": "trouble", "type": "server_error"}});
    let failed = json!({"type": "response.failed", "response": {
        "id": "r", "object": "response", "created_at": 1, "status": "failed", "model": "m",
        "output": [],
        "error": {"code": "rate_limit_exceeded", "message": "too fast"},
    }});
    for (name, event, kind) in [
        (
            ANTHROPIC,
            format!("event: error\ndata: {overloaded}"),
            Kind::Unavailable,
        ),
        (GEMINI, format!("data: {quota}"), Kind::RateLimited),
        (OPENAI, format!("data: {server_error}"), Kind::Unavailable),
        (
            RESPONSES,
            format!("event: response.failed\ndata: {failed}"),
            Kind::RateLimited,
        ),
    ] {
        let server = WireServer::start([Reply::events([event])]).await;
        let (_, error) = fail(&model(&server, name), request("hi", true)).await;
        assert_eq!(error.kind(), kind, "{name}: {error}");
    }
    let word =
        json!({"choices": [{"index": 0, "delta": {"content": "Well, "}, "finish_reason": null}]});
    let server = WireServer::start([Reply::events([
        format!("data: {word}"),
        format!("data: {server_error}"),
    ])])
    .await;
    let (pieces, error) = fail(&model(&server, OPENAI), request("hi", true)).await;
    assert_eq!(
        (said(&pieces).as_str(), error.kind()),
        ("Well, ", Kind::BrokenStream)
    );
}

#[tokio::test]
async fn malformed_arguments_are_kept_for_the_agent_to_answer() {
    let bad = r#"{"city": "Par"#;
    for (name, stream) in everywhere() {
        let server = WireServer::start([Reply::text("Hm.")
            .raw_call("get_weather", bad)
            .call("get_weather", json!({"city": "Rome"}))
            .usage(8, 9)])
        .await;
        let mut request = request("weather?", stream);
        request.tools = vec![weather()];
        let (_, response) = ask(&model(&server, name), request).await;
        let at = format!("{name} {stream}");
        let calls = called(&response);
        assert_eq!(calls.len(), 2, "{at}");
        assert_eq!(calls[0].malformed.as_deref(), Some(bad), "{at}");
        assert!(calls[0].args.is_empty(), "{at}");
        assert_eq!(calls[1].args["city"], "Rome", "{at}");
        // Malformed arguments do not damage the rest of the answer.
        assert_eq!(
            (
                response.content.text().as_str(),
                response.usage.input_tokens
            ),
            ("Hm.", 8),
            "{at}"
        );
    }
}

#[tokio::test]
async fn missing_arguments_are_an_empty_object() {
    for (name, stream) in everywhere().filter(|(name, _)| matches!(*name, OPENAI | RESPONSES)) {
        let server = WireServer::start([Reply::new().raw_call("exit_loop", "")]).await;
        let (_, response) = ask(&model(&server, name), request("go", stream)).await;
        assert_eq!(called(&response)[0].malformed, None, "{name} {stream}");
    }
}

#[tokio::test]
async fn a_call_of_an_unknown_tool_is_delivered() {
    for (name, stream) in everywhere() {
        let server = WireServer::start([Reply::new().call("no_such_tool", json!({"a": 1}))]).await;
        let mut request = request("go", stream);
        request.tools = vec![weather()];
        let (_, response) = ask(&model(&server, name), request).await;
        assert_eq!(called(&response)[0].name, "no_such_tool", "{name} {stream}");
    }
}

/// An error in the body of an answer that began successfully.
#[tokio::test]
async fn a_failed_answer_is_an_error_with_the_words_of_the_provider() {
    use adk_build::model::ModelErrorKind::{
        InvalidRequest, RateLimited, Unauthorized, Unavailable,
    };
    let kinds = [
        ("server_error", Unavailable),
        ("rate_limit_exceeded", RateLimited),
        ("invalid_prompt", InvalidRequest),
        ("insufficient_quota", Unauthorized),
    ];
    for (code, kind) in kinds {
        let error = json!({"code": code, "message": "the words of the provider"});
        let failed = json!({
            "id": "r", "object": "response", "status": "failed", "model": "gpt-5", "output": [],
            "error": error,
        });
        let choice = json!({
            "index": 0, "finish_reason": "error", "error": error,
            "message": {"role": "assistant", "content": ""},
        });
        let mut chat = json!({"id": "c", "model": "m", "object": "chat.completion", "created": 1});
        chat["choices"] = json!([choice]);
        for (name, body) in [(RESPONSES, &failed), (OPENAI, &chat)] {
            let reply = Reply::raw("application/json", &body.to_string());
            let server = WireServer::start([reply]).await;
            let (_, error) = fail(&model(&server, name), request("go", false)).await;
            assert_eq!(error.kind(), kind, "{name}, {code}: {error}");
            assert!(
                error.to_string().contains("the words of the provider"),
                "{error}"
            );
        }
        let created = json!({"type": "response.created", "response": {
            "id": "r", "object": "response", "status": "in_progress", "model": "gpt-5", "output": [],
        }});
        let failed = json!({"type": "response.failed", "response": failed});
        let mut events = String::new();
        for event in [created, failed] {
            let name = event["type"].as_str().unwrap();
            events.push_str(&format!("event: {name}\ndata: {event}\n\n"));
        }
        let server = WireServer::start([Reply::raw("text/event-stream", &events)]).await;
        let (_, error) = fail(&model(&server, RESPONSES), request("go", true)).await;
        assert_eq!(error.kind(), kind, "streamed, {code}: {error}");
        assert!(
            error.to_string().contains("the words of the provider"),
            "{error}"
        );
    }
    let silent = json!({"id": "r", "object": "response", "status": "failed", "model": "gpt-5", "output": []});
    let reply = Reply::raw("application/json", &silent.to_string());
    let server = WireServer::start([reply]).await;
    let (_, error) = fail(&model(&server, RESPONSES), request("go", false)).await;
    assert_eq!(error.kind(), Unavailable, "{error}");
}
