//! Tools made from closures.

use adk_build::llm::LlmAgent;
use adk_build::testing::ScriptedModel;
use adk_build::tool::{FunctionTool, Json, ToolErrorKind};
use adk_build::{DynTool, ErrorKind, LoopAgent, Runner, ToolArgs, ToolContext};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Place {
    /// Name of the city.
    city: String,
    #[serde(default)]
    days: Option<u8>,
}

fn args(value: Value) -> ToolArgs {
    serde_json::from_value(value).unwrap()
}

async fn call(tool: &FunctionTool, value: Value) -> Result<Value, String> {
    let mut cx = ToolContext::for_tests();
    tool.call_dyn(args(value), &mut cx)
        .await
        .map_err(|error| format!("{:?}: {error}", error.kind()))
}

#[test]
fn the_schema_describes_the_arguments() {
    let tool = FunctionTool::new("weather", "The weather.", |place: Place, _| place.city);
    let declaration = tool.declaration_dyn();
    assert_eq!(
        (&*declaration.name, &*declaration.description),
        ("weather", "The weather.")
    );
    assert_eq!(
        declaration.parameters.to_string(),
        json!({
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Name of the city."},
                "days": {
                    "type": ["integer", "null"],
                    "format": "uint8",
                    "minimum": 0,
                    "maximum": 255,
                    "default": null,
                },
            },
            "required": ["city"],
        })
        .to_string()
    );
    let none = FunctionTool::new("now", "The time.", |(), _| 12);
    assert_eq!(
        none.declaration_dyn().parameters.to_string(),
        r#"{"type":"object","properties":{}}"#
    );
}

#[tokio::test]
async fn closures_return_any_type() {
    let text = FunctionTool::new("t", "d", |place: Place, _| place.city);
    assert_eq!(
        call(&text, json!({"city": "Bern"})).await,
        Ok(json!("Bern"))
    );
    let own = FunctionTool::new("t", "d", |place: Place, _| Json(place));
    assert_eq!(
        call(&own, json!({"city": "Bern", "days": 2.0})).await,
        Ok(json!({"city": "Bern", "days": 2}))
    );
    let nothing = FunctionTool::new("t", "d", |(), _| ());
    assert_eq!(call(&nothing, json!({})).await, Ok(Value::Null));
    let fails = FunctionTool::new("t", "d", |(), _| Err::<(), _>(std::fmt::Error));
    assert_eq!(
        call(&fails, json!({})).await,
        Err("Failed: an error occurred when formatting an argument".into())
    );
    let panics = FunctionTool::new("t", "d", |(), _| if true { panic!("oh") } else { 1 });
    assert_eq!(
        call(&panics, json!({})).await,
        Err("Panic: the tool panicked".into())
    );
    let waits = FunctionTool::new_async("t", "d", |place: Place, cx| {
        Box::pin(async move {
            tokio::task::yield_now().await;
            cx.state().set("city", &place.city)?;
            Ok::<_, adk_build::Error>(place)
        })
    });
    assert_eq!(
        call(&waits, json!({"city": "Rome"})).await,
        Ok(json!({"city": "Rome", "days": null}))
    );
}

#[tokio::test]
async fn errors_name_the_wrong_argument_and_the_reason() {
    let tool = FunctionTool::new("t", "d", |place: Place, _| place.city);
    for (given, expected) in [
        (json!({}), "argument `city` is missing: expected a string"),
        (
            json!({"city": 5}),
            "argument `city`: expected a string, got the number 5",
        ),
        (
            json!({"city": "x", "days": 300}),
            "argument `days`: expected an integer (u8), got the number 300",
        ),
    ] {
        assert_eq!(
            call(&tool, given).await,
            Err(format!("{:?}: {expected}", ToolErrorKind::Argument))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_calls_the_tool_and_it_may_end_a_loop() {
    let done = FunctionTool::new("done", "Call it when nothing is left to do.", |(), cx| {
        cx.actions.escalate = true;
        cx.actions.skip_summarization = true;
        cx.state().set("finished", true)
    });
    let tree = |done: FunctionTool| {
        let worker = LlmAgent::builder("worker").instruction("Work.").tool(done);
        LoopAgent::builder("lp")
            .max_iterations(5)
            .sub_agent(worker)
            .build()
            .unwrap()
    };
    let script = || {
        ScriptedModel::new()
            .on("worker")
            .text("not yet")
            .call("done", json!({}))
    };
    let runner: Runner = Runner::builder().model(script()).build().unwrap();
    let outcome = runner
        .run(&tree(done.may_exit(true).writes::<bool>("finished")), "go")
        .await
        .unwrap();
    assert_eq!(
        (outcome.loops[0].rounds, outcome.get("finished").unwrap()),
        (2, Some(true))
    );

    // A tool that ends a loop must declare it; with flow checks, an undeclared exit fails the run.
    let silent = FunctionTool::new("done", "Call it.", |(), cx| {
        cx.actions.escalate = true;
        cx.actions.skip_summarization = true;
    });
    let runner: Runner = Runner::builder().model(script()).build().unwrap();
    let error = runner.run(&tree(silent), "go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedExit);
}
