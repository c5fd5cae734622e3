//! `toolset NAME: TYPE;` in `workflow!`.
#![allow(missing_docs, reason = "these are tests")]

use adk::prelude::*;
use adk::testing::ScriptedModel;
use adk::tool::FunctionTool;
use adk::{BoxFuture, DynTool, ErrorKind, ReadonlyContext, Toolset, ToolsetErrorKind, json};
use std::sync::Arc;

/// A toolset of tools with these names. Each tool returns its name.
#[derive(Debug, Default)]
struct Files(Vec<&'static str>);

impl Files {
    fn make(&self) -> Vec<Arc<dyn DynTool>> {
        let make = |name: &&'static str| {
            let name = *name;
            let tool = FunctionTool::new(
                name,
                "Says its name.",
                move |(): (), _: &mut ToolContext| name,
            );
            Arc::new(tool) as Arc<dyn DynTool>
        };
        self.0.iter().map(make).collect()
    }
}

impl Toolset for Files {
    fn name(&self) -> &str {
        "files"
    }

    fn tools<'a>(&'a self, _: &'a ReadonlyContext) -> BoxFuture<'a, Result<Vec<Arc<dyn DynTool>>>> {
        Box::pin(async { Ok(self.make()) })
    }

    fn all_tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn DynTool>>>> {
        Box::pin(async { Ok(self.make()) })
    }
}

/// Finds a customer.
#[tool]
fn find_customer(name: &str) -> String {
    format!("{name} is a customer")
}

workflow! {
    /// Answers.
    pub Desk(question: String) -> answer: String {
        agent clerk -> notes: String {
            instruction: "{question}",
            tools: [files, find_customer],
            max_turns: 3,
        }
        toolset files: Files;
        toolset others: Files;
        agent writer -> answer: String { instruction: "{notes}", tools: [others, files] }
        agent reviewer: Reviewer;

        clerk; reviewer; writer; writer as second -> answer
    }
}

/// Does nothing.
#[derive(Debug, Default)]
pub struct Reviewer;

impl Agent for Reviewer {
    const META: adk::AgentMeta<'static> = adk::AgentMeta::new(adk::AgentKind::Custom, "reviewer");

    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

#[tokio::test]
async fn agents_get_the_toolsets_that_they_name() {
    let model = ScriptedModel::new()
        .on("clerk")
        .calls([
            ("read", json!({})),
            ("find_customer", json!({"name": "Ada"})),
        ])
        .text("noted")
        .on("writer")
        .text("written")
        .on("second")
        .call("list", json!({}))
        .text("once more");
    let runner = Runner::builder()
        .model(model.clone())
        .build()
        .expect("a runner");
    let desk = Desk::new(Reviewer, Files(vec!["read"]), Files(vec!["list"]));
    let outcome = runner.run(&desk, "Who?").await.expect("the run succeeds");
    assert_eq!(outcome.output, "once more");
    let names = |agent: &str| -> Vec<String> {
        model.requests_of(agent)[0]
            .tools
            .iter()
            .map(|tool| tool.name.to_string())
            .collect()
    };
    assert_eq!(names("clerk"), ["find_customer", "read"]);
    assert_eq!(names("writer"), ["list", "read"]);
    assert_eq!(names("second"), ["list", "read"]);
    assert_eq!(
        Desk::SPEC.bounds().model_calls,
        None,
        "the writer may call any number of tools"
    );
    let _ = Desk::default();
}

/// The file that `adk mcp pull` writes.
const WRITTEN: &str = include_str!("../support/files.mcp.json");

workflow! {
    /// Answers.
    pub Held(question: String) -> answer: String {
        toolset files: Files = include!("../support/files.mcp.json");
        agent clerk -> answer: String { instruction: "{question}", tools: [find_customer, files] }
        clerk
    }
}

#[tokio::test]
async fn a_file_fixes_the_tools_and_a_toolset_with_other_tools_is_refused() {
    let adk::spec::StepKind::Agent { meta, .. } = Held::SPEC.steps[0].kind else {
        panic!("it is an agent")
    };
    let names: Vec<_> = meta.tools.iter().map(|tool| tool.name).collect();
    assert_eq!(
        (names, meta.more_tools),
        (vec!["find_customer", "list", "read"], false)
    );
    let tools = Files(vec!["read", "list"]).make();
    let update = adk::tool::update_tool_file(WRITTEN, &tools).expect("a file");
    assert_eq!((&*update.text, update.changes), (WRITTEN, Vec::new()));
    let all =
        "[\n      \"untrusted\",\n      \"private\",\n      \"acts\",\n      \"sends\"\n    ]";
    let proposed = WRITTEN.replace("[\n      \"local\"\n    ]", all);
    assert_eq!(adk::tool::tool_file(&tools).expect("a file"), proposed);

    let run = async |tools: Vec<&'static str>| {
        let model = ScriptedModel::new().call("read", json!({})).text("done");
        let runner = Runner::builder()
            .model(model.clone())
            .build()
            .expect("a runner");
        let ran = runner.run(&Held::new(Files(tools)), "Who?").await;
        (ran.map(|outcome| outcome.output), model.requests().len())
    };
    let (ran, _) = run(vec!["read", "list"]).await;
    assert_eq!(ran.expect("the run succeeds"), "done");
    let (ran, asked) = run(vec!["read", "write"]).await;
    let error = ran.expect_err("it has changed");
    assert_eq!(error.kind(), ErrorKind::Toolset(ToolsetErrorKind::Changed));
    assert_eq!(asked, 0);
    let text = error.to_string();
    assert!(text.contains("- list\n  + write; help: "), "{text}");
    assert!(
        text.starts_with("agent `clerk` (at held/clerk): toolset `files`"),
        "{text}"
    );
}
