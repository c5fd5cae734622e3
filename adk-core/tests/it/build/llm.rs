//! LLM agents built at run time.

use adk_build::llm::{IncludeContents, LlmAgent};
use adk_build::testing::{Reply, ScriptedModel};
use adk_build::tools::exit_loop;
use adk_build::{ErrorKind, LoopAgent, Runner, SequentialAgent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::time::Duration;

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Grade {
    score: u8,
}

fn runner(model: &ScriptedModel) -> Runner {
    Runner::builder().model(model.clone()).build().unwrap()
}

#[tokio::test(start_paused = true)]
async fn all_settings_reach_the_model() {
    let model = ScriptedModel::new()
        .on("grader")
        .reply(Reply::new().json(Grade { score: 7 }));
    let agent = LlmAgent::builder("grader")
        .description("Grades.")
        .instruction("Grade {topic}, {missing?}!")
        .output_key("grade")
        .output_type::<Grade>()
        .include_contents(IncludeContents::None)
        .temperature(0.5)
        .top_p(0.9)
        .max_output_tokens(10)
        .stop(["."])
        .seed(3)
        .timeout(Duration::from_secs(5))
        .retry(1)
        .tool(exit_loop::default());
    let tree = LoopAgent::builder("root")
        .max_iterations(1)
        .sub_agent(agent)
        .initial_state("topic", "tea");
    let outcome = runner(&model)
        .run(&tree.build().unwrap(), "go")
        .await
        .unwrap();
    assert_eq!(outcome.get("grade").unwrap(), Some(Grade { score: 7 }));
    let asked = &model.requests()[0];
    let said = "Grade tea, !\n\nYou are an agent. Your internal name is \"grader\". The \
        description about you is \"Grades.\".";
    assert!(
        asked.system_instruction.starts_with(said),
        "{}",
        asked.system_instruction
    );
    // Beside tools, the model answers with a typed value through a tool.
    let tools: Vec<_> = asked.tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(tools, ["set_model_response", "exit_loop"]);
    assert_eq!(
        asked.tools[0].parameters["properties"]["score"]["type"],
        "integer"
    );
    assert_eq!(asked.response_schema, None);
    let config = &asked.config;
    assert_eq!(
        (config.temperature, config.top_p, config.max_output_tokens),
        (Some(0.5), Some(0.9), Some(10))
    );
    assert_eq!(
        (&*config.stop, config.seed),
        (&[".".to_owned()][..], Some(3))
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_must_fit_a_runtime_schema() {
    let schema = json!({
        "type": "object",
        "properties": {"score": {"type": "integer"}, "at": {"type": "string", "format": "date"}},
        "required": ["score"],
    });
    let agent = |name: &'static str| {
        LlmAgent::builder(name)
            .output_key("grade")
            .output_schema(schema.clone())
            .build()
            .unwrap()
    };
    let good = json!({"score": 3, "at": "2026-01-01"});
    let model = ScriptedModel::new()
        .on("good")
        .reply(Reply::new().json(&good));
    let outcome = runner(&model).run(&agent("good"), "go").await.unwrap();
    assert_eq!(outcome.get("grade").unwrap(), Some(good));
    assert_eq!(
        **model.requests()[0].response_schema.as_ref().unwrap(),
        schema
    );

    let model = ScriptedModel::new()
        .on("bad")
        .reply(Reply::new().json(json!({"score": "three"})))
        .repeat_last();
    let error = runner(&model).run(&agent("bad"), "go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutputInvalid);
    assert_eq!(
        error.message(),
        "the model's answer does not fit the type of `grade` in 3 attempts: `score`: expected an \
         integer, got the string \"three\"; it was: {\"score\":\"three\"}; the schema is: \
         {\"type\":\"object\",\"properties\":{\"score\":{\"type\":\"integer\"},\
         \"at\":{\"type\":\"string\",\"format\":\"date\"}},\"required\":[\"score\"]}"
    );
}

#[test]
fn types_of_keys_are_compared() {
    let writer = LlmAgent::builder("writer")
        .output_key("grade")
        .output_type::<Grade>();
    let other = LlmAgent::builder("other")
        .output_key("grade")
        .output_type::<Vec<u8>>();
    let free = LlmAgent::builder("free")
        .output_key("grade")
        .output_schema(json!({"type": "object"}));
    let error = SequentialAgent::builder("root")
        .sub_agents((writer, other, free))
        .build()
        .unwrap_err();
    let faults: Vec<_> = error
        .faults()
        .iter()
        .map(|fault| (&*fault.node, fault.check.name()))
        .collect();
    assert_eq!(faults, [("other", "key-type")]);
}

#[test]
fn contradictory_settings_are_refused() {
    let agent = LlmAgent::builder("a").max_turns(0).output_schema(json!({}));
    // As in ADK, a schema without a key is sent to the model and its answer is not checked.
    assert_eq!(
        agent.build().unwrap_err().to_string(),
        "syntax: `max_turns` of agent `a` is 0; help: use 1 or more, because a turn makes at least \
         one model call"
    );
    let router =
        LlmAgent::builder("router").sub_agents([LlmAgent::builder("b"), LlmAgent::builder("c")]);
    let router = router.disallow_transfer_to_peers(true).build().unwrap();
    let names: Vec<_> = router
        .sub_agents()
        .iter()
        .map(|agent| agent.meta().name.to_owned())
        .collect();
    assert_eq!(names, ["b", "c"]);
    assert!(router.disallow_transfer_to_peers() && !router.disallow_transfer_to_parent());
}
