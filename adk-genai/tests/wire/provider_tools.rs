//! Tests of tools that the provider runs: their form in requests, what they leave in answers, and
//! functions with their names.

use super::*;
use adk_build::model::ModelErrorKind as Kind;

fn with_tools(tools: &[&'static str], stream: bool) -> ModelRequest {
    let mut request = request("Who won?", stream);
    request.provider_tools = tools.iter().map(|name| (*name).into()).collect();
    request
}

#[tokio::test]
async fn a_tool_is_sent_in_the_form_of_its_provider() {
    let cases = [
        (GEMINI, vec!["google_search"], json!([{"googleSearch": {}}])),
        (
            GEMINI,
            vec!["code_execution", "url_context"],
            json!([{"codeExecution": {}}, {"urlContext": {}}]),
        ),
        (
            RESPONSES,
            vec!["web_search"],
            json!([{"type": "web_search"}]),
        ),
        (
            ANTHROPIC,
            vec!["web_search"],
            json!([{"type": "web_search_20250305", "name": "web_search"}]),
        ),
    ];
    for (name, tools, sent) in cases {
        for stream in [true, false] {
            // The server answers Anthropic's request whole, so the request must ask for that.
            let server = WireServer::start([Reply::text("Spain.")]).await;
            let model = model(&server, name);
            for tool in &tools {
                model.check_provider_tool(tool, false).unwrap();
            }
            let (_, response) = ask(&model, with_tools(&tools, stream)).await;
            assert_eq!(response.content.text(), "Spain.", "{name} {stream}");
            let body = server.last().body;
            assert_eq!(body["tools"], sent, "{name} {stream}");
            assert_eq!(body.get("toolConfig"), None, "{name} {stream}");
        }
    }
}

#[tokio::test]
async fn functions_may_stand_beside_a_tool_of_openai_and_anthropic() {
    for (name, stream) in [RESPONSES, ANTHROPIC].into_iter().zip([true, false]) {
        let reply = Reply::new().call("get_weather", json!({"city": "Oslo"}));
        let server = WireServer::start([reply]).await;
        let model = model(&server, name);
        model.check_provider_tool("web_search", true).unwrap();
        let mut request = with_tools(&["web_search"], stream);
        request.tools = vec![weather()];
        let (_, response) = ask(&model, request).await;
        assert_eq!(called(&response)[0].name, "get_weather", "{name}");
        let names: Vec<_> = [0, 1]
            .map(|at| server.last().body["tools"][at].clone())
            .into_iter()
            .map(|tool| {
                tool["name"]
                    .as_str()
                    .or(tool["type"].as_str())
                    .map(str::to_owned)
            })
            .collect();
        assert_eq!(
            names,
            [
                Some("web_search".to_owned()),
                Some("get_weather".to_owned())
            ]
        );
    }
}

#[tokio::test]
async fn a_tool_that_cannot_be_requested_is_an_error_before_any_call() {
    let cases = [
        (OPENAI, "web_search", false, "`openai_resp::gpt-4o-mini`"),
        (OPENAI, "google_search", false, "a model of Gemini"),
        (RESPONSES, "google_search", false, "use `web_search`, or"),
        (RESPONSES, "code_execution", false, "a model of Gemini"),
        (ANTHROPIC, "url_context", false, "a model of Gemini"),
        (GEMINI, "web_search", false, "use `google_search`"),
        (GEMINI, "google_search", true, "an agent of its own"),
        (GEMINI, "unheard_of", false, "use `google_search`, `code_ex"),
        (
            "gemini-1.5-pro",
            "google_search",
            false,
            "Gemini 2 or later",
        ),
        ("gemini::gemma-3", "url_context", false, "Gemini 2 or later"),
        (
            "gemini_ix::gemini-3-pro",
            "url_context",
            false,
            "a model of",
        ),
        (OLLAMA, "web_search", false, "OpenAI or Anthropic"),
        ("minimax::m", "web_search", false, "OpenAI or Anthropic"),
        ("cohere::c", "google_search", false, "a model of Gemini"),
    ];
    let server = WireServer::start([]).await;
    for (name, tool, beside_functions, help) in cases {
        let model = model(&server, name);
        let checked = model
            .check_provider_tool(tool, beside_functions)
            .unwrap_err();
        let mut request = with_tools(&[tool], false);
        if beside_functions {
            request.tools = vec![weather()];
        }
        let (_, asked) = fail(&model, request).await;
        let bare = name.rsplit("::").next().unwrap();
        for error in [checked, asked] {
            let text = error.to_string();
            assert_eq!(error.kind(), Kind::InvalidRequest, "{name} {tool}");
            assert!(text.contains(tool) && text.contains(bare), "{text}");
            assert!(text.contains(help), "{text}");
        }
    }
    assert_eq!(server.requests().len(), 0);
}

fn gemini(stream: bool, frames: &[Value]) -> Reply {
    if stream {
        return Reply::events(frames.iter().map(|frame| format!("data: {frame}\n\n")));
    }
    let parts = frames
        .iter()
        .filter_map(|frame| frame["candidates"][0]["content"]["parts"].as_array());
    let parts: Vec<_> = parts.flatten().cloned().collect();
    let mut whole = frames.last().cloned().unwrap_or_default();
    whole["candidates"][0]["content"]["parts"] = parts.into();
    Reply::raw("application/json", &whole.to_string())
}

fn frame(part: Value) -> Value {
    json!({
        "candidates": [{"content": {"role": "model", "parts": [part]}}],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2},
        "modelVersion": "v-1",
    })
}

#[tokio::test]
async fn sources_and_code_of_gemini_are_part_of_the_answer() {
    let code = json!({"executableCode": {"language": "PYTHON", "code": "print(2 + 2)"}});
    let output = json!({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "4\n"}});
    let sources = json!({
        "webSearchQueries": ["two and two"],
        "groundingChunks": [{"web": {"uri": "https://a.example", "title": "A"}}],
    });
    let mut last = frame(json!({"text": "It is 4."}));
    last["candidates"][0]["finishReason"] = "STOP".into();
    last["candidates"][0]["groundingMetadata"] = sources.clone();
    last["usageMetadata"]["toolUsePromptTokenCount"] = 90.into();
    let frames = [frame(code.clone()), frame(output.clone()), last];
    for stream in [true, false] {
        let server = WireServer::start([gemini(stream, &frames), Reply::text("4.")]).await;
        let model = model(&server, GEMINI);
        let tools = ["google_search", "code_execution"];
        let (_, response) = ask(&model, with_tools(&tools, stream)).await;
        let parts: Vec<_> = response
            .content
            .parts
            .iter()
            .map(|part| json!(part))
            .collect();
        assert_eq!(
            parts,
            [code.clone(), output.clone(), json!({"text": "It is 4."})]
        );
        assert_eq!(response.grounding_metadata.as_deref(), Some(&sources));
        assert_eq!(response.usage.input_tokens, 95);
        // The next request is accepted without them.
        let mut next = with_tools(&tools, stream);
        next.contents = vec![
            Content::user("Who won?"),
            response.content,
            Content::user("Sure?"),
        ]
        .into();
        ask(&model, next).await;
        let sent = &server.last().body["contents"][1];
        assert_eq!(
            *sent,
            json!({"role": "model", "parts": [{"text": "It is 4."}]})
        );
    }
}

#[tokio::test]
async fn sources_that_are_nested_too_deep_are_an_error() {
    let deep = format!("{}1{}", "[".repeat(110), "]".repeat(110));
    let mut last = frame(json!({"text": "It is 4."}));
    last["candidates"][0]["finishReason"] = "STOP".into();
    last["candidates"][0]["groundingMetadata"] = serde_json::from_str(&deep).unwrap();
    for stream in [true, false] {
        let server = WireServer::start([gemini(stream, &[last.clone()])]).await;
        let request = with_tools(&["google_search"], stream);
        let (_, error) = fail(&model(&server, GEMINI), request).await;
        assert_eq!(error.kind(), Kind::InvalidResponse, "{error}");
    }
}

#[tokio::test]
async fn a_search_of_anthropic_is_sent_back_unchanged() {
    let search = json!({
        "type": "server_tool_use",
        "id": "srvtoolu_1",
        "name": "web_search",
        "input": {"query": "who won"},
    });
    let found = json!({
        "type": "web_search_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": [{
            "type": "web_search_result",
            "url": "https://a.example",
            "title": "A",
            "encrypted_content": "EqgfCioIARgB",
        }],
    });
    let text = |text: &str| json!({"type": "text", "text": text});
    let body = json!({
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "v-1",
        "content": [text("I look. "), search, found, text("Spain "), text("won.")],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 5, "output_tokens": 2},
    });
    let reply = Reply::raw("application/json", &body.to_string());
    let server = WireServer::start([reply, Reply::text("Yes.")]).await;
    let model = model(&server, ANTHROPIC);
    let (_, response) = ask(&model, with_tools(&["web_search"], true)).await;
    assert_eq!(response.content.text(), "I look. Spain won.");
    let mut next = with_tools(&["web_search"], true);
    next.contents = vec![
        Content::user("Who won?"),
        response.content,
        Content::user("Sure?"),
    ]
    .into();
    ask(&model, next).await;
    let sent = &server.last().body["messages"][1]["content"];
    let wanted = json!([text("I look. "), search, found, text("Spain won.")]);
    assert_eq!(*sent, wanted);
}

/// genai takes a function with the name of a provider's tool for that tool.
#[tokio::test]
async fn a_function_with_the_name_of_a_tool_stays_a_function() {
    let tools = ["web_search", "google_search", "code_execution"];
    for (name, stream) in everywhere() {
        for tool in tools {
            let server = WireServer::start([
                Reply::new().call(tool, json!({"city": "Oslo"})),
                Reply::new().call("get_weather", json!({"city": "Oslo"})),
            ])
            .await;
            let model = model(&server, name);
            let mut request = request("go", stream);
            for name in [tool, "get_weather"] {
                request.tools = vec![ToolDeclaration::new(
                    name,
                    weather().description,
                    weather().parameters,
                )];
                let (_, response) = ask(&model, request.clone()).await;
                let call = &called(&response)[0];
                assert_eq!((&*call.name, &call.args["city"]), (name, &json!("Oslo")));
            }
            let [sent, plain] = [0, 1].map(|at| server.requests()[at].body["tools"].clone());
            let sent: Value =
                serde_json::from_str(&sent.to_string().replace(tool, "get_weather")).unwrap();
            let mut sent = sent;
            if name == ANTHROPIC && tool == "web_search" {
                assert_eq!(
                    sent[0].as_object_mut().unwrap().remove("type"),
                    Some(json!("custom"))
                );
            }
            assert_eq!(sent, plain, "{name} {tool}");
        }
    }
    let server = WireServer::start([]).await;
    for tool in ["googleSearch", "urlContext", "codeExecution"] {
        let mut request = request("go", false);
        request.tools = vec![ToolDeclaration::new(tool, "Looks.", weather().parameters)];
        let (_, error) = fail(&model(&server, GEMINI), request).await;
        assert!(error.to_string().contains("another name"), "{error}");
    }
}
