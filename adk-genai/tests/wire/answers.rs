//! Tests of texts, calls, thoughts and token counts.

use super::*;
use adk_build::model::FinishReason;

#[tokio::test]
async fn a_stream_may_be_cut_anywhere_even_inside_of_a_character() {
    for name in ALL {
        let server = WireServer::start([Reply::text("Füße, 猫 and 🐈.")
            .call("get_weather", json!({"city": "Köln"}))
            .shredded()])
        .await;
        let (pieces, response) = ask(&model(&server, name), request("hi", true)).await;
        assert_eq!(said(&pieces), "Füße, 猫 and 🐈.", "{name}");
        assert_eq!(called(&response)[0].args["city"], "Köln", "{name}");
    }
}

#[tokio::test]
async fn an_answer_may_consist_of_calls() {
    for (name, stream) in everywhere() {
        let server = WireServer::start([Reply::new().call("exit_loop", json!({}))]).await;
        let (pieces, response) = ask(&model(&server, name), request("go", stream)).await;
        assert_eq!(
            (pieces.len(), response.content.parts.len()),
            (0, 1),
            "{name} {stream}"
        );
        let call = &called(&response)[0];
        assert!(
            call.args.is_empty() && call.malformed.is_none(),
            "{name} {stream}"
        );
        assert_eq!(response.error_code, None);
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_short_has_a_reason() {
    let reasons = [
        (OPENAI, "length"),
        (RESPONSES, "incomplete"),
        (ANTHROPIC, "max_tokens"),
        (GEMINI, "MAX_TOKENS"),
    ];
    for (name, reason) in reasons {
        for stream in [true, false] {
            let server = WireServer::start([Reply::text("One, two,").finish(reason)]).await;
            let (_, response) = ask(&model(&server, name), request("count", stream)).await;
            assert_eq!(
                response.finish_reason,
                Some(FinishReason::MaxTokens),
                "{name} {stream}"
            );
            assert_eq!(response.content.text(), "One, two,", "{name} {stream}");
            assert_eq!(response.error_code, None);
        }
    }
}

#[tokio::test]
async fn white_space_around_an_answer_is_kept() {
    for (name, stream) in everywhere() {
        let server = WireServer::start([Reply::text("\n a\nb\n\n").split(7)]).await;
        let (_, response) = ask(&model(&server, name), request("hi", stream)).await;
        assert_eq!(response.content.text(), "\n a\nb\n\n", "{name} {stream}");
    }
}

#[tokio::test]
async fn an_unreadable_call_is_an_error_instead_of_content() {
    for stream in [true, false] {
        let server = WireServer::start([Reply::new().finish("MALFORMED_FUNCTION_CALL")]).await;
        let (_, response) = ask(&model(&server, GEMINI), request("hi", stream)).await;
        assert_eq!(
            response.error_code.as_deref(),
            Some("MALFORMED_FUNCTION_CALL")
        );
    }
}

#[tokio::test]
async fn one_provider_serves_many_calls_at_once() {
    let server = WireServer::start([Reply::text("same").forever()]).await;
    let model = model(&server, OPENAI);
    let calls = (0..32).map(|_| ask(&model, request("hi", true)));
    for (_, response) in futures_util::future::join_all(calls).await {
        assert_eq!(response.content.text(), "same");
    }
    assert_eq!(server.requests().len(), 32);
}
