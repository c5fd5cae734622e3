//! Texts, calls, thoughts, counts.

use super::*;
use adk_core::model::FinishReason;

#[tokio::test]
async fn text_comes_in_pieces_and_whole_with_counts_and_version() {
    for (name, stream) in everywhere() {
        let server = WireServer::start([Reply::text("Hello there, wörld.")
            .usage(12, 5)
            .version("version-7")
            .split(4)])
        .await;
        let (pieces, response) = ask(&model(&server, name), request("hi", stream)).await;
        let at = format!("{name} {stream}");
        assert_eq!(response.content, Content::model("Hello there, wörld."), "{at}");
        assert_eq!((response.usage.input_tokens, response.usage.output_tokens), (12, 5), "{at}");
        assert_eq!(response.finish_reason, Some(FinishReason::Stop), "{at}");
        assert_eq!(response.model_version.as_deref(), Some("version-7"), "{at}");
        if stream {
            assert_eq!((pieces.len(), said(&pieces).as_str()), (4, "Hello there, wörld."), "{at}");
        } else {
            assert!(pieces.is_empty(), "{at}");
        }
    }
}

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
async fn parallel_calls_come_whole_and_in_order() {
    for (name, stream) in everywhere() {
        let server = WireServer::start([Reply::text("Let me see.")
            .call("get_weather", json!({"city": "Paris", "days": 2}))
            .call("get_weather", json!({"city": "Rome"}))
            .split(5)
            .usage(20, 30)])
        .await;
        let mut request = request("weather?", stream);
        request.tools = vec![weather()];
        let (pieces, response) = ask(&model(&server, name), request).await;
        let at = format!("{name} {stream}");
        assert!(pieces.iter().all(|piece| matches!(piece, ModelChunk::Text(_))), "{at}: {pieces:?}");
        assert_eq!(response.content.text(), "Let me see.", "{at}");
        let calls = called(&response);
        let args: Vec<_> = calls.iter().map(|call| Value::Object(call.args.clone())).collect();
        assert_eq!(args, [json!({"city": "Paris", "days": 2}), json!({"city": "Rome"})], "{at}");
        assert!(calls.iter().all(|call| call.name == "get_weather" && call.malformed.is_none()), "{at}");
        match name {
            // No ids on the wire: the framework makes them.
            GEMINI => assert!(calls.iter().all(|call| call.id.is_empty()), "{at}"),
            OLLAMA => assert_ne!(calls[0].id, calls[1].id, "{at}"),
            _ => {
                assert_eq!(
                    [&*calls[0].id, &*calls[1].id],
                    ["call_get_weather_1", "call_get_weather_2"],
                    "{at}"
                );
            }
        }
        // OpenAI's responses say `completed`, Gemini `STOP`: the content tells.
        assert_eq!(response.finish_reason, Some(FinishReason::Stop), "{at}");
    }
}

#[tokio::test]
async fn calls_alone_are_an_answer() {
    for (name, stream) in everywhere() {
        let server = WireServer::start([Reply::new().call("exit_loop", json!({}))]).await;
        let (pieces, response) = ask(&model(&server, name), request("go", stream)).await;
        assert_eq!((pieces.len(), response.content.parts.len()), (0, 1), "{name} {stream}");
        let call = &called(&response)[0];
        assert!(call.args.is_empty() && call.malformed.is_none(), "{name} {stream}");
        assert_eq!(response.error_code, None);
    }
}

#[tokio::test]
async fn thinking_is_apart_from_the_answer() {
    for (name, stream) in everywhere() {
        let server = WireServer::start([Reply::new()
            .thought("Let me think.")
            .signature("c2ln")
            .and_text("42")
            .usage(10, 9)
            .details(0, 7)])
        .await;
        let genai = Genai::builder().base_url(server.url()).api_key(KEY).thoughts(true).build().unwrap();
        let (pieces, response) = ask(&genai.model(name).unwrap(), request("think", stream)).await;
        let at = format!("{name} {stream}");
        assert_eq!(response.content.text(), "42", "{at}");
        let thoughts: String = response
            .content
            .parts
            .iter()
            .filter_map(
                |part| if let Part::Thought(thought) = part { Some(thought.text.as_str()) } else { None },
            )
            .collect();
        assert_eq!(thoughts, "Let me think.", "{at}");
        if stream {
            assert_eq!((thought(&pieces).as_str(), said(&pieces).as_str()), ("Let me think.", "42"), "{at}");
        }
        if !matches!(name, ANTHROPIC | OLLAMA) {
            assert_eq!((response.usage.output_tokens, response.usage.thought_tokens), (9, 7), "{at}");
        }
    }
}

#[tokio::test]
async fn cached_tokens_are_counted() {
    for (name, stream) in everywhere().filter(|(name, _)| *name != OLLAMA) {
        let server = WireServer::start([Reply::text("hi").usage(100, 3).details(80, 0)]).await;
        let (_, response) = ask(&model(&server, name), request("hi", stream)).await;
        assert_eq!((response.usage.input_tokens, response.usage.cached_tokens), (100, 80), "{name} {stream}");
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_short_says_so() {
    let reasons =
        [(OPENAI, "length"), (RESPONSES, "incomplete"), (ANTHROPIC, "max_tokens"), (GEMINI, "MAX_TOKENS")];
    for (name, reason) in reasons {
        for stream in [true, false] {
            let server = WireServer::start([Reply::text("One, two,").finish(reason)]).await;
            let (_, response) = ask(&model(&server, name), request("count", stream)).await;
            assert_eq!(response.finish_reason, Some(FinishReason::MaxTokens), "{name} {stream}");
            assert_eq!(response.content.text(), "One, two,", "{name} {stream}");
            assert_eq!(response.error_code, None);
        }
    }
}

#[tokio::test]
async fn white_space_around_an_answer_stays() {
    for (name, stream) in everywhere() {
        let server = WireServer::start([Reply::text("\n a\nb\n\n").split(7)]).await;
        let (_, response) = ask(&model(&server, name), request("hi", stream)).await;
        assert_eq!(response.content.text(), "\n a\nb\n\n", "{name} {stream}");
    }
}

#[tokio::test]
async fn an_empty_answer_is_an_answer() {
    for (name, stream) in everywhere() {
        let server = WireServer::start([Reply::new()]).await;
        let (pieces, response) = ask(&model(&server, name), request("hi", stream)).await;
        assert!(pieces.is_empty() && response.content.parts.is_empty(), "{name} {stream}");
        assert_eq!(response.error_code, None, "{name} {stream}");
    }
}

#[tokio::test]
async fn a_blocked_prompt_is_an_error_in_place_of_content() {
    let body = json!({
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": 4}, "modelVersion": "g",
    });
    let whole = Reply::raw("application/json", &body.to_string());
    for (reply, stream) in [(whole, false), (Reply::events([format!("data: {body}")]), true)] {
        let server = WireServer::start([reply]).await;
        let (_, response) = ask(&model(&server, GEMINI), request("hi", stream)).await;
        assert_eq!(response.error_code.as_deref(), Some("PROHIBITED_CONTENT"));
        assert_eq!(response.error_message.as_deref(), Some("the prompt was blocked"));
    }
    for stream in [true, false] {
        let server = WireServer::start([Reply::new().finish("MALFORMED_FUNCTION_CALL")]).await;
        let (_, response) = ask(&model(&server, GEMINI), request("hi", stream)).await;
        assert_eq!(response.error_code.as_deref(), Some("MALFORMED_FUNCTION_CALL"));
        let server = WireServer::start([Reply::new().finish("content_filter")]).await;
        let (_, response) = ask(&model(&server, OPENAI), request("hi", stream)).await;
        assert_eq!(response.error_code.as_deref(), Some("SAFETY"));
        assert_eq!(response.finish_reason, Some(FinishReason::Safety));
    }
}

#[tokio::test]
async fn a_refusal_is_an_error_in_place_of_content() {
    let delta = |refusal: &str, finish: Value| {
        let choice = json!({"index": 0, "delta": {"refusal": refusal}, "finish_reason": finish});
        format!("data: {}", json!({"model": "m", "choices": [choice]}))
    };
    let events =
        [delta("I can't ", Value::Null), delta("do that.", json!("stop")), "data: [DONE]".to_owned()];
    let message = json!({"role": "assistant", "content": null, "refusal": "I can't do that."});
    let body = json!({"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    for (reply, stream) in
        [(Reply::events(events), true), (Reply::raw("application/json", &body.to_string()), false)]
    {
        let server = WireServer::start([reply]).await;
        let (_, response) = ask(&model(&server, OPENAI), request("hi", stream)).await;
        assert_eq!(response.error_code.as_deref(), Some("REFUSAL"));
        assert_eq!(response.error_message.as_deref(), Some("I can't do that."));
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
