//! Functions as tools.

use adk::tool::ToolErrorKind;
use adk::{DynTool, Flow, KeySpec, Tool as _, ToolContext as Cx, ToolError, data, tool};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where it is.
#[data]
#[derive(PartialEq)]
struct Place {
    /// Degrees north,
    /// as a decimal.
    lat: f64,
    lon: f64,
    name: Option<String>,
    #[serde(default)]
    height: u16,
}

/// A unit.
#[data]
#[derive(Copy, Default, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Unit {
    Kelvin,
    /// Degrees of Celsius.
    #[default]
    Celsius,
    Fahrenheit,
}

#[data]
#[derive(PartialEq)]
enum Plain {
    Short,
    Long,
}

#[data]
#[derive(PartialEq)]
#[serde(tag = "kind")]
enum Shape {
    Circle { r: f64 },
    Square { a: f64 },
}

#[data]
#[derive(PartialEq)]
#[serde(untagged)]
enum Any {
    Number(i64),
    Text(String),
}

#[data]
#[derive(PartialEq)]
struct Tree {
    value: u8,
    children: Vec<Tree>,
}

#[data]
#[derive(PartialEq)]
enum Mixed {
    Nothing,
    /// So many.
    Some(u8),
    /// All.
    All,
}

/// Ends the loop.
#[tool]
fn exit_loop(cx: &mut Cx) {
    cx.actions.escalate = true;
    cx.actions.skip_summarization = true;
}

/// Says how warm it
/// will be.
///
/// Second paragraph.
#[tool]
async fn weather(
    /// The city,
    /// in words.
    city: &str,
    days: Option<u8>,
    cx: &mut Cx,
    #[default(Unit::Celsius)] unit: Unit,
    /// The language.
    #[default("en")]
    language: String,
    #[default(2)] hours: u32,
) -> Result<Value, std::fmt::Error> {
    tokio::task::yield_now().await;
    if city.is_empty() {
        return Err(std::fmt::Error);
    }
    cx.state().set("city", city).map_err(|_| std::fmt::Error)?;
    Ok(json!({ "city": city, "days": days, "unit": unit, "language": language, "hours": hours }))
}

/// Takes everything.
#[tool]
fn everything(
    place: Place,
    other: Option<Place>,
    unit: Unit,
    plain: Plain,
    shape: Shape,
    any: Any,
    tree: Tree,
    mixed: Mixed,
    table: BTreeMap<String, i32>,
    pair: (u8, String),
    tags: &[String],
    letter: char,
    raw: Value,
    at: &Place,
    note: Option<&str>,
) -> String {
    format!(
        "{place:?} {other:?} {unit:?} {plain:?} {shape:?} {any:?} {tree:?} {mixed:?} {table:?} {pair:?} {tags:?} {letter} {raw} {at:?} {note:?}"
    )
}

/// Perhaps it ends.
#[tool]
fn decide(value: i32) -> Result<Flow, String> {
    match value {
        0 => Ok(Flow::Continue),
        1 => Ok(Flow::Exit),
        2 => Ok(Flow::ExitTo("outer".into())),
        3 => panic!("three"),
        _ => Err(format!("no {value}")),
    }
}

type Verdict = Flow;

/// By alias.
#[tool]
async fn verdict() -> Verdict {
    Flow::Exit
}

/// Has all attributes.
#[tool(name = "look-up", escalates, writes(found: Vec<String>, user:last: crate::tools::Unit), long_running, confirm, blocking)]
fn attributes(cx: &mut Cx, panic: bool) -> Result<usize, ToolError> {
    cx.state().set("found", ["a"])?;
    assert!(!panic, "as asked");
    std::thread::sleep(std::time::Duration::from_millis(1));
    Ok(1)
}

/// Ends by a helper that the macro cannot see.
#[tool(escalates)]
fn helper() {}

fn schema(tool: &impl DynTool) -> Value {
    Value::clone(&tool.declaration_dyn().parameters)
}

fn args(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

async fn call(tool: &impl DynTool, with: Value) -> (Result<Value, ToolError>, Cx) {
    let mut cx = Cx::for_tests();
    let result = tool.call_dyn(args(&with), &mut cx).await;
    (result, cx)
}

async fn refused(tool: &impl DynTool, with: Value) -> String {
    let error = call(tool, with).await.0.expect_err("an error");
    assert_eq!(error.kind(), ToolErrorKind::Argument);
    error.to_string()
}

#[test]
fn the_description_is_what_the_function_says() {
    let meta = weather::META;
    assert_eq!(meta.name, "weather");
    assert_eq!(meta.description, "Says how warm it will be.\n\nSecond paragraph.");
    assert!(!meta.may_exit && exit_loop::META.may_exit && decide::META.may_exit && verdict::META.may_exit);
    const { assert!(helper::META.may_exit) };
    let meta = attributes::META;
    assert_eq!(meta.name, "look-up");
    assert!(meta.may_exit && meta.long_running && meta.confirm);
    let writes = [
        KeySpec::new("found", "Vec<String>").optional(true),
        KeySpec::new("user:last", "crate::tools::Unit").optional(true),
    ];
    assert_eq!(meta.writes, writes);
    assert_eq!(&*DynTool::declaration_dyn(&attributes::default()).name, "look-up");
    assert!(DynTool::declaration_dyn(&exit_loop::default()).escalates);
}

#[test]
fn tools_are_values() {
    let all: Vec<Arc<dyn DynTool>> = vec![
        Arc::new(exit_loop::default()),
        Arc::new(adk::tools::exit_loop::default()),
        Arc::new(weather::default()),
    ];
    let names: Vec<_> = all.iter().map(|tool| tool.meta().name).collect();
    assert_eq!(names, ["exit_loop", "exit_loop", "weather"]);
    let built_in = adk::tools::exit_loop::default();
    assert_eq!(schema(&built_in), json!({ "type": "object", "properties": {} }));
    // It is made once.
    let again = adk::tools::exit_loop::default();
    assert!(std::ptr::eq(DynTool::declaration_dyn(&built_in), DynTool::declaration_dyn(&again)));
}

#[test]
fn the_schema_of_plain_arguments() {
    let expected = json!({
        "type": "object",
        "properties": {
            "city": { "type": "string", "description": "The city, in words." },
            "days": { "type": ["integer", "null"], "format": "uint8", "minimum": 0, "maximum": 255 },
            "unit": {
                "description": "A unit.",
                "oneOf": [
                    { "type": "string", "const": "kelvin" },
                    { "type": "string", "const": "celsius", "description": "Degrees of Celsius." },
                    { "type": "string", "const": "fahrenheit" },
                ],
                "default": "celsius",
            },
            "language": { "type": "string", "description": "The language.", "default": "en" },
            "hours": { "type": "integer", "format": "uint32", "minimum": 0, "default": 2 },
        },
        "required": ["city"],
    });
    assert_eq!(schema(&weather::default()), expected);
    // Equality of objects does not look at the order.
    let text = schema(&weather::default()).to_string();
    let places: Vec<_> = ["city", "days", "unit", "language", "hours"]
        .iter()
        .map(|name| text.find(&format!("\"{name}\":{{")))
        .collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
}

#[test]
fn the_schema_of_all_kinds_of_types() {
    let schema = schema(&everything::default());
    assert!(!schema.to_string().contains("$ref"), "{schema}");
    let place = json!({
        "type": "object",
        "description": "Where it is.",
        "properties": {
            "lat": { "type": "number", "format": "double", "description": "Degrees north, as a decimal." },
            "lon": { "type": "number", "format": "double" },
            "name": { "type": ["string", "null"] },
            "height": { "type": "integer", "format": "uint16", "minimum": 0, "maximum": 65535, "default": 0 },
        },
        "required": ["lat", "lon"],
    });
    let mut perhaps = place.clone();
    perhaps["type"] = json!(["object", "null"]);
    let circle = json!({
        "type": "object",
        "properties": { "kind": { "type": "string", "const": "Circle" }, "r": { "type": "number", "format": "double" } },
        "required": ["kind", "r"],
    });
    let square = json!({
        "type": "object",
        "properties": { "kind": { "type": "string", "const": "Square" }, "a": { "type": "number", "format": "double" } },
        "required": ["kind", "a"],
    });
    let byte = json!({ "type": "integer", "format": "uint8", "minimum": 0, "maximum": 255 });
    let expected = json!({
        "place": place,
        "other": perhaps,
        "unit": {
            "description": "A unit.",
            "oneOf": [
                { "type": "string", "const": "kelvin" },
                { "type": "string", "const": "celsius", "description": "Degrees of Celsius." },
                { "type": "string", "const": "fahrenheit" },
            ],
        },
        "plain": { "type": "string", "enum": ["Short", "Long"] },
        "shape": { "oneOf": [circle, square] },
        "any": { "anyOf": [{ "type": "integer", "format": "int64" }, { "type": "string" }] },
        "tree": {
            "type": "object",
            "properties": {
                "value": byte,
                "children": {
                    "type": "array",
                    "items": { "type": "object", "description": "Another Tree, of the same shape." },
                },
            },
            "required": ["value", "children"],
        },
        "mixed": {
            "oneOf": [
                { "type": "string", "const": "Nothing" },
                {
                    "type": "object",
                    "description": "So many.",
                    "properties": { "Some": byte },
                    "required": ["Some"],
                    "additionalProperties": false,
                },
                { "type": "string", "const": "All", "description": "All." },
            ],
        },
        "table": { "type": "object", "additionalProperties": { "type": "integer", "format": "int32" } },
        "pair": { "type": "array", "prefixItems": [byte, { "type": "string" }], "minItems": 2, "maxItems": 2 },
        "tags": { "type": "array", "items": { "type": "string" } },
        "letter": { "type": "string", "minLength": 1, "maxLength": 1 },
        "raw": true,
        "at": place,
        "note": { "type": ["string", "null"] },
    });
    for (name, expected) in args(&expected) {
        assert_eq!(schema["properties"][&name], expected, "{name}");
    }
    let optional = ["other", "note"];
    let required: Vec<_> = args(&expected).into_iter().map(|(name, _)| name).collect();
    let required: Vec<_> = required.iter().filter(|name| !optional.contains(&name.as_str())).collect();
    assert_eq!(schema["required"], json!(required));
}

#[tokio::test]
async fn arguments_are_read() {
    let (result, mut cx) = call(&weather::default(), json!({ "city": "Bern" })).await;
    let expected = json!({ "city": "Bern", "days": null, "unit": "celsius", "language": "en", "hours": 2 });
    assert_eq!(result.expect("a result"), expected);
    assert_eq!(cx.state().get::<String>("city").expect("a text").as_deref(), Some("Bern"));

    let with = json!({
        "city": "Bern", "days": null, "unit": null, "language": "de", "hours": 3.0, "other": 1,
    });
    let expected = json!({ "city": "Bern", "days": null, "unit": "celsius", "language": "de", "hours": 3 });
    assert_eq!(call(&weather::default(), with).await.0.expect("a result"), expected);

    let error = call(&weather::default(), json!({ "city": "" })).await.0.expect_err("an error");
    assert_eq!(error.kind(), ToolErrorKind::Failed);
    assert_eq!(error.to_string(), std::fmt::Error.to_string());
}

fn all() -> Value {
    let place = json!({ "lat": 1, "lon": 2.5 });
    json!({
        "place": place,
        "unit": "kelvin",
        "plain": "Long",
        "shape": { "kind": "Square", "a": 1.5 },
        "any": "text",
        "tree": { "value": 1, "children": [{ "value": 2, "children": [] }] },
        "mixed": { "Some": 3 },
        "table": { "x": -1 },
        "pair": [1, "a"],
        "tags": ["a"],
        "letter": "x",
        "raw": { "any": [null] },
        "at": { "lat": 1, "lon": 2, "height": null },
    })
}

#[tokio::test]
async fn all_kinds_of_arguments_are_read() {
    let (result, _) = call(&everything::default(), all()).await;
    let expected = "Place { lat: 1.0, lon: 2.5, name: None, height: 0 } None Kelvin Long Square { a: 1.5 } \
        Text(\"text\") Tree { value: 1, children: [Tree { value: 2, children: [] }] } Some(3) {\"x\": -1} (1, \"a\") \
        [\"a\"] x {\"any\":[null]} Place { lat: 1.0, lon: 2.0, name: None, height: 0 } None";
    assert_eq!(result.expect("a result"), expected);
}

#[tokio::test]
async fn an_argument_that_cannot_be_used_is_named() {
    let tool = everything::default();
    let with = |name: &str, value: Value| {
        let mut all = all();
        all[name] = value;
        all
    };
    let cases = [
        (
            "unit",
            json!("warm"),
            r#"argument `unit`: expected one of "kelvin", "celsius", "fahrenheit", got the string "warm""#,
        ),
        ("plain", json!(1), r#"argument `plain`: expected one of "Short", "Long", got the number 1"#),
        (
            "place",
            json!("here"),
            r#"argument `place`: expected an object with `lat`, `lon`, got the string "here""#,
        ),
        ("place", json!({ "lat": 1 }), "argument `place.lon` is missing: expected a number"),
        (
            "place",
            json!({ "lat": 1, "lon": "2" }),
            r#"argument `place.lon`: expected a number, got the string "2""#,
        ),
        ("tags", json!("a"), r#"argument `tags`: expected a list, each a string, got the string "a""#),
        ("tags", json!(["a", 1]), "argument `tags[1]`: expected a string, got the number 1"),
        (
            "tree",
            json!({ "value": 300, "children": [] }),
            "argument `tree.value`: expected an integer (u8), got the number 300",
        ),
        (
            "any",
            json!([]),
            "argument `any`: expected an integer (i64), or a string: data did not match any variant of untagged enum Any",
        ),
        (
            "letter",
            json!("xy"),
            r#"argument `letter`: expected a string: invalid value: string "xy", expected a character"#,
        ),
        ("place", Value::Null, "argument `place`: expected an object with `lat`, `lon`, got null"),
    ];
    for (name, value, expected) in cases {
        assert_eq!(refused(&tool, with(name, value)).await, expected);
    }
    let tool = weather::default();
    assert_eq!(refused(&tool, json!({})).await, "argument `city` is missing: expected a string");
    let with = json!({ "city": "Bern", "days": "three" });
    assert_eq!(
        refused(&tool, with).await,
        r#"argument `days`: expected an integer (u8), got the string "three""#
    );
    let with = json!({ "city": "Bern", "hours": -1 });
    assert_eq!(refused(&tool, with).await, "argument `hours`: expected an integer (u32), got the number -1");
}

#[tokio::test]
async fn a_flow_asks_for_the_end_of_the_loop() {
    let (result, cx) = call(&decide::default(), json!({ "value": 0 })).await;
    assert_eq!(result.expect("a result"), Value::Null);
    assert!(!cx.actions.escalate && !cx.actions.skip_summarization);
    let (result, cx) = call(&decide::default(), json!({ "value": 1 })).await;
    assert_eq!(result.expect("a result"), Value::Null);
    assert!(cx.actions.escalate && cx.actions.skip_summarization);
    let (_, cx) = call(&decide::default(), json!({ "value": 2 })).await;
    assert_eq!(cx.actions.exit_to.as_deref(), Some("outer"));
    assert!(!cx.actions.escalate && cx.actions.skip_summarization);
    let error = call(&decide::default(), json!({ "value": 4 })).await.0.expect_err("an error");
    assert_eq!(error.to_string(), "no 4");
    for (result, cx) in [
        call(&exit_loop::default(), json!({ "reason": "done" })).await,
        call(&adk::tools::exit_loop::default(), json!({})).await,
        call(&verdict::default(), json!({})).await,
    ] {
        assert_eq!(result.expect("a result"), Value::Null);
        assert!(cx.actions.escalate && cx.actions.skip_summarization);
    }
}

#[tokio::test]
async fn a_panic_is_an_error() {
    let error = call(&decide::default(), json!({ "value": 3 })).await.0.expect_err("an error");
    assert_eq!(error.kind(), ToolErrorKind::Panic);
    assert_eq!(error.to_string(), "the tool panicked: three");
    let error = call(&attributes::default(), json!({ "panic": true })).await.0.expect_err("an error");
    assert_eq!(error.kind(), ToolErrorKind::Panic);
    assert_eq!(error.to_string(), "the tool panicked: as asked");
}

#[tokio::test]
async fn a_blocking_tool_has_its_context() {
    let (result, mut cx) = call(&attributes::default(), json!({ "panic": false })).await;
    assert_eq!(result.expect("a result"), json!(1));
    assert_eq!(cx.state().get::<Vec<String>>("found").expect("a list"), Some(vec!["a".to_owned()]));
}

#[test]
fn the_functions_stay_callable() {
    let mut cx = Cx::for_tests();
    exit_loop(&mut cx);
    assert!(cx.actions.escalate);
    assert_eq!(decide(1), Ok(Flow::Exit));
}

/// What a type writes is read back, whatever the value.
mod property {
    use super::{Any, Mixed, Place, Plain, Shape, Tree, Unit, call};
    use adk::{data, tool};
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    #[data]
    #[derive(PartialEq)]
    struct Everything {
        place: Place,
        other: Option<Place>,
        unit: Unit,
        plain: Option<Plain>,
        shapes: Vec<Shape>,
        any: Any,
        tree: Tree,
        mixed: Vec<Mixed>,
        table: BTreeMap<String, Option<i32>>,
        pair: (u8, String),
        letter: char,
        float: f64,
        small: i8,
        big: u64,
        #[serde(rename = "type", alias = "kind")]
        r#type: Option<u8>,
    }

    /// Gives back what it was given.
    #[tool]
    fn echo(all: Everything, #[default(Some(1))] perhaps: Option<i64>, nested: Option<Vec<Any>>) -> Value {
        json!({ "all": all, "perhaps": perhaps, "nested": nested })
    }

    /// Numbers without a pattern, the same in each run.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, sides: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % sides
        }

        fn text(&mut self) -> String {
            let letters = ['a', 'ß', '"', '\\', '\n', '🦀', ' ', '{'];
            (0..self.roll(6)).filter_map(|_| letters.get(usize::try_from(self.roll(8)).ok()?)).collect()
        }

        #[allow(clippy::cast_precision_loss, clippy::cast_possible_wrap)]
        fn float(&mut self) -> f64 {
            (self.roll(2_000_000) as i64 - 1_000_000) as f64 / [1.0, 8.0][usize::from(self.roll(2) == 1)]
        }

        fn place(&mut self) -> Place {
            let name = (self.roll(2) == 1).then(|| self.text());
            Place {
                lat: self.float(),
                lon: self.float(),
                name,
                height: u16::try_from(self.roll(65536)).unwrap_or(0),
            }
        }

        fn tree(&mut self, depth: u64) -> Tree {
            let children = (0..self.roll(depth + 1)).map(|_| self.tree(depth - 1)).collect();
            Tree { value: u8::try_from(self.roll(256)).unwrap_or(0), children }
        }

        fn any(&mut self) -> Any {
            match self.roll(2) {
                0 => Any::Number(i64::try_from(self.roll(u64::MAX / 2)).unwrap_or(0)),
                _ => Any::Text(self.text()),
            }
        }

        fn everything(&mut self) -> Everything {
            Everything {
                place: self.place(),
                other: (self.roll(2) == 1).then(|| self.place()),
                unit: [Unit::Kelvin, Unit::Celsius, Unit::Fahrenheit]
                    [usize::try_from(self.roll(3)).unwrap_or(0)],
                plain: (self.roll(2) == 1).then_some(Plain::Short),
                shapes: vec![Shape::Circle { r: self.float() }, Shape::Square { a: self.float() }],
                any: self.any(),
                tree: self.tree(3),
                mixed: vec![Mixed::All, Mixed::Nothing, Mixed::Some(7)],
                table: [(self.text(), None), (self.text(), Some(-5))].into(),
                pair: (255, self.text()),
                letter: '🦀',
                float: self.float(),
                small: -128,
                big: self.roll(u64::MAX),
                r#type: (self.roll(2) == 1).then_some(3),
            }
        }
    }

    #[tokio::test]
    async fn what_a_type_writes_is_read() {
        let mut dice = Dice(0x2545_f491_4f6c_dd1d);
        for _ in 0..500 {
            let nested = (dice.roll(2) == 1).then(|| vec![dice.any(), dice.any()]);
            let sent = json!({ "all": dice.everything(), "perhaps": -1, "nested": nested });
            let (result, _) = call(&echo::default(), sent.clone()).await;
            assert_eq!(result.map_err(|error| error.to_string()), Ok(sent));
        }
    }
}
