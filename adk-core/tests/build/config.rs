//! Trees from a config.

use crate::support::{said, says};
use adk_core::build::{Registry, Tree};
use adk_core::testing::ScriptedModel;
use adk_core::tool::FunctionTool;
use adk_core::{LoopEndReason, Runner};
use serde_json::{Value, json};

fn refused(config: Value, registry: &Registry) -> String {
    Tree::from_config(&config, registry).unwrap_err().to_string()
}

#[tokio::test(start_paused = true)]
async fn a_tree_is_read_and_runs() {
    let config = json!({
        "agent_class": "SequentialAgent",
        "name": "writing",
        "description": "Writes.",
        "state": {"topic": "tea"},
        "sub_agents": [
            "researcher",
            {
                "agent_class": "LoopAgent",
                "name": "refinement",
                "max_iterations": 3,
                "sub_agents": [
                    {
                        "name": "writer",
                        "model": "scripted",
                        "instruction": "Write about {topic}: {draft?}",
                        "output_key": "draft",
                        "include_contents": "none",
                        "generate_content_config": {"temperature": 1, "max_output_tokens": 99, "stop_sequences": ["END"]},
                    },
                    {"config_path": "critic.json"},
                ],
            },
        ],
    });
    let critic = json!({
        "agent_class": "LlmAgent",
        "name": "critic",
        "model": "scripted",
        "instruction": "Review {draft}.",
        "tools": [{"name": "exit_loop"}, "now"],
    });
    let model = ScriptedModel::new()
        .on("writer")
        .text("one")
        .text("two")
        .on("critic")
        .text("more")
        .call("exit_loop", json!({}));
    let registry = Registry::new()
        .agent(says("researcher"))
        .model("scripted", model.clone())
        .tool(FunctionTool::new("now", "The time.", |(), _| "noon"))
        .document("critic.json", critic);
    let tree = Tree::from_config(&config, &registry).unwrap();
    assert_eq!(tree.spec().description, "Writes.");
    let runner: Runner = Runner::builder().build().unwrap();
    let outcome = runner.run(&tree, "go").await.unwrap();
    assert_eq!(outcome.get::<String>("draft").unwrap().as_deref(), Some("two"));
    let LoopEndReason::Escalated { by } = &outcome.loops[0].reason else { panic!() };
    assert_eq!(by.to_string(), "writing/refinement#2/critic");
    let asked = model.requests();
    assert!(asked[2].system_instruction.starts_with("Write about tea: one\n"));
    assert_eq!((asked[0].config.temperature, asked[0].config.max_output_tokens), (Some(1.0), Some(99)));
    assert_eq!(asked[1].tools.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_root_may_be_a_name() {
    let registry = Registry::new().agent(says("a"));
    assert_eq!(said(&Tree::from_config(&json!("a"), &registry).unwrap()).await.unwrap(), ["a"]);
    let par = json!({"agent_class": "ParallelAgent", "name": "p", "max_concurrency": 1, "sub_agents": [{"code": "a"}]});
    assert_eq!(said(&Tree::from_config(&par, &registry).unwrap()).await.unwrap(), ["p/a [p.a]"]);
}

#[test]
fn all_faults_at_once_each_with_its_place() {
    let config = json!({
        "agent_class": "SequentialAgent",
        "name": "root",
        "max_iterations": 3,
        "flow_checks": "no",
        "sub_agents": [
            {"agent_class": "LoopAgnet", "name": "typo", "sub_agents": [{"name": "inner", "instrution": "x"}]},
            {"agent_class": "LoopAgent", "name": "again", "max_iterations": -1, "sub_agents": []},
            {"agent_class": "LoopAgent", "name": "many", "max_iterations": 4294967296_u64, "sub_agents": ["nobody"]},
            {"agent_class": "ParallelAgent", "name": "fast", "max_concurrency": 2.5, "sub_agents": ["resercher"]},
            {"agent_class": 7, "name": 8},
            {"name": "writer", "tools": ["exit_lop", 5, {"nme": "exit_loop"}], "include_contents": "all", "output_key": ["k"]},
            {"name": "writer", "instruction": "{missing}", "generate_content_config": {"temprature": 1, "seed": -1}},
            {"instruction": "no name"},
            {"name": "my agent", "max_turns": 0},
            {"code": "resercher", "name": "x"},
            {"config_path": "nowhere.json"},
            null,
            {"name": "tools", "tools": ["exit_loop", "exit_loop"]},
        ],
    });
    let registry = Registry::new().agent(says("researcher"));
    assert_eq!(
        refused(config, &registry),
        "\
?"
    );
}

#[test]
fn cycles_are_told_with_their_way() {
    let registry = Registry::new()
        .document("a.json", json!({"agent_class": "SequentialAgent", "name": "a", "sub_agents": ["b.json"]}))
        .document(
            "b.json",
            json!({"agent_class": "SequentialAgent", "name": "b", "sub_agents": [
                {"agent_class": "LoopAgent", "name": "c", "max_iterations": 0, "sub_agents": [{"config_path": "a.json"}]},
            ]}),
        );
    assert_eq!(
        refused(json!("a.json"), &registry),
        "\
?"
    );
}

#[test]
fn the_same_agent_twice_and_one_document_twice() {
    let registry = Registry::new().agent(says("a")).document("w.json", json!({"name": "w"}));
    let config = json!({"agent_class": "SequentialAgent", "name": "root", "sub_agents": ["a", "w.json", "a", "w.json"]});
    assert_eq!(
        refused(config, &registry),
        "\
?"
    );
}

#[test]
fn whatever_is_no_agent_is_refused() {
    let registry = Registry::new();
    for config in [json!(null), json!(1), json!([]), json!({}), json!("x"), json!(true), json!({"code": 3})] {
        assert!(Tree::from_config(&config, &registry).is_err(), "{config}");
    }
    let mut deep = json!({"name": "leaf"});
    for depth in 0..20_000 {
        // `json!` copies what is put into it.
        let mut agent = json!({"agent_class": "SequentialAgent", "name": format!("s{depth}")});
        agent["sub_agents"] = Value::Array(vec![deep]);
        deep = agent;
    }
    let error = Tree::from_config(&deep, &registry).unwrap_err();
    assert!(error.to_string().contains("more than 128 agents"), "{error}");
    // A value that deep is dropped by recursion as well.
    std::mem::forget(deep);
}
