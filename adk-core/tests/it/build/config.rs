//! Trees built from a config.

use crate::build::support::{run_lines, says};
use adk_build::build::{Registry, Tree};
use adk_build::callback::{AgentCallbacks, CallbackContext, ModelCallbacks};
use adk_build::model::ModelRequest;
use adk_build::testing::ScriptedModel;
use adk_build::tool::FunctionTool;
use adk_build::{LoopEndReason, Runner};
use serde_json::{Value, json};

fn error_of(config: Value, registry: &Registry) -> String {
    Tree::from_config(&config, registry)
        .unwrap_err()
        .to_string()
}

#[tokio::test(start_paused = true)]
async fn a_tree_from_a_config_runs() {
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
                        "generate_content_config": {
                            "temperature": 1,
                            "max_output_tokens": 99,
                            "stop_sequences": ["END"],
                        },
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
    assert_eq!(
        outcome.get::<String>("draft").unwrap().as_deref(),
        Some("two")
    );
    let LoopEndReason::Escalated { by } = &outcome.loops[0].reason else {
        panic!()
    };
    assert_eq!(by.to_string(), "writing/refinement#2/critic");
    let asked = model.requests();
    assert!(
        asked[2]
            .system_instruction
            .starts_with("Write about tea: one\n")
    );
    assert_eq!(
        (
            asked[0].config.temperature,
            asked[0].config.max_output_tokens
        ),
        (Some(1.0), Some(99))
    );
    assert_eq!(asked[1].tools.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_root_may_be_a_name() {
    let registry = Registry::new().agent(says("a"));
    assert_eq!(
        run_lines(&Tree::from_config(&json!("a"), &registry).unwrap())
            .await
            .unwrap(),
        ["a"]
    );
    let par = json!({
        "agent_class": "ParallelAgent",
        "name": "p",
        "max_concurrency": 1,
        "sub_agents": [{"code": "a"}],
    });
    assert_eq!(
        run_lines(&Tree::from_config(&par, &registry).unwrap())
            .await
            .unwrap(),
        ["p/a [p.a]"]
    );
}

/// Returns a config with a fault of each kind.
fn faulty_config() -> Value {
    json!({
        "agent_class": "SequentialAgent",
        "name": "root",
        "max_iterations": 3,
        "flow_checks": "no",
        "sub_agents": [
            {
                "agent_class": "LoopAgnet",
                "name": "typo",
                "sub_agents": [{"name": "inner", "instrution": "x"}],
            },
            {"agent_class": "LoopAgent", "name": "again", "max_iterations": -1, "sub_agents": []},
            {
                "agent_class": "LoopAgent",
                "name": "many",
                "max_iterations": 4294967296_u64,
                "sub_agents": ["nobody"],
            },
            {
                "agent_class": "ParallelAgent",
                "name": "fast",
                "max_concurrency": 2.5,
                "sub_agents": ["resercher"],
            },
            {"agent_class": 7, "name": 8},
            {
                "name": "writer",
                "tools": ["exit_lop", 5, {"nme": "exit_loop"}],
                "include_contents": "all",
                "output_key": ["k"],
            },
            {
                "name": "writer",
                "instruction": "{missing}",
                "generate_content_config": {
                    "temprature": 1,
                    "seed": -1,
                    "temperature": -0.5,
                    "top_p": 1.5,
                },
            },
            {"instruction": "no name"},
            {"name": "my agent", "max_turns": 0},
            {"code": "resercher", "name": "x"},
            {"config_path": "nowhere.json"},
            null,
            {"name": "tools", "tools": ["exit_loop", "exit_loop"]},
        ],
    })
}

#[test]
fn all_faults_are_reported_at_once_with_their_places() {
    let registry = Registry::new().agent(says("researcher"));
    assert_eq!(
        error_of(faulty_config(), &registry),
        "\
flow_checks: syntax: `flow_checks` is the string \"no\"; help: write true or false
sub_agents[0].agent_class: field-unknown: there is no agent class `LoopAgnet`; help: did you mean \
    `LoopAgent`?
sub_agents[0].sub_agents[0].instrution: field-unknown: an `LlmAgent` has no field `instrution`; \
    help: did you mean `instruction`?
sub_agents[1].max_iterations: loop-max: `max_iterations` of block `again` is -1; help: it is the \
    largest number of rounds, 1 or more
sub_agents[2].max_iterations: loop-max: `max_iterations` of block `many` is 4294967296, which is \
    too large; help: it is the largest number of rounds, 1 or more
sub_agents[2].sub_agents[0]: field-unknown: there is no agent `nobody`; help: use `researcher`
sub_agents[3].max_concurrency: syntax: `max_concurrency` is the number 2.5; help: write a whole \
    number, 1 or more
sub_agents[3].sub_agents[0]: field-unknown: there is no agent `resercher`; help: did you mean \
    `researcher`?
sub_agents[4].agent_class: syntax: `agent_class` is the number 7; help: write a string
sub_agents[4].name: syntax: `name` is the number 8; help: write a string
sub_agents[5].output_key: syntax: `output_key` is a list; help: write a string
sub_agents[5].include_contents: syntax: `include_contents` is `all`; help: write \
    `default`, `none` or `prompt`
sub_agents[5].tools[0]: field-unknown: agent `writer` has a tool `exit_lop`, which the registry \
    does not have; help: did you mean `exit_loop`?
sub_agents[5].tools[1]: syntax: a tool is the number 5; help: write its name
sub_agents[5].tools[2].name: syntax: a tool has no name; help: write one, as in `{name: NAME}`
sub_agents[5].tools[2].nme: field-unknown: a reference to a tool has no field `nme`; help: did you \
    mean `name`?
sub_agents[6].generate_content_config.temperature: syntax: `temperature` is the number -0.5; help: \
    write a number, 0 or more
sub_agents[6].generate_content_config.top_p: syntax: `top_p` is the number 1.5; help: write a \
    number from 0 to 1
sub_agents[6].generate_content_config.seed: syntax: `seed` is the number -1; help: write a whole \
    number, 0 or more
sub_agents[6].generate_content_config.temprature: field-unknown: `generate_content_config` has no \
    field `temprature`; help: did you mean `temperature`?
sub_agents[7].name: name-invalid: an agent has no name; help: give it a `name`
sub_agents[9].name: field-unknown: a reference to an agent has no field `name`; help: use one of \
    `config_path`, `code`
sub_agents[9].code: field-unknown: the registry has no agent `resercher`; help: did you mean \
    `researcher`?
sub_agents[10].config_path: field-unknown: the registry has no document `nowhere.json`; help: add \
    it to the registry
sub_agents[11]: syntax: an agent is null; help: write its fields, or a name
max_iterations: field-unknown: a `SequentialAgent` has no field `max_iterations`; help: use one of \
    `flow_checks`, `state`, `guards`, `agent_class`, `name`, `description`, \
    `before_agent_callbacks`, `after_agent_callbacks`, `sub_agents`
sub_agents[1].sub_agents: block-empty: block `again` has no steps; help: remove it, or put an \
    agent into it
sub_agents[6].name: name-duplicate: `writer` has the same name as a step before it; help: give one \
    of them another name
sub_agents[8].name: name-invalid: `my agent` is no name; help: use letters, digits and `_`, not \
    beginning with a digit
sub_agents[8]: syntax: `max_turns` of agent `my agent` is 0; help: use 1 or more, because a turn \
    makes at least one model call
sub_agents[12].tools: tool-duplicate: agent `tools` has two tools of the name `exit_loop`; help: \
    remove one of them, or give it another name, `#[tool(name = \"...\")]`"
    );
}

#[test]
fn cycles_are_reported_with_their_path() {
    let registry = Registry::new()
        .document(
            "a.json",
            json!({
                "agent_class": "SequentialAgent",
                "name": "a",
                "sub_agents": ["b.json"],
            }),
        )
        .document(
            "b.json",
            json!({"agent_class": "SequentialAgent", "name": "b", "sub_agents": [
                {
                    "agent_class": "LoopAgent",
                    "name": "c",
                    "max_iterations": 0,
                    "sub_agents": [{"config_path": "a.json"}],
                },
            ]}),
        );
    assert_eq!(
        error_of(json!("a.json"), &registry),
        "\
b.json: sub_agents[0].max_iterations: loop-max: `max_iterations` of block `c` is 0; help: it is \
    the largest number of rounds, 1 or more
b.json: sub_agents[0].sub_agents[0].config_path: agent-reused: `a.json` contains itself, by \
    `a.json` > `b.json` > `a.json`; help: a tree has no cycles: to do something again, use a \
    `LoopAgent`"
    );
}

#[test]
fn duplicate_agents_and_documents_are_refused() {
    let registry = Registry::new()
        .agent(says("a"))
        .document("w.json", json!({"name": "w"}));
    let config = json!({
        "agent_class": "SequentialAgent",
        "name": "root",
        "sub_agents": ["a", "w.json", "a", "w.json"],
    });
    assert_eq!(
        error_of(config, &registry),
        "\
sub_agents[2]: agent-reused: `a` is the same agent as a step before it; help: build a second one, \
    with a name of its own
w.json: name: name-duplicate: `w` has the same name as a step before it; help: give one of them \
    another name"
    );
}

#[test]
fn values_that_are_not_agents_are_refused() {
    let registry = Registry::new();
    for config in [
        json!(null),
        json!(1),
        json!([]),
        json!({}),
        json!("x"),
        json!(true),
        json!({"code": 3}),
    ] {
        assert!(Tree::from_config(&config, &registry).is_err(), "{config}");
    }
    let mut deep = json!({"name": "leaf"});
    for depth in 0..20_000 {
        // `json!` copies the value, so the nested list is inserted by hand.
        let mut agent = json!({"agent_class": "SequentialAgent", "name": format!("s{depth}")});
        agent["sub_agents"] = Value::Array(vec![deep]);
        deep = agent;
    }
    let error = Tree::from_config(&deep, &registry).unwrap_err();
    assert!(
        error.to_string().contains("more than 128 agents"),
        "{error}"
    );
    // Dropping a value that deep would recurse and overflow the stack.
    std::mem::forget(deep);
}

#[tokio::test(start_paused = true)]
async fn callbacks_are_referenced_by_name() {
    let mut agent = AgentCallbacks::default();
    agent.before(|cx: &mut CallbackContext| (cx.iteration() == Some(1)).then_some("skipped"));
    let mut model = ModelCallbacks::default();
    model.before(|_: &mut CallbackContext, request: &mut ModelRequest| {
        request.system_instruction.push_str(" Be brief.");
    });
    let scripted = ScriptedModel::new().on("a").text("one");
    let registry = Registry::new()
        .model("scripted", scripted.clone())
        .agent_callbacks("skip", agent)
        .model_callbacks("brief", model);
    let config = json!({
        "agent_class": "LoopAgent",
        "name": "lp",
        "max_iterations": 2,
        "sub_agents": [{
            "name": "a",
            "model": "scripted",
            "before_agent_callbacks": [{"name": "skip"}],
            "before_model_callbacks": ["brief"],
        }],
    });
    let tree = Tree::from_config(&config, &registry).unwrap();
    assert_eq!(run_lines(&tree).await.unwrap(), ["lp#1/a", "lp#2/a"]);
    assert_eq!(scripted.requests().len(), 1);
    assert!(
        scripted.requests()[0]
            .system_instruction
            .ends_with(" Be brief.")
    );

    let wrong = json!({
        "name": "a",
        "before_agent_callbacks": "skip",
        "after_agent_callbacks": ["skip", "brif", 3],
        "on_tool_error_callbacks": [{"nme": "skip"}],
    });
    assert_eq!(
        error_of(wrong, &registry),
        "\
before_agent_callbacks: syntax: `before_agent_callbacks` is the string \"skip\"; help: write a list
after_agent_callbacks[0]: field-unknown: `skip` has no callback for `after_agent_callbacks`; help: \
    add one to it where it is registered
after_agent_callbacks[1]: field-unknown: the registry has no callback `brif`; help: did you mean \
    `brief`?
after_agent_callbacks[2]: syntax: a callback is the number 3; help: write its name
on_tool_error_callbacks[0].name: syntax: a callback has no name; help: write one, as in \
    `{name: NAME}`
on_tool_error_callbacks[0].nme: field-unknown: a reference to a callback has no field `nme`; help: \
    did you mean `name`?"
    );
}

#[tokio::test(start_paused = true)]
async fn the_root_instruction_reaches_all_and_outputs_have_names() {
    let scripted = ScriptedModel::new().json(["one", "two"]);
    let registry = Registry::new()
        .model("scripted", scripted.clone())
        .output_type::<Vec<String>>("Titles")
        .output_schema("Draft", json!({"type": "object"}));
    let agent = |output: Value| {
        json!({
            "name": "a",
            "model": "scripted",
            "global_instruction": "For all.",
            "output_key": "titles",
            "output_schema": output,
        })
    };
    assert!(Tree::from_config(&agent(json!({"name": "Titles"})), &registry).is_ok());
    let tree = Tree::from_config(&agent(json!("Titles")), &registry).unwrap();
    let runner: Runner = Runner::builder().build().unwrap();
    let outcome = runner.run(&tree, "go").await.unwrap();
    assert_eq!(
        outcome.get::<Vec<String>>("titles").unwrap().unwrap(),
        ["one", "two"]
    );
    let asked = &scripted.requests()[0];
    assert!(
        asked.system_instruction.starts_with("For all.\n\n"),
        "{}",
        asked.system_instruction
    );
    assert_eq!(asked.response_schema.as_ref().unwrap()["type"], "array");

    // A schema is accepted as is.
    Tree::from_config(&agent(json!({"type": "string"})), &registry).unwrap();
    assert_eq!(
        error_of(agent(json!("Drat")), &registry),
        "output_schema: field-unknown: the registry has no output schema or type `Drat`; help: did \
         you mean `Draft`?"
    );
    assert_eq!(
        error_of(agent(json!(3)), &registry),
        "output_schema: syntax: an output schema is the number 3; help: write its name, or a JSON \
         schema"
    );
}

#[test]
fn a_field_of_a_wrong_type_is_one_fault_and_hides_no_others() {
    let config = json!({"agent_class": "SequentialAgent", "name": "root", "sub_agents": [
        {
            "agent_class": "LoopAgent",
            "name": "lp",
            "max_iterations": 1.5,
            "sub_agents": [{"name": "a"}],
        },
        {"name": "reader", "instruction": "{nobody}"},
        {
            "agent_class": "LoopAgent",
            "name": "lq",
            "max_iterations": "many",
            "sub_agents": "critic",
        },
        {"agent_class": "ParallelAgent", "name": "par", "sub_agents": {"name": "b"}},
    ]});
    assert_eq!(
        error_of(config, &Registry::new())
            .lines()
            .map(|line| line.split("; help").next().unwrap())
            .collect::<Vec<_>>(),
        [
            "sub_agents[0].max_iterations: syntax: `max_iterations` is the number 1.5",
            "sub_agents[2].max_iterations: syntax: `max_iterations` is the string \"many\"",
            "sub_agents[2].sub_agents: syntax: `sub_agents` is the string \"critic\"",
            "sub_agents[3].sub_agents: syntax: `sub_agents` is an object",
        ]
    );
}

/// An agent that could not be read might write any key and end any loop.
#[test]
fn the_flow_is_checked_only_if_all_agents_are_read() {
    let config = |second: &str| {
        json!({"agent_class": "SequentialAgent", "name": "root", "sub_agents": [
            {"name": "reader", "instruction": "{nobody}"},
            second,
        ]})
    };
    let registry = Registry::new().agent(says("known"));
    assert_eq!(
        error_of(config("unknown"), &registry),
        "sub_agents[1]: field-unknown: there is no agent `unknown`; help: did you mean `known`?"
    );
    assert!(error_of(config("known"), &registry).starts_with("sub_agents[0]: key-missing: "));
}
