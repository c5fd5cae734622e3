//! Tests that generated values fit the types that read them.

use super::*;
use crate::Name;
use crate::model::CallInfo;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

fn sampler(round: u32) -> Sampler {
    Sampler { round, rounds: 2 }
}

/// Checks that the values of several rounds fit the type, and returns the last value.
fn fits<T: JsonSchema + Serialize + DeserializeOwned>() -> Value {
    // Agents request their outputs with schemas of these settings.
    let mut settings = schemars::generate::SchemaSettings::draft2020_12();
    settings.meta_schema = None;
    settings.inline_subschemas = true;
    let schema: Value = settings.into_generator().into_root_schema_for::<T>().into();
    let mut last = Value::Null;
    for round in 1..=4 {
        last = sampler(round).sample(&schema, "it");
        if let Err(error) = T::deserialize(&last) {
            panic!("round {round}: {error}\nvalue {last}\nschema {schema}");
        }
    }
    last
}

#[derive(JsonSchema, Serialize, Deserialize)]
enum Severity {
    Low,
    High,
}

/// A documented enum has the schema `oneOf` with constants.
#[derive(JsonSchema, Serialize, Deserialize)]
enum Documented {
    /// Fine.
    Pass,
    /// Not fine.
    Fail,
}

#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Tagged {
    Circle { radius: f64 },
    Square { side: u8 },
}

#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Text(String),
    Both { a: i32, b: Option<String> },
}

#[derive(JsonSchema, Serialize, Deserialize)]
enum External {
    Unit,
    New(u16),
    Pair(u8, String),
    Named { x: bool },
}

#[derive(JsonSchema, Serialize, Deserialize)]
struct Tree {
    name: String,
    children: Vec<Tree>,
    parent: Option<Box<Tree>>,
}

#[derive(JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Report {
    title: String,
    severity: Severity,
    documented: Documented,
    score: f64,
    count: usize,
    small: i8,
    letter: char,
    tags: Vec<String>,
    set: BTreeSet<u32>,
    pair: (u8, String),
    fixed: [f32; 3],
    map: BTreeMap<String, i32>,
    by_number: HashMap<u32, bool>,
    maybe: Option<Tagged>,
    shapes: Vec<Tagged>,
    untagged: Untagged,
    external: Vec<External>,
    tree: Tree,
    anything: Value,
    unit: (),
}

#[derive(JsonSchema, Serialize, Deserialize)]
struct Flat {
    own: u8,
    #[serde(flatten)]
    inner: Inner,
    #[serde(flatten)]
    shape: Tagged,
}

#[derive(JsonSchema, Serialize, Deserialize)]
struct Inner {
    deep: String,
}

#[test]
fn values_fit_the_types_that_they_are_read_as() {
    fits::<Report>();
    fits::<Flat>();
    fits::<f64>();
    fits::<bool>();
    fits::<u8>();
    fits::<i64>();
    fits::<Vec<Report>>();
    fits::<Option<Severity>>();
    fits::<Severity>();
    fits::<Untagged>();
    fits::<External>();
    fits::<BTreeMap<String, Vec<Tagged>>>();
    fits::<std::time::Duration>();
    fits::<std::net::IpAddr>();
    fits::<std::num::NonZeroU8>();
    assert_eq!(fits::<(u8, u8)>().as_array().map(Vec::len), Some(2));
}

#[test]
fn values_change_with_the_rounds() {
    let sample = |round, schema: Value| sampler(round).sample(&schema, "it");
    let score = json!({"type": "number", "minimum": 0, "maximum": 100});
    assert_eq!(
        (
            sample(1, score.clone()),
            sample(2, score.clone()),
            sample(3, score)
        ),
        (json!(0.0), json!(100.0), json!(100.0))
    );
    let done = json!({"type": "boolean"});
    assert_eq!(
        (sample(1, done.clone()), sample(2, done)),
        (json!(false), json!(true))
    );
    let choice = json!({"enum": ["a", "b"]});
    assert_eq!(
        (
            sample(1, choice.clone()),
            sample(2, choice.clone()),
            sample(3, choice)
        ),
        (json!("a"), json!("b"), json!("a"))
    );
    assert_eq!(
        sample(
            2,
            json!({"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255})
        ),
        json!(2)
    );
}

#[test]
fn values_keep_the_limits_of_their_schema() {
    let sample = |schema: Value| sampler(1).sample(&schema, "name");
    assert_eq!(
        sample(json!({"type": "integer", "exclusiveMinimum": 4})),
        json!(5)
    );
    assert_eq!(
        sample(json!({"type": "integer", "minimum": 5, "multipleOf": 4})),
        json!(8)
    );
    assert_eq!(
        sample(json!({"type": "number", "maximum": -3})),
        json!(-3.0)
    );
    assert_eq!(
        sample(json!({"type": "string", "maxLength": 3})),
        json!("nam")
    );
    assert_eq!(
        sample(json!({"type": "string", "minLength": 9})),
        json!("name 1...")
    );
    assert_eq!(
        sample(json!({"type": "array", "items": {"type": "null"}, "minItems": 3})),
        json!([null, null, null])
    );
    assert_eq!(
        sample(json!({"type": "array", "items": {"type": "string"}, "maxItems": 1})),
        json!(["name 1"])
    );
    assert_eq!(
        sample(json!({"type": ["null", "string"], "format": "date"})),
        json!("2026-01-01")
    );
    let recursive = json!({
        "$defs": {"T": {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}}}},
        "$ref": "#/$defs/T",
    });
    assert_eq!(sample(recursive), json!({}));
    let endless = json!({
        "$defs": {"T": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/T"}}},
        "$ref": "#/$defs/T",
    });
    assert_eq!(sample(endless), json!(null));
}

fn request(path: &str, turn: u32, tools: &[(&'static str, bool)]) -> ModelRequest {
    let path: Path = path.parse().unwrap();
    let declaration = |(name, escalates): &(&'static str, bool)| {
        let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}});
        ToolDeclaration::new(*name, "", parameters).escalates(*escalates)
    };
    ModelRequest {
        tools: tools.iter().map(declaration).collect(),
        info: CallInfo {
            agent: Name::shared(path.name()),
            path,
            turn,
            ..CallInfo::default()
        },
        ..ModelRequest::default()
    }
}

fn reply_text(model: &Rehearsal, path: &str, turn: u32, tools: &[(&'static str, bool)]) -> String {
    let content = model.answer(&request(path, turn, tools));
    match content
        .function_calls()
        .map(|call| call.name.clone())
        .collect::<Vec<_>>()
    {
        calls if calls.is_empty() => content.text(),
        calls => calls.join("+"),
    }
}

#[test]
fn a_text_names_the_agent_and_its_round() {
    let model = Rehearsal::new();
    assert_eq!(
        reply_text(&model, "w/writer", 0, &[]),
        "(rehearsed answer of writer)"
    );
    assert_eq!(
        reply_text(&model, "w/l#1/m#3/critic", 0, &[]),
        "(rehearsed answer of critic, round 3)"
    );
    assert_eq!(
        reply_text(&model, "w/each_1[4]/worker", 0, &[]),
        "(rehearsed answer of worker, item 4)"
    );
}

#[test]
fn an_exit_tool_is_called_in_the_chosen_round_of_a_loop() {
    let model = Rehearsal::new().rounds(3);
    let tools = [("search", false), ("exit_loop", true)];
    assert!(reply_text(&model, "w/l#2/a", 0, &tools).contains("answer of a, round 2)"));
    assert_eq!(reply_text(&model, "w/l#3/a", 0, &tools), "exit_loop");
    assert_eq!(
        reply_text(&model, "w/l#4/a", 0, &tools),
        "exit_loop",
        "also when it is first offered later"
    );
    assert!(
        reply_text(&model, "w/l#3/a", 1, &tools).contains("answer of a, round 3)"),
        "a tool that does not skip the summary"
    );
    assert!(
        reply_text(&model, "w/a", 0, &tools).contains("answer of a)"),
        "no loop, no exit"
    );
}

#[test]
fn other_tools_are_called_once_a_turn_when_asked_for() {
    let model = Rehearsal::new().with_tool_calls();
    let tools = [
        ("search", false),
        ("exit_loop", true),
        ("fetch", false),
        ("transfer_to_agent", false),
    ];
    assert_eq!(reply_text(&model, "w/l#1/a", 0, &tools), "search+fetch");
    assert!(reply_text(&model, "w/l#1/a", 1, &tools).contains("answer of a, round 1)"));
    assert_eq!(reply_text(&model, "w/l#2/a", 0, &tools), "search+fetch");
    assert_eq!(reply_text(&model, "w/l#2/a", 1, &tools), "exit_loop");
    let call = model.answer(&request("w/a", 0, &tools));
    assert_eq!(call.function_calls().next().unwrap().args["city"], "city 1");
}
