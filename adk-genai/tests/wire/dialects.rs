//! Tests of schemas, options, images and files in the dialect of each provider.

use super::*;
use adk_build::model::ModelErrorKind as Kind;

fn review() -> Value {
    json!({
        "type": "object",
        "properties": {
            "score": {"type": "integer", "format": "uint8", "minimum": 0},
            "note": {"type": "string", "default": ""},
        },
        "required": ["score"],
    })
}

/// Returns the body of a request with a schema, and the resulting text for an answer.
async fn structured(
    name: &str,
    stream: bool,
    schema: Value,
    answer: &str,
) -> (Value, String, Vec<ModelChunk>) {
    let server = WireServer::start([Reply::text(answer)]).await;
    let mut request = request("grade it", stream);
    request.response_schema = Some(Arc::new(schema));
    let (pieces, response) = ask(&model(&server, name), request).await;
    let last = server.last();
    assert!(name != OLLAMA || last.path == "/v1/chat/completions");
    (last.body, response.content.text(), pieces)
}

#[tokio::test]
async fn an_answer_has_its_schema_in_each_dialect() {
    for stream in [true, false] {
        let strict = json!({
            "type": "object",
            "properties": {
                "score": {"type": "integer", "minimum": 0},
                "note": {"type": ["string", "null"]},
            },
            "required": ["score", "note"],
            "additionalProperties": false,
        });
        let full = r#"{"score":7,"note":null}"#;
        for name in [OPENAI, OLLAMA] {
            let (body, text, _) = structured(name, stream, review(), full).await;
            assert_eq!(body["response_format"]["json_schema"]["schema"], strict);
            assert_eq!(body["response_format"]["json_schema"]["strict"], true);
            assert_eq!(text, r#"{"score":7}"#, "the null stood for absent");
        }
        let (body, text, _) = structured(RESPONSES, stream, review(), full).await;
        assert_eq!(body["text"]["format"]["schema"], strict);
        assert_eq!(text, r#"{"score":7}"#);

        let (body, _, _) = structured(ANTHROPIC, stream, review(), r#"{"score":7}"#).await;
        let expected = json!({
            "type": "object",
            "properties": {"score": {"type": "integer"}, "note": {"type": "string"}},
            "required": ["score"],
            "additionalProperties": false,
        });
        assert_eq!(
            body["output_config"]["format"],
            json!({"type": "json_schema", "schema": expected})
        );

        let (body, _, _) = structured(GEMINI, stream, review(), r#"{"score":7}"#).await;
        assert_eq!(
            body["generationConfig"]["responseMimeType"],
            "application/json"
        );
        let expected = json!({
            "type": "object",
            "properties": {"score": {"type": "integer", "minimum": 0}, "note": {"type": "string"}},
            "required": ["score"],
        });
        assert_eq!(body["generationConfig"]["responseJsonSchema"], expected);
    }
}

#[tokio::test]
async fn an_answer_that_is_not_an_object_is_wrapped_only_on_the_wire() {
    for name in [OPENAI, RESPONSES, ANTHROPIC, OLLAMA] {
        let schema = json!({"type": "array", "items": {"type": "string"}});
        let (body, text, pieces) = structured(name, true, schema, r#"{"value":["a","b"]}"#).await;
        assert!(
            body.to_string().contains(r#""required":["value"]"#),
            "{name}: {body}"
        );
        assert_eq!(text, r#"["a","b"]"#, "{name}");
        assert_eq!(pieces, [ModelChunk::Text(r#"["a","b"]"#.into())], "{name}");
    }
    let (body, text, _) = structured(GEMINI, true, json!({"type": "number"}), "3.5").await;
    assert_eq!(
        (&body["generationConfig"]["responseJsonSchema"], &*text),
        (&json!({"type": "number"}), "3.5")
    );
}

#[tokio::test]
async fn a_free_form_map_is_sent_without_strictness() {
    let map = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    let (body, text, _) = structured(OPENAI, true, map.clone(), r#"{"a": 1}"#).await;
    let format = json!({"name": "answer", "strict": false, "schema": map});
    assert_eq!(
        body["response_format"],
        json!({"type": "json_schema", "json_schema": format})
    );
    assert_eq!(text, r#"{"a": 1}"#);
    let (body, _, _) = structured(RESPONSES, false, map.clone(), r#"{"a": 1}"#).await;
    assert_eq!(
        (
            &body["text"]["format"]["strict"],
            &body["text"]["format"]["schema"]
        ),
        (&json!(false), &map)
    );
    let (body, _, _) = structured(ANTHROPIC, false, map.clone(), r#"{"a": 1}"#).await;
    assert_eq!(body.get("output_config"), None);
    assert!(body["system"].as_str().unwrap().contains(&map.to_string()));
}

#[tokio::test]
async fn a_provider_without_schemas_gets_the_schema_in_the_instruction() {
    let (body, text, _) = structured(
        "deepseek-chat",
        true,
        review(),
        "```json\n{\"score\":7}\n```",
    )
    .await;
    assert_eq!(body["response_format"], json!({"type": "json_object"}));
    assert!(
        body["messages"][0]["content"]
            .as_str()
            .unwrap()
            .contains(&review().to_string())
    );
    assert_eq!(text, r#"{"score":7}"#);
}

#[tokio::test]
async fn tools_are_declared_in_each_dialect() {
    let server = WireServer::start([Reply::text("ok").forever()]).await;
    let mut request = request("hi", false);
    let tags = json!({"type": "object", "additionalProperties": true});
    let map = json!({"type": "object", "properties": {"tags": tags}});
    request.tools = vec![weather(), ToolDeclaration::new("tag", "Tags.", map.clone())];
    let mut bodies = Vec::new();
    for name in ALL {
        ask(&model(&server, name), request.clone()).await;
        bodies.push(server.last().body);
    }
    let strict = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where."},
            "days": {"type": ["integer", "null"]},
        },
        "required": ["city", "days"],
        "additionalProperties": false,
    });
    let openai = &bodies[0]["tools"];
    assert_eq!(
        (
            &openai[0]["function"]["parameters"],
            &openai[0]["function"]["strict"]
        ),
        (&strict, &json!(true))
    );
    assert_eq!(
        (
            &openai[1]["function"]["parameters"],
            &openai[1]["function"]["strict"]
        ),
        (&map, &json!(false))
    );
    let responses = &bodies[1]["tools"];
    assert_eq!(
        (&responses[0]["parameters"], &responses[0]["strict"]),
        (&strict, &json!(true))
    );
    assert_eq!(responses[1]["strict"], false);
    let canonical = Value::clone(&weather().parameters);
    assert_eq!(bodies[2]["tools"][0]["input_schema"], canonical);
    let declared = &bodies[3]["tools"][0]["functionDeclarations"][0];
    assert_eq!(
        (&declared["name"], &declared["description"]),
        (&json!("get_weather"), &json!("Looks up the weather."))
    );
    assert_eq!(
        declared["parametersJsonSchema"]["properties"]["days"],
        json!({"type": "integer"})
    );
    assert_eq!(bodies[4]["tools"][0]["function"]["parameters"], canonical);
    // genai supports no tools in Cohere's format: an error is better than a model without its
    // tools.
    let (_, error) = fail(&model(&server, "command-r"), request).await;
    assert_eq!(error.kind(), Kind::InvalidRequest, "{error}");
}

#[tokio::test]
async fn nulls_for_absent_arguments_are_removed() {
    for (name, stream) in everywhere().filter(|(name, _)| matches!(*name, OPENAI | RESPONSES)) {
        let server = WireServer::start([
            Reply::new().call("get_weather", json!({"city": "Oslo", "days": null}))
        ])
        .await;
        let mut request = request("hi", stream);
        request.tools = vec![weather()];
        let (_, response) = ask(&model(&server, name), request).await;
        assert_eq!(
            Value::Object(called(&response)[0].args.clone()),
            json!({"city": "Oslo"}),
            "{name} {stream}"
        );
    }
}

#[tokio::test]
async fn options_are_sent() {
    let server = WireServer::start([Reply::text("ok").forever()]).await;
    let mut request = request("hi", false);
    request.config.temperature = Some(0.25);
    request.config.top_p = Some(0.5);
    request.config.max_output_tokens = Some(99);
    request.config.stop = vec!["END".into()];
    request.config.seed = Some(u64::MAX);
    let body = async |name: &str| {
        ask(&model(&server, name), request.clone()).await;
        server.last().body
    };
    let openai = body(OPENAI).await;
    let sent =
        ["temperature", "top_p", "max_tokens", "stop", "seed"].map(|key| openai[key].clone());
    assert_eq!(json!(sent), json!([0.25, 0.5, 99, ["END"], i64::MAX]));
    let anthropic = body(ANTHROPIC).await;
    let sent =
        ["temperature", "top_p", "max_tokens", "stop_sequences"].map(|key| anthropic[key].clone());
    assert_eq!(json!(sent), json!([0.25, 0.5, 99, ["END"]]));
    let gemini = body(GEMINI).await["generationConfig"].clone();
    let sent = [
        "temperature",
        "topP",
        "maxOutputTokens",
        "stopSequences",
        "seed",
    ]
    .map(|key| gemini[key].clone());
    assert_eq!(json!(sent), json!([0.25, 0.5, 99, ["END"], i32::MAX]));
    let ollama = body(OLLAMA).await["options"].clone();
    assert_eq!(
        (&ollama["num_predict"], &ollama["stop"]),
        (&json!(99), &json!(["END"]))
    );

    let (_, error) = fail(&model(&server, RESPONSES), request.clone()).await;
    assert_eq!(error.kind(), Kind::InvalidRequest, "{error}");
    request.config.stop.clear();
    ask(&model(&server, RESPONSES), request).await;
    let responses = server.last().body;
    assert_eq!(
        (&responses["max_output_tokens"], responses.get("seed")),
        (&json!(99), None)
    );
}

#[tokio::test]
async fn images_and_files_are_sent_or_refused_but_never_dropped() {
    let server = WireServer::start([Reply::text("ok").forever()]).await;
    let send = async |name: &str, part: Part| {
        let mut request = request("what is this?", false);
        request.contents[0].parts.push(part);
        let mut answer = chunks(&model(&server, name), request).await;
        answer.remove(0).map(|_| server.last().body)
    };
    let png = || Part::inline_data("image/png", vec![1, 2, 3]);
    let url = || Part::file_data("https://example.com/cat.png", "");
    let body = send(OPENAI, url()).await.unwrap();
    assert_eq!(
        body["messages"][0]["content"][1]["image_url"]["url"],
        "https://example.com/cat.png"
    );
    let body = send(ANTHROPIC, url()).await.unwrap();
    assert_eq!(
        body["messages"][0]["content"][1]["source"]["url"],
        "https://example.com/cat.png"
    );
    let body = send(
        GEMINI,
        Part::file_data("gs://bucket/a.pdf", "application/pdf"),
    )
    .await
    .unwrap();
    let file = json!({"mime_type": "application/pdf", "file_uri": "gs://bucket/a.pdf"});
    assert_eq!(body["contents"][0]["parts"][1]["file_data"], file);
    let before = server.requests().len();
    for (name, part) in [
        (
            OPENAI,
            Part::file_data("https://example.com/a.pdf", "application/pdf"),
        ),
        (ANTHROPIC, Part::inline_data("audio/wav", vec![1])),
        (OLLAMA, url()),
        (OLLAMA, Part::inline_data("application/pdf", vec![1])),
        ("command-r", png()),
    ] {
        let error = send(name, part).await.unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidRequest, "{name}: {error}");
    }
    assert_eq!(server.requests().len(), before);
}

#[tokio::test]
async fn thoughts_are_requested_only_on_demand() {
    let server = WireServer::start([Reply::text("ok").forever()]).await;
    for (yes, name) in [
        (false, GEMINI),
        (true, GEMINI),
        (false, RESPONSES),
        (true, RESPONSES),
    ] {
        let genai = Genai::builder()
            .base_url(server.url())
            .api_key(KEY)
            .thoughts(yes)
            .build()
            .unwrap();
        ask(&genai.model(name).unwrap(), request("hi", true)).await;
        let text = server.last().body.to_string();
        assert_eq!(
            text.contains("includeThoughts") || text.contains("reasoning.encrypted_content"),
            yes,
            "{name}"
        );
    }
}

/// Anthropic refuses a request whose limit is not above the budget for thoughts.
#[tokio::test]
async fn a_limit_below_the_budget_for_thoughts_is_raised() {
    let names = [
        "claude-3-7-sonnet-20250219",
        "claude-sonnet-4-20250514",
        "claude-sonnet-4-5",
        "claude-sonnet-4-6",
        "claude-sonnet-5",
        "claude-sonnet-5-5",
        "claude-opus-4-20250514",
        "claude-opus-4-1",
        "claude-opus-4-5",
        "claude-opus-4-8",
        "claude-opus-5",
        "claude-haiku-4-5",
        "claude-haiku-5-5",
        "anthropic::claude-sonnet-4-5-20250929",
        "minimax::MiniMax-M2",
    ];
    for name in names {
        for effort in ["", "-low", "-medium", "-high", "-max"] {
            for limit in [1_000, 8_000, 30_000] {
                let name = format!("{name}{effort}");
                let server = WireServer::start([Reply::text("ok")]).await;
                let model = model(&server, &name);
                let mut request = request("go", false);
                request.config.max_output_tokens = Some(limit);
                ask(&model, request).await;
                let body = server.last().body;
                let sent = body["max_tokens"].as_u64().unwrap();
                let budget = body["thinking"]["budget_tokens"]
                    .as_u64()
                    .unwrap_or_default();
                let limit = u64::from(limit);
                let right = if limit > budget {
                    limit
                } else {
                    limit + budget
                };
                assert_eq!(sent, right, "{name}, {limit}: {body}");
                assert_eq!(u64::from(model.output_limit(limit as u32)), sent, "{name}");
            }
        }
    }
}
