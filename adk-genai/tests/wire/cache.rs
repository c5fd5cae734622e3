//! Tests of prompt caches: requests have identical prefixes from turn to turn, and marks for
//! providers that need them.

use super::*;
use adk_build::llm::LlmAgent;
use adk_build::tool::FunctionTool;
use adk_build::{Runner, ToolContext};
use serde_json::Map;

/// Returns the bodies of the three requests of a conversation whose first turn calls a tool.
async fn bodies(name: &str, instruction: String) -> Vec<Value> {
    let call = Reply::new().call("weather", json!({"city": "Bern"}));
    let server = WireServer::start([call, Reply::text("Sunny."), Reply::text("Dry.")]).await;
    let sunny = |_: Map<String, Value>, _: &mut ToolContext| "sunny";
    let tool = FunctionTool::new("weather", "Says the weather.", sunny);
    let agent = LlmAgent::builder("chat")
        .instruction(instruction)
        .tool(tool)
        .build()
        .expect("it is right");
    let runner: Runner = Runner::builder()
        .model(model(&server, name))
        .build()
        .expect("it is right");
    let session = runner.session("user", "s");
    session
        .run(&agent, "How is the weather?")
        .await
        .expect("it answers");
    session
        .run(&agent, "And the roads?")
        .await
        .expect("it answers");
    server
        .requests()
        .iter()
        .map(|request| request.body.clone())
        .collect()
}

/// Removes the marks, because they move from turn to turn.
fn unmarked(mut message: Value) -> Value {
    if let Some(parts) = message["content"].as_array_mut() {
        parts
            .iter_mut()
            .filter_map(Value::as_object_mut)
            .for_each(|part| drop(part.shift_remove("cache_control")));
        if let [part] = &**parts
            && part["type"] == "text"
        {
            message["content"] = part["text"].clone();
        }
    }
    message
}

#[tokio::test]
async fn a_request_begins_like_the_previous_one() {
    for name in ALL {
        let bodies = bodies(name, "Help with the weather. ".repeat(400)).await;
        assert_eq!(bodies.len(), 3, "{name}");
        for two in bodies.windows(2) {
            let conversation = ["messages", "contents", "input"]
                .into_iter()
                .find(|key| two[0][key].is_array());
            let key = conversation.expect("a conversation");
            let said = |body: &Value| -> Vec<String> {
                let said = body[key].as_array().unwrap().iter().cloned().map(unmarked);
                said.map(|message| message.to_string()).collect()
            };
            let (before, after) = (said(&two[0]), said(&two[1]));
            assert!(
                after.len() > before.len() && after.starts_with(&before),
                "{name}: {before:?} {after:?}"
            );
            for fixed in [
                "tools",
                "system",
                "systemInstruction",
                "system_instruction",
                "instructions",
            ] {
                assert_eq!(
                    two[0][fixed].to_string(),
                    two[1][fixed].to_string(),
                    "{name}: {fixed}"
                );
            }
        }
    }
}

#[tokio::test]
async fn anthropic_gets_marks_for_long_prompts() {
    let mark = json!({"type": "ephemeral"});
    let sent = bodies(ANTHROPIC, "Help with the weather. ".repeat(400)).await;
    let system = sent[2]["system"].as_array().unwrap();
    assert_eq!((system.len(), &system[0]["cache_control"]), (1, &mark));
    let marks = |body: &Value| {
        body["messages"]
            .to_string()
            .matches("cache_control")
            .count()
    };
    assert_eq!(sent.iter().map(marks).collect::<Vec<_>>(), [1, 1, 1]);
    let last = sent[2]["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(
        last["content"][0],
        json!({"type": "text", "text": "And the roads?", "cache_control": mark})
    );

    // The constant part ends at the first placeholder.
    let rules = "Help with the weather. ".repeat(400);
    let sent = bodies(ANTHROPIC, format!("{rules}It is {{hour?}} o'clock.")).await;
    let system = sent[0]["system"].as_array().unwrap();
    assert_eq!(
        system[0],
        json!({"type": "text", "text": format!("{rules}It is "), "cache_control": mark})
    );
    assert!(
        system[1]["text"].as_str().unwrap().starts_with(" o'clock."),
        "{system:?}"
    );
    assert_eq!(system[1].get("cache_control"), None);

    let sent = bodies(ANTHROPIC, "Help.".to_owned()).await;
    assert!(
        !sent
            .iter()
            .any(|body| body.to_string().contains("cache_control")),
        "{sent:?}"
    );
}
