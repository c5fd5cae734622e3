//! Errors of tools and agents: `?` on an error of any type.

use super::tools::call;
use adk::tool::{FunctionTool, ToolErrorKind};
use adk::{BoxError, DynTool, Error, ErrorKind, Runner, ToolError, agent, tool};
use adk_store_kit::trees::{Tree, run};
use serde_json::json;

/// An error as in `anyhow`: it is made of any error, and is none itself.
struct Any(BoxError);

impl<E: std::error::Error + Send + Sync + 'static> From<E> for Any {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl From<Any> for BoxError {
    fn from(error: Any) -> Self {
        error.0
    }
}

impl std::fmt::Display for Any {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

fn own() -> adk::Result<()> {
    Err(Error::new(ErrorKind::KeyMissing, "no key").with_help("write it"))
}

/// Fails in each way.
#[tool]
fn boxed_tool(text: &str) -> Result<u8, BoxError> {
    match text {
        "own" => own()?,
        "argument" => Err(ToolError::argument("no city"))?,
        _ => {}
    }
    Ok(text.parse()?)
}

/// Fails in each way.
#[tool]
fn own_tool(text: &str) -> adk::Result<u8> {
    own()?;
    Ok(text.parse()?)
}

/// Fails in each way.
#[tool]
async fn any_tool(text: String) -> Result<u8, Any> {
    if text == "own" {
        own()?;
    }
    Ok(text.parse()?)
}

#[agent(writes = n)]
fn boxed_agent(text: &str) -> Result<u8, BoxError> {
    if text == "own" {
        own()?;
    }
    Ok(text.parse()?)
}

#[agent(writes = n)]
async fn any_agent(text: String) -> Result<u8, Any> {
    if text == "own" {
        own()?;
    }
    Ok(text.parse()?)
}

const FOREIGN: &str = "invalid digit found in string";
const OWN: &str = "no key; help: write it";

async fn failure(tool: &impl DynTool, text: &str) -> ToolError {
    call(tool, json!({ "text": text })).await.0.unwrap_err()
}

#[tokio::test]
async fn a_tool_may_fail_with_any_error() {
    for (text, kind, message) in [
        ("x", ToolErrorKind::Failed, FOREIGN),
        ("own", ToolErrorKind::Failed, OWN),
        ("argument", ToolErrorKind::Argument, "no city"),
    ] {
        let error = failure(&boxed_tool::default(), text).await;
        assert_eq!((error.kind(), &*error.to_string()), (kind, message));
    }
    for error in [
        failure(&boxed_tool::default(), "own").await,
        failure(&own_tool::default(), "own").await,
    ] {
        let source = std::error::Error::source(&error).expect("a source");
        let source = source.downcast_ref::<Error>().expect("an error of adk");
        assert_eq!(source.kind(), ErrorKind::KeyMissing);
        assert_eq!(error.to_string(), OWN);
    }
    for (text, message) in [("x", FOREIGN), ("own", OWN)] {
        let error = failure(&any_tool::default(), text).await;
        assert_eq!(error.to_string(), message);
    }
    assert_eq!(
        call(&boxed_tool::default(), json!({ "text": "7" }))
            .await
            .0
            .unwrap(),
        7
    );
}

#[tokio::test]
async fn a_function_tool_keeps_the_kind_of_a_boxed_error() {
    let fails = |(), _: &mut adk::ToolContext| -> Result<u8, BoxError> {
        Err(ToolError::argument("no city"))?
    };
    let tool = FunctionTool::new("t", "d", fails);
    let error = call(&tool, json!({})).await.0.unwrap_err();
    assert_eq!(error.kind(), ToolErrorKind::Argument);
}

#[tokio::test]
async fn an_agent_may_fail_with_any_error_and_keeps_an_error_of_adk() {
    let runner: Runner = Runner::builder().build().unwrap();
    let trees = || {
        [
            Tree::new("w", vec![run(boxed_agent::default())]),
            Tree::new("w", vec![run(any_agent::default())]),
        ]
    };
    for (text, kind, message, help) in [
        ("x", ErrorKind::Agent, FOREIGN, None),
        ("own", ErrorKind::KeyMissing, "no key", Some("write it")),
    ] {
        for tree in trees() {
            let error = runner
                .run(&tree, text)
                .state("text", text)
                .await
                .unwrap_err();
            assert_eq!((error.kind(), error.message()), (kind, message));
            assert_eq!(error.help(), help);
            assert!(error.path().is_some());
        }
    }
}
