//! Tests of the conversation in requests, with calls, results and thoughts of earlier turns.

use super::*;

/// Makes a request, answers each call with its city in capitals, and returns the body of the second
/// request.
async fn round_trip(name: &str, stream: bool, first: Reply) -> Value {
    let server = WireServer::start([first, Reply::text("Done.")]).await;
    let model = model(&server, name);
    let mut ask_for = request("weather?", stream);
    ask_for.system_instruction = "Be brief.".into();
    ask_for.tools = vec![weather()];
    let (_, mut response) = ask(&model, ask_for.clone()).await;
    let mut answers = Vec::new();
    for (at, part) in response.content.parts.iter_mut().enumerate() {
        if let Part::FunctionCall(call) = part {
            if call.id.is_empty() {
                Arc::make_mut(call).id = format!("adk-{at}");
            }
            let city = call.args.get("city").and_then(Value::as_str);
            answers.push(result(call, json!(city.unwrap_or_default().to_uppercase())));
        }
    }
    ask_for.contents.push(response.content);
    ask_for.contents.push(results(answers));
    let (_, response) = ask(&model, ask_for).await;
    assert_eq!(response.content.text(), "Done.", "{name}");
    server.last().body
}

#[tokio::test]
async fn results_in_several_contents_are_one_message_before_the_text() {
    let call = |id: &str| FunctionCall {
        id: id.into(),
        name: "f".into(),
        ..FunctionCall::default()
    };
    let server = WireServer::start([Reply::text("ok")]).await;
    let mut request = request("go", false);
    request.contents.push(Content::new(
        Role::Model,
        vec![Part::from(call("a")), Part::from(call("b"))],
    ));
    request
        .contents
        .push(results(vec![result(&call("a"), json!(1))]));
    request.contents.push(results(vec![
        Part::text("and now?"),
        result(&call("b"), json!(2)),
    ]));
    ask(&model(&server, ANTHROPIC), request).await;
    let messages = server.last().body["messages"].clone();
    assert_eq!(messages.as_array().unwrap().len(), 4);
    let ids: Vec<_> = messages[2]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| &part["tool_use_id"])
        .collect();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(messages[3], json!({"role": "user", "content": "and now?"}));
}

#[tokio::test]
async fn signed_thoughts_are_sent_back_to_their_provider() {
    for stream in [true, false] {
        let thinking = Reply::new().thought("Let me think.").signature("c2lnLTE=");
        let body = round_trip(
            ANTHROPIC,
            stream,
            thinking.call("get_weather", json!({"city": "Paris"})),
        )
        .await;
        let block =
            json!({"type": "thinking", "thinking": "Let me think.", "signature": "c2lnLTE="});
        assert_eq!(body["messages"][1]["content"][0], block);
        assert_eq!(body["messages"][1]["content"].as_array().unwrap().len(), 2);

        let signed = Reply::new()
            .thought("Hm.")
            .call("get_weather", json!({"city": "Paris"}))
            .signature("c2lnLTI=")
            .call("get_weather", json!({"city": "Rome"}));
        let body = round_trip(GEMINI, stream, signed).await;
        let parts = body["contents"][1]["parts"].as_array().unwrap();
        let signatures: Vec<_> = parts
            .iter()
            .map(|part| part["thoughtSignature"].as_str())
            .collect();
        assert_eq!(signatures, [Some("c2lnLTI="), None], "{body}");

        let body = round_trip(
            OPENAI,
            stream,
            Reply::new()
                .thought("Hm.")
                .call("get_weather", json!({"city": "Oslo"})),
        )
        .await;
        assert!(!body.to_string().contains("Hm."), "{body}");
    }
}

#[tokio::test]
async fn blocks_without_a_form_in_adk_are_sent_back_unchanged() {
    let block = json!({"type": "redacted_thinking", "data": "b3BhcXVl"});
    let input = json!({"city": "Paris"});
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": input});
    let body = json!({
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "c",
        "content": [block, call],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    let sent = round_trip(
        ANTHROPIC,
        false,
        Reply::raw("application/json", &body.to_string()),
    )
    .await;
    assert_eq!(sent["messages"][1]["content"], json!([block, call]));
}

#[tokio::test]
async fn unsigned_thoughts_are_sent_back_only_if_a_round_trip_needs_them() {
    let thinking = || {
        Reply::new()
            .thought("Hm.")
            .call("get_weather", json!({"city": "Paris"}))
    };
    let body = round_trip("deepseek-reasoner", true, thinking()).await;
    assert_eq!(body["messages"][2]["reasoning_content"], "Hm.");
    let body = round_trip("groq::x", true, thinking()).await;
    assert_eq!(body["messages"][2].get("reasoning_content"), None);
}

#[tokio::test]
async fn a_malformed_call_is_sent_back_without_arguments_and_with_its_error() {
    for name in [OPENAI, ANTHROPIC, GEMINI] {
        let body = round_trip(
            name,
            true,
            Reply::new().raw_call("get_weather", "{\"town\": "),
        )
        .await;
        assert!(!body.to_string().contains("town"), "{name}: {body}");
    }
}

#[tokio::test]
async fn a_conversation_is_never_empty_and_never_ends_with_the_model() {
    let server = WireServer::start([Reply::text("ok").forever()]).await;
    let model = model(&server, GEMINI);
    let mut empty = request("", false);
    empty.contents.clear();
    ask(&model, empty).await;
    let text = &server.last().body["contents"][0]["parts"][0]["text"];
    assert_eq!(
        text,
        "Handle the requests as specified in the System Instruction."
    );
    // The model then calls a tool, and gets another request.
    let call = FunctionCall {
        id: "a".into(),
        name: "get_weather".into(),
        ..FunctionCall::default()
    };
    let mut called = request("", false);
    called.contents.clear();
    called
        .contents
        .push(Content::new(Role::Model, vec![Part::from(call.clone())]));
    called
        .contents
        .push(results(vec![result(&call, json!("sunny"))]));
    for name in [GEMINI, OPENAI, ANTHROPIC] {
        ask(&self::model(&server, name), called.clone()).await;
        let body = server.last().body.clone();
        let all = body
            .get("contents")
            .or_else(|| body.get("messages"))
            .unwrap()
            .as_array()
            .unwrap();
        let said = all
            .iter()
            .filter(|one| one["role"] != "system")
            .map(ToString::to_string)
            .collect::<Vec<_>>();
        assert!(
            said[0].contains("\"user\"") && said[0].contains("Handle the requests"),
            "{name}: {body}"
        );
        assert!(
            said[1].contains("get_weather") && !said[1].contains("Handle"),
            "{name}: {body}"
        );
    }
    let mut late = request("hi", false);
    late.contents.push(Content::model("Hello."));
    ask(&model, late).await;
    let contents = server.last().body["contents"].clone();
    assert!(
        contents[2]["parts"][0]["text"]
            .as_str()
            .unwrap()
            .starts_with("Continue processing previous requests")
    );
}

/// A conversation that another provider began, such as before a fallback.
#[tokio::test]
async fn ids_and_signatures_of_another_provider_are_made_to_fit() {
    let ids = [
        "functions.weather:0".to_owned(),
        format!("call_{}", "x".repeat(60)),
        "toolu_01AbCd".to_owned(),
        "adk-8d1a1c0e-5f0b-4b8e-9c0a-1f2e3d4c5b6a".to_owned(),
        "toolu_01AbCd".to_owned(),
        String::new(),
    ];
    let name = "get_the_weather_of_a_city_and_of_all_the_cities_around_it_at_once";
    let mut foreign = request("go", false);
    for (at, id) in ids.iter().enumerate() {
        let call = FunctionCall {
            id: id.clone(),
            name: name.into(),
            signature: Some("adk0openai00c2ln".into()),
            ..FunctionCall::default()
        };
        let thought = Thought {
            text: "Hm.".into(),
            signature: Some("adk0openai00c2ln".into()),
        };
        let answer = result(&call, json!(format!("answer {at}")));
        let asked = vec![Part::from(thought), Part::from(call)];
        foreign.contents.push(Content::new(Role::Model, asked));
        foreign.contents.push(results(vec![answer]));
    }
    let word = |id: &str, most: usize| {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        (1..=most).contains(&id.len()) && id.chars().all(is_word)
    };
    let alphanumeric = |id: &str| id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric());
    type Fits<'a> = &'a dyn Fn(&str) -> bool;
    let formats: [(&str, &str, &str, Fits<'_>); 4] = [
        (ANTHROPIC, "id", "tool_use_id", &|id| word(id, 64)),
        (RESPONSES, "call_id", "call_id", &|id| word(id, 64)),
        (OPENAI, "id", "tool_call_id", &|id| {
            (1..=40).contains(&id.len())
        }),
        (
            "mistral::mistral-small",
            "id",
            "tool_call_id",
            &alphanumeric,
        ),
    ];
    for (name, call_key, result_key, fits) in formats {
        let server = WireServer::start([Reply::text("ok")]).await;
        ask(&model(&server, name), foreign.clone()).await;
        let body = server.last().body;
        let (mut called, mut answered) = (Vec::new(), Vec::new());
        collect_ids(&body, call_key, result_key, &mut called, &mut answered);
        assert_eq!(called.len(), ids.len(), "{name}: {body}");
        assert_eq!(called, answered, "{name}: each result names its call");
        assert!(called.iter().all(|id| fits(id)), "{name}: {called:?}");
        if name != OPENAI {
            let different: std::collections::HashSet<_> = called.iter().collect();
            assert_eq!(different.len(), ids.len(), "{name}: {called:?}");
        }
        let own = name == RESPONSES;
        assert_eq!(body.to_string().contains("c2ln"), own, "{name}: {body}");
        assert!(!body.to_string().contains("adk0"), "{name}: {body}");
    }
    let server = WireServer::start([Reply::text("ok")]).await;
    ask(&model(&server, GEMINI), foreign).await;
    let body = server.last().body;
    assert!(!body.to_string().contains("c2ln"), "{body}");
}

/// Collects the ids of calls and of results, in their order.
fn collect_ids(
    value: &Value,
    call_key: &str,
    result_key: &str,
    called: &mut Vec<String>,
    answered: &mut Vec<String>,
) {
    let id = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    match value {
        Value::Array(items) => {
            for item in items {
                collect_ids(item, call_key, result_key, called, answered);
            }
        }
        Value::Object(object) => {
            let kind = object
                .get("type")
                .and_then(Value::as_str)
                .unwrap_or_default();
            if matches!(kind, "tool_use" | "function" | "function_call") {
                called.push(id(call_key));
            } else if matches!(kind, "tool_result" | "function_call_output")
                || object.contains_key("tool_call_id")
            {
                answered.push(id(result_key));
            }
            for item in object.values() {
                collect_ids(item, call_key, result_key, called, answered);
            }
        }
        _ => {}
    }
}
