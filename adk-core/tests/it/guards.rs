//! Guards at run time of trees without macros: tools without labels, tools of the provider, and
//! contents of callbacks.

use crate::support::{Tree, run};
use adk_build::callback::CallbackContext;
use adk_build::llm::{LlmAgent, provider};
use adk_build::model::ModelRequest;
use adk_build::spec::{Guards, Labels};
use adk_build::testing::ScriptedModel;
use adk_build::tool::FunctionTool;
use adk_build::{
    BoxFuture, Content, DynTool, Part, ReadonlyContext, Result, Runner, ToolContext, Toolset,
};
use serde_json::json;
use std::sync::Arc;

const PLAIN: Guards<'static> = Guards::NONE;
const STRICT: Guards<'static> = Guards::NONE.strict(true);

/// Makes a tool with the name as its result.
fn tool(name: &'static str, labels: Labels) -> impl DynTool {
    FunctionTool::new(name, "Helps.", move |(): (), _: &mut ToolContext| name).labels(labels)
}

/// A toolset of two tools without labels, and one with the label `local`.
#[derive(Debug)]
struct Files;

impl Toolset for Files {
    fn name(&self) -> &str {
        "files"
    }

    fn tools<'a>(&'a self, _: &'a ReadonlyContext) -> BoxFuture<'a, Result<Vec<Arc<dyn DynTool>>>> {
        let all: Vec<Arc<dyn DynTool>> = vec![
            Arc::new(tool("read", Labels::NONE)),
            Arc::new(tool("write", Labels::NONE)),
            Arc::new(tool("count", Labels::LOCAL)),
        ];
        Box::pin(async move { Ok(all) })
    }
}

/// Runs one agent, and returns the calls that ran.
async fn ran(agent: LlmAgent, guards: &'static Guards<'static>, model: ScriptedModel) -> String {
    let tree = Tree::new("w", vec![run(agent)]).guards(guards);
    let runner: Runner = Runner::builder().model(model).build().unwrap();
    let mut stream = runner.run(&tree, "go").stream();
    let mut ran = Vec::new();
    while let Some(event) = stream.next().await {
        for part in event
            .unwrap()
            .content
            .iter()
            .flat_map(|content| &content.parts)
        {
            if let Part::FunctionResponse(response) = part
                && response.response.get("error").is_none()
            {
                ran.push(response.name.clone());
            }
        }
    }
    ran.join(" ")
}

fn calling(tools: &[&'static str]) -> ScriptedModel {
    let calls = tools.iter();
    let model = calls.fold(ScriptedModel::new(), |model, tool| {
        model.call(*tool, json!({}))
    });
    model.text("done")
}

#[tokio::test]
async fn a_tool_without_labels_counts_as_everything_only_under_strict() {
    let agent = || {
        let agent = LlmAgent::builder("clerk").toolset(Files).guards(false);
        agent.build().unwrap()
    };
    let calls = ["count", "write", "read", "count", "write"];
    assert_eq!(ran(agent(), &PLAIN, calling(&calls)).await, calls.join(" "));
    // The first call of a clean conversation runs.
    assert_eq!(
        ran(agent(), &STRICT, calling(&calls)).await,
        "count write count"
    );
}

#[tokio::test]
async fn a_search_of_the_provider_is_not_offered_after_both_marks() {
    for (first, second) in [
        (Labels::LOCAL, 1),
        (Labels::UNTRUSTED, 1),
        // The results of the search itself are text of strangers.
        (Labels::PRIVATE, 0),
    ] {
        let agent = LlmAgent::builder("clerk")
            .tool(tool("look", first))
            .tool(provider::google_search::default())
            .guards(false)
            .build()
            .unwrap();
        let model = calling(&["look"]);
        ran(agent, &PLAIN, model.clone()).await;
        let offered: Vec<_> = model
            .requests()
            .iter()
            .map(|request| request.provider_tools.len())
            .collect();
        assert_eq!(offered, [1, second], "{first:?}");
    }
}

#[tokio::test]
async fn what_a_callback_adds_counts_only_under_strict() {
    let agent = |adds: bool| {
        let adding = move |_: &mut CallbackContext, request: &mut ModelRequest| {
            if adds {
                request.contents.push(Content::user("a page"));
            }
        };
        let agent = LlmAgent::builder("clerk").tool(tool("send", Labels::ACTS));
        agent.before_model(adding).guards(false).build().unwrap()
    };
    for (guards, adds, sent) in [
        (&PLAIN, true, "send"),
        (&STRICT, false, "send"),
        (&STRICT, true, ""),
    ] {
        assert_eq!(ran(agent(adds), guards, calling(&["send"])).await, sent);
    }
}
