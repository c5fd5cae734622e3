//! Prompts, outputs and tools with renamed keys: in instances and in elements.

use super::*;
use crate::support::{Tree, each, renamed, repeat, run};
use adk_build::llm::{LlmAgent, OutputKey};
use adk_build::{ErrorKind, KeySpec};

agent!(
    Critic = LlmDecl::new(meta("critic").writes(&[KeySpec::new("criticism", "String")]))
        .instruction("Critique {draft}, as before: {criticism?}.")
        .output(OutputKey::text("criticism"))
);

/// Makes a tool that adds its name to a list.
fn notes(name: &'static str) -> ByTool {
    tool(name, move |_, cx| {
        let noted = cx.state().get::<Vec<String>>("notes").and_then(|notes| {
            let notes = [notes.unwrap_or_default(), vec![name.to_owned()]].concat();
            cx.state().set("notes", &notes)?;
            Ok(json!(cx.state().get::<Vec<String>>("notes")?))
        });
        Box::pin(async move { noted.map_err(Into::into) })
    })
}

fn critic() -> Declared<Critic> {
    let mut agent = llm::<Critic>();
    agent.add_tool(notes("f")).add_tool(notes("g"));
    agent
}

const READS: &[(&str, &str)] = &[("draft", "topic"), ("notes", "memory")];

#[tokio::test]
async fn prompt_output_and_tools_use_the_keys_of_the_instance() {
    let both = [("f", json!({})), ("g", json!({}))];
    let model = ScriptedModel::new()
        .calls(both.clone())
        .calls(both)
        .text("good");
    let tree = Tree::new("w", vec![renamed("second", critic(), READS, &["of_topic"])])
        .lets("memory", json!(["old"]))
        .lets("notes", json!(["other"]))
        .lets("criticism", "bad");
    let events = events(&model, &tree).await;
    assert!(
        model.requests()[0]
            .system_instruction
            .starts_with("Critique go, as before: bad.")
    );
    // Calls of one reply do not see each other's writes; calls of the next reply see both.
    let deltas: Vec<_> = events
        .iter()
        .map(|event| delta(event))
        .filter(|delta| *delta != json!({}))
        .collect();
    assert_eq!(
        deltas,
        [
            json!({"notes": ["old", "f", "g"]}),
            json!({"notes": ["old", "f", "g", "f", "g"]}),
            json!({"of_topic": "good"}),
        ]
    );
}

#[tokio::test]
async fn a_prompt_without_its_value_names_the_key_of_the_instance() {
    let tree = Tree::new(
        "w",
        vec![renamed("second", critic(), &[("draft", "essay")], &[])],
    );
    let error = failure(&ScriptedModel::new(), &tree).await;
    assert_eq!(error.kind(), ErrorKind::KeyMissing);
    assert!(
        error.to_string().contains(
            "reads `{draft}`, but nothing has written the key `essay`; help: pass `essay`"
        ),
        "{error}"
    );
}

const NOTES: ToolMeta<'static> =
    ToolMeta::new("f", "").writes(&[KeySpec::new("notes", "Vec<String>").optional(true)]);
agent!(
    Noter = LlmDecl::new(
        meta("noter")
            .tools(&[NOTES])
            .writes(&[KeySpec::new("about", "String")])
    )
    .instruction("On {item}{about?}.")
    .output(OutputKey::text("about"))
);

#[tokio::test]
async fn tools_and_prompts_in_an_element_use_only_its_keys() {
    let mut noter = llm::<Noter>();
    noter.add_tool(notes("f")).add_tool(notes("g"));
    let mut model = ScriptedModel::new();
    for _ in 0..2 {
        model = model
            .calls([("f", json!({})), ("g", json!({}))])
            .text("good");
    }
    let block = each("e", "item", "items", vec![run(noter)]);
    let tree = Tree::new("w", vec![repeat("l", Some(2), vec![block])]).lets("items", json!(["a"]));
    let outcome = runner(&model).run(&tree, "go").await.unwrap();
    // In the second round, the tools and the prompt start with empty keys again.
    assert_eq!(
        outcome.get::<Value>("notes").unwrap(),
        Some(json!([["f", "g"]]))
    );
    assert_eq!(
        outcome.get::<Value>("about").unwrap(),
        Some(json!(["good"]))
    );
    assert!(
        model
            .requests()
            .iter()
            .all(|request| request.system_instruction.starts_with("On a."))
    );
}

/// Makes a tool that reads one key name, adds 1, and writes another key name.
fn counts() -> ByTool {
    let count = tool("count", |_, cx| {
        let counted = cx.state().get::<u32>("before").and_then(|count| {
            cx.state().set("after", count.unwrap_or_default() + 1)?;
            Ok(json!(count))
        });
        Box::pin(async move { counted.map_err(Into::into) })
    });
    const READS: &[KeySpec<'static>] = &[KeySpec::new("before", "u32").optional(true)];
    count.keys(READS, const { &[KeySpec::new("after", "u32")] })
}

#[tokio::test]
async fn calls_that_use_one_key_under_two_names_do_not_overwrite_each_other() {
    let agent = LlmAgent::builder("critic")
        .output_key("criticism")
        .tool(counts())
        .build()
        .unwrap();
    let calls = [
        ("count", json!({})),
        ("count", json!({})),
        ("count", json!({})),
    ];
    let model = ScriptedModel::new().calls(calls).text("good");
    let tree = Tree::new(
        "w",
        vec![renamed(
            "second",
            agent,
            &[("before", "after")],
            &["criticism"],
        )],
    )
    .lets("after", 7);
    let events = events(&model, &tree).await;
    assert_eq!(delta(&events[1]), json!({"after": 10}));
}

#[tokio::test]
async fn a_list_is_joined_with_the_old_value_of_the_renamed_key() {
    const NOTES: &[KeySpec<'static>] = &[KeySpec::new("notes", "Vec<String>")];
    let agent = LlmAgent::builder("critic")
        .output_key("criticism")
        .tool(notes("f").keys(&[], NOTES));
    let agent = agent.tool(notes("g").keys(&[], NOTES)).build().unwrap();
    let model = ScriptedModel::new()
        .calls([("f", json!({})), ("g", json!({}))])
        .text("good");
    // The key `criticism` of the definition is the same key here.
    let tree = Tree::new("w", vec![renamed("second", agent, &[], &["notes"])])
        .lets("notes", json!(["old"]));
    let events = events(&model, &tree).await;
    assert_eq!(delta(&events[1]), json!({"notes": ["old", "f", "g"]}));
}

#[tokio::test]
async fn calls_in_an_element_see_each_other_without_an_earlier_value() {
    let agent = LlmAgent::builder("critic")
        .output_key("criticism")
        .tool(counts())
        .build()
        .unwrap();
    let model = ScriptedModel::new()
        .calls([("count", json!({})), ("count", json!({}))])
        .text("good");
    let second = renamed("second", agent, &[("before", "after")], &["criticism"]);
    let tree =
        Tree::new("w", vec![each("e", "item", "items", vec![second])]).lets("items", json!(["a"]));
    let outcome = runner(&model).run(&tree, "go").await.unwrap();
    assert_eq!(outcome.get::<Value>("after").unwrap(), Some(json!([2])));
}
