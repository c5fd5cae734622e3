//! Tests of the limits of an answer: bytes after decompression, and depth.

use super::*;
use adk_build::model::ModelErrorKind as Kind;
use std::io::Write as _;

const LIMIT: usize = 64 * 1024;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

fn limited(server: &WireServer, name: &str) -> Arc<dyn Model> {
    let genai = Genai::builder()
        .base_url(server.url())
        .api_key(KEY)
        .answer_limit(LIMIT)
        .build();
    genai
        .expect("the settings are right")
        .model(name)
        .expect("the name is known")
}

fn plain_and_compressed(reply: Reply) -> [Reply; 2] {
    [reply.clone(), reply.gzip(gzip)]
}

#[tokio::test]
async fn an_answer_longer_than_the_limit_is_refused() {
    for (name, stream) in everywhere() {
        // A streamed answer gets a line without an end.
        for reply in plain_and_compressed(Reply::text("one two three four").padding(1 << 20)) {
            let server = WireServer::start([reply]).await;
            let (_, error) = fail(&limited(&server, name), request("hi", stream)).await;
            let at = format!("{name} {stream}: {error}");
            assert_eq!(error.kind(), Kind::InvalidResponse, "{at}");
            assert!(!error.is_retryable(), "{at}");
            let limit = if stream { LIMIT / 4 } else { LIMIT };
            let text = error.to_string();
            assert!(
                text.contains(name) && text.contains(&format!("{limit} bytes")),
                "{at}"
            );
            assert!(text.contains("answer_limit"), "{at}");
        }
    }
}

/// genai rescans an unfinished event with each piece, so it must get whole events.
#[tokio::test]
async fn an_endless_event_ends_and_a_long_one_is_read() {
    let server = WireServer::start([Reply::raw(
        "text/event-stream",
        &"data: {\"x\":".repeat(2 << 20),
    )])
    .await;
    let (_, error) = fail(&model(&server, OPENAI), request("hi", true)).await;
    assert!(error.to_string().contains("16777216 bytes"), "{error}");
    let text = "x".repeat(15 << 20);
    let delta =
        json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]});
    let server = WireServer::start([Reply::raw(
        "text/event-stream",
        &format!("data: {delta}\n\n"),
    )])
    .await;
    let (_, response) = ask(&model(&server, OPENAI), request("hi", true)).await;
    assert_eq!(response.content.text(), text);
}

#[tokio::test]
async fn a_stream_of_many_short_events_has_the_same_limit() {
    for name in ALL {
        let reply = Reply::text("one two three four five six")
            .split(16)
            .padding(8 * 1024);
        for reply in plain_and_compressed(reply) {
            let server = WireServer::start([reply]).await;
            let (pieces, error) = fail(&limited(&server, name), request("hi", true)).await;
            assert_eq!(error.kind(), Kind::InvalidResponse, "{name}: {error}");
            assert!(
                error.to_string().contains(&format!("{LIMIT} bytes")),
                "{name}: {error}"
            );
            // Pieces before the limit were delivered.
            assert!(said(&pieces).starts_with("on"), "{name}: {pieces:?}");
        }
    }
}

#[tokio::test]
async fn an_answer_within_the_limit_is_read_compressed_or_not() {
    for (name, stream) in everywhere() {
        let reply = Reply::text("one two three four").padding(1024).usage(7, 5);
        for reply in plain_and_compressed(reply) {
            let server = WireServer::start([reply]).await;
            let (_, response) = ask(&limited(&server, name), request("hi", stream)).await;
            let found = (response.content.text(), response.usage.input_tokens);
            assert_eq!(found, ("one two three four".into(), 7), "{name} {stream}");
        }
    }
}

#[tokio::test]
async fn the_body_of_an_error_is_read_up_to_a_limit_of_its_own() {
    for (name, stream) in everywhere() {
        // The body ends after 512 KiB, which is beyond the limit.
        let reply = Reply::status(400)
            .message("the request is wrong")
            .padding(1 << 20)
            .break_after(0);
        let server = WireServer::start([reply]).await;
        let (_, error) = fail(&model(&server, name), request("hi", stream)).await;
        assert_eq!(
            error.kind(),
            Kind::InvalidRequest,
            "{name} {stream}: {error}"
        );
        assert!(
            error.to_string().contains("the request is wrong"),
            "{name} {stream}: {error}"
        );
    }
}

fn nested(depth: usize) -> String {
    format!(
        "{{\"x\":{}1{}}}",
        "[".repeat(depth - 1),
        "]".repeat(depth - 1)
    )
}

#[tokio::test]
async fn arguments_that_are_nested_too_deep_are_refused() {
    for (name, stream) in everywhere() {
        for (depth, fits) in [
            (100, true),
            (101, false),
            (110, false),
            (1000, false),
            (100_000, false),
        ] {
            let server =
                WireServer::start([Reply::new().raw_call("get_weather", &nested(depth))]).await;
            let model = model(&server, name);
            let at = format!("{name} {stream} {depth}");
            if fits {
                let (_, response) = ask(&model, request("hi", stream)).await;
                assert!(called(&response)[0].args["x"].is_array(), "{at}");
                continue;
            }
            let (_, error) = fail(&model, request("hi", stream)).await;
            assert_eq!(error.kind(), Kind::InvalidResponse, "{at}: {error}");
            let text = error.to_string();
            assert!(
                text.contains("`get_weather`") && text.contains("deeper than 100"),
                "{at}: {text}"
            );
        }
    }
}

#[tokio::test]
async fn a_value_as_an_answer_has_the_depth_limit_of_arguments() {
    for (name, stream) in everywhere() {
        for (depth, fits) in [(100, true), (101, false), (100_000, false)] {
            let server = WireServer::start([Reply::text(&nested(depth))]).await;
            let mut request = request("hi", stream);
            request.response_schema = Some(Arc::new(json!({"type": "object"})));
            let chunks = chunks(&model(&server, name), request).await;
            let at = format!("{name} {stream} {depth}");
            match chunks.last().unwrap() {
                Ok(_) => assert!(fits, "{at}"),
                Err(error) => {
                    assert_eq!(
                        (error.kind(), fits),
                        (Kind::InvalidResponse, false),
                        "{at}: {error}"
                    );
                    assert!(
                        error.to_string().contains("deeper than 100"),
                        "{at}: {error}"
                    );
                }
            }
        }
    }
}
