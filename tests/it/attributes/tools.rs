//! Functions as tools.

mod arguments;
mod calls;
mod confirm;
mod property;
mod schema;
mod types;

use adk::tool::ToolErrorKind;
use adk::{DynTool, Flow, KeySpec, Tool as _, ToolContext as Cx, ToolError, tool};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::{Any, Mixed, Place, Plain, Shape, Tree, Unit};

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

/// Takes every type of argument.
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
        "{place:?} {other:?} {unit:?} {plain:?} {shape:?} {any:?} {tree:?} {mixed:?} {table:?} \
         {pair:?} {tags:?} {letter} {raw} {at:?} {note:?}"
    )
}

/// Ends the loop, or not.
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

/// Returns a flow by an alias.
#[tool]
async fn verdict() -> Verdict {
    Flow::Exit
}

/// Has all attributes.
#[tool(
    name = "look-up",
    escalates,
    writes(found: Vec<String>, user:last: crate::attributes::tools::Unit),
    long_running,
    confirm,
    blocking
)]
fn attributes(cx: &mut Cx, panic: bool) -> Result<usize, ToolError> {
    cx.state().set("found", ["a"])?;
    assert!(!panic, "as asked");
    std::thread::sleep(std::time::Duration::from_millis(1));
    Ok(1)
}

/// Ends the loop by a helper that the macro cannot see.
#[tool(escalates)]
fn helper() {}

fn schema(tool: &impl DynTool) -> Value {
    Value::clone(&tool.declaration_dyn().parameters)
}

fn args(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

pub(crate) async fn call(tool: &impl DynTool, with: Value) -> (Result<Value, ToolError>, Cx) {
    let mut cx = Cx::for_tests();
    let result = tool.call_dyn(args(&with), &mut cx).await;
    (result, cx)
}

async fn call_error(tool: &impl DynTool, with: Value) -> String {
    let error = call(tool, with).await.0.expect_err("an error");
    assert_eq!(error.kind(), ToolErrorKind::Argument);
    error.to_string()
}

#[test]
fn the_description_follows_the_function() {
    let meta = weather::META;
    assert_eq!(meta.name, "weather");
    assert_eq!(
        meta.description,
        "Says how warm it\nwill be.\n\nSecond paragraph."
    );
    assert!(
        !meta.may_exit
            && exit_loop::META.may_exit
            && decide::META.may_exit
            && verdict::META.may_exit
    );
    const { assert!(helper::META.may_exit) };
    let meta = attributes::META;
    assert_eq!(meta.name, "look-up");
    assert!(meta.may_exit && meta.long_running && meta.confirm);
    let writes = [
        KeySpec::new("found", "Vec<String>")
            .of::<Vec<String>>()
            .optional(true),
        KeySpec::new("user:last", "crate::attributes::tools::Unit")
            .of::<Unit>()
            .optional(true),
    ];
    assert_eq!(meta.writes, writes);
    assert_eq!(
        &*DynTool::declaration_dyn(&attributes::default()).name,
        "look-up"
    );
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
    assert_eq!(
        schema(&built_in),
        json!({ "type": "object", "properties": {} })
    );
    // The declaration is built once.
    let again = adk::tools::exit_loop::default();
    assert!(std::ptr::eq(
        DynTool::declaration_dyn(&built_in),
        DynTool::declaration_dyn(&again)
    ));
}
