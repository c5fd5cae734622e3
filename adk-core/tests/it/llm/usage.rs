//! The usage of each agent adds up to the usage of the run.

use super::*;
use crate::support::{attempts, run, say, usage_of_agents};
use adk_build::llm::LlmAgent;
use adk_build::model::{ModelErrorKind, ModelResponse, Usage};
use adk_build::spec::{Attempts, Price, Prices};
use adk_build::testing::Reply;
use adk_build::{AgentTool, CallbackContext, Name, Outcome};

fn text(input: u64) -> Reply {
    Reply::new().text("Text.").usage(input, 1)
}

/// Returns the agents with their input tokens, model calls and tool calls.
fn figures<T>(outcome: &Outcome<T>) -> Vec<String> {
    let agents = usage_of_agents(outcome).unwrap();
    let figure = |(name, usage): (&Name, &Usage)| {
        let (input, calls) = (usage.input_tokens, usage.calls);
        format!("{name} {input} {calls} {}", usage.tool_calls)
    };
    agents.iter().map(figure).collect()
}

#[tokio::test]
async fn agents_inside_of_tools_have_their_own_usage() {
    let inner = LlmAgent::builder("inner")
        .description("Helps.")
        .build()
        .unwrap();
    let helper = LlmAgent::builder("helper")
        .description("Helps.")
        .tool(AgentTool::new(inner))
        .build()
        .unwrap();
    let agent = LlmAgent::builder("a").tool(AgentTool::new(helper)).build();
    let asks = |tool, input| {
        let call = Reply::new().call(tool, json!({"request": "x"}));
        call.usage(input, 1)
    };
    let model = ScriptedModel::new()
        .on("a")
        .reply(asks("helper", 10))
        .reply(text(20))
        .on("helper")
        .reply(asks("inner", 100))
        .error(ModelErrorKind::Unauthorized, "no")
        .on("inner")
        .reply(text(1000));
    let prices = Prices::new("USD").unwrap();
    let price = Price::per_million("1", "1").unwrap();
    let runner: Runner = Runner::builder()
        .model(model)
        .prices(prices.model("scripted", price))
        .build()
        .unwrap();
    let outcome = runner.run(&agent.unwrap(), "go").await.unwrap();
    assert_eq!(
        figures(&outcome),
        ["a 30 2 1", "helper 100 1 1", "inner 1000 1 0"]
    );
    let agents = outcome.cost_by_agent();
    assert_eq!(agents["inner"].cost.to_string(), "0.001001 USD");
}

#[tokio::test]
async fn calls_without_an_event_have_a_usage() {
    let checked = LlmAgent::builder("checked")
        .after_model(|_: &mut CallbackContext, _: &mut ModelResponse| Some("Other."))
        .build()
        .unwrap();
    let typed = LlmAgent::builder("typed")
        .output_key("n")
        .output_type::<u32>()
        .build()
        .unwrap();
    let tree = Tree::new(
        "w",
        vec![attempts(
            "t",
            Attempts::new(Some(1)).all(),
            vec![run(checked), run(typed)],
            vec![run(say("else"))],
        )],
    );
    let model = ScriptedModel::new()
        .on("checked")
        .reply(text(10))
        .on("typed")
        .reply(text(100))
        .repeat_last();
    let outcome = runner(&model).run(&tree, "go").await.unwrap();
    let calls = model.requests_of("typed").len();
    assert_eq!(
        figures(&outcome),
        [
            "checked 10 1 0".to_owned(),
            format!("typed {} {calls} 0", 100 * calls)
        ]
    );
}
