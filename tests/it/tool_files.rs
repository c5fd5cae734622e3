//! Files of toolsets: labels, tools that ask a person, and annotations.

#![allow(missing_docs, reason = "these are tests")]

use adk::build::{Registry, Tree, TreeGuards};
use adk::engine::MemoryJournal;
use adk::llm::LlmAgent;
use adk::model::ToolDeclaration;
use adk::prelude::*;
use adk::spec::{Labels, StepKind};
use adk::testing::ScriptedModel;
use adk::tool::{DeclaredToolset, FunctionTool, ToolArgs, ToolHints, tool_file, update_tool_file};
use adk::{
    BoxFuture, DynTool, ErrorKind, ReadonlyContext, SequentialAgent, ToolMeta, Toolset,
    ToolsetErrorKind, json,
};
use std::sync::Arc;

/// A file of a developer who has reviewed the labels.
const FILE: &str = include_str!("../support/labelled.mcp.json");

/// A server with annotated tools. Each tool returns its name.
#[derive(Clone, Debug)]
struct Server(Vec<(&'static str, ToolHints)>);

impl Default for Server {
    fn default() -> Self {
        let read = ToolHints::default().read_only(Some(true));
        let closed = read.open_world(Some(false));
        let write = closed.read_only(Some(false));
        Self(vec![("fetch", read), ("read", closed), ("write", write)])
    }
}

impl Server {
    fn with(mut self, name: &str, change: impl Fn(ToolHints) -> ToolHints) -> Self {
        for (_, hints) in self.0.iter_mut().filter(|(known, _)| *known == name) {
            *hints = change(*hints);
        }
        self
    }

    fn make(&self) -> Vec<Arc<dyn DynTool>> {
        let make = |(name, hints): &(&'static str, ToolHints)| {
            let (name, hints) = (*name, *hints);
            let say = move |(): (), _: &mut ToolContext| name;
            let tool = Arc::new(FunctionTool::new(name, "Says its name.", say));
            Arc::new(Annotated { tool, hints }) as Arc<dyn DynTool>
        };
        self.0.iter().map(make).collect()
    }
}

struct Annotated {
    tool: Arc<dyn DynTool>,
    hints: ToolHints,
}

impl DynTool for Annotated {
    fn meta(&self) -> &ToolMeta<'_> {
        self.tool.meta()
    }

    fn declaration_dyn(&self) -> &ToolDeclaration {
        self.tool.declaration_dyn()
    }

    fn call_dyn<'a>(
        &'a self,
        args: ToolArgs,
        cx: &'a mut ToolContext,
    ) -> BoxFuture<'a, Result<adk::Value, adk::ToolError>> {
        self.tool.call_dyn(args, cx)
    }

    fn hints_dyn(&self) -> ToolHints {
        self.hints
    }
}

impl Toolset for Server {
    fn name(&self) -> &str {
        "server"
    }

    fn tools<'a>(&'a self, _: &'a ReadonlyContext) -> BoxFuture<'a, Result<Vec<Arc<dyn DynTool>>>> {
        Box::pin(async { Ok(self.make()) })
    }

    fn all_tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn DynTool>>>> {
        Box::pin(async { Ok(self.make()) })
    }
}

workflow! {
    /// Answers with labelled tools.
    #[guards(strict)]
    pub Reading(question: String) -> answer: String {
        toolset files: Server = include!("../support/labelled.mcp.json");
        agent clerk -> answer: String { instruction: "{question}", tools: [files], max_turns: 4 }
        clerk
    }
}

fn labels_of(text: &str, tool: &str) -> Vec<String> {
    let file: adk::Value = serde_json::from_str(text).expect("JSON");
    serde_json::from_value(file["labels"][tool].clone()).expect("labels")
}

#[test]
fn the_check_sees_labels_and_the_tools_that_ask() {
    let StepKind::Agent { meta, .. } = Reading::SPEC.steps[0].kind else {
        panic!("it is an agent")
    };
    let tool = |tool: &ToolMeta<'static>| (tool.name, tool.labels, tool.confirm, tool.toolset);
    let tools: Vec<_> = meta.tools.iter().map(tool).collect();
    let write = Labels::PRIVATE.and(Labels::ACTS);
    let expected = [
        ("fetch", Labels::UNTRUSTED, false, "files"),
        ("read", Labels::LOCAL, false, "files"),
        ("write", write, true, "files"),
    ];
    assert_eq!(tools, expected);
}

#[test]
fn a_second_pull_keeps_what_was_reviewed_and_takes_no_label_away() {
    let proposed = tool_file(&Server::default().make()).expect("a file");
    assert_eq!(labels_of(&proposed, "fetch"), ["untrusted", "sends"]);
    assert_eq!(labels_of(&proposed, "read"), ["private"]);
    assert_eq!(labels_of(&proposed, "write"), ["private", "acts"]);

    let same = update_tool_file(FILE, &Server::default().make()).expect("a file");
    assert_eq!((&*same.text, same.changes), (FILE, Vec::new()));

    // `fetch` and `read` are reviewed, `write` has the proposal, and `list` is new.
    let changed = Server::default()
        .with("read", |hints| hints.open_world(None))
        .with("fetch", |_| ToolHints::default().read_only(Some(false)))
        .with("write", |hints| {
            hints.read_only(Some(true)).open_world(None)
        });
    let mut tools = changed.0.clone();
    tools.push(("list", ToolHints::default()));
    let update = update_tool_file(FILE, &Server(tools).make()).expect("a file");
    assert_eq!(labels_of(&update.text, "read"), ["local"]);
    assert_eq!(labels_of(&update.text, "fetch"), ["untrusted"]);
    let write = ["private", "acts", "untrusted", "sends"];
    assert_eq!(labels_of(&update.text, "write"), write);
    let all = ["untrusted", "private", "acts", "sends"];
    assert_eq!(labels_of(&update.text, "list"), all);
    assert!(update.text.contains("\"confirm\": [\n    \"write\"\n  ]"));
    let expected = [
        "~ fetch: readOnlyHint: true is now false",
        "~ read: openWorldHint: false is now not set",
        "~ write: readOnlyHint: false is now true",
        "~ write: openWorldHint: false is now not set",
        "+ list",
        "fetch: labels `untrusted` are kept, proposed: `untrusted`, `acts`, `sends`",
        "list: labels `untrusted`, `private`, `acts`, `sends`",
        "read: labels `local` are kept, proposed: `untrusted`, `sends`",
        "write: labels `private`, `acts` are now `private`, `acts`, `untrusted`, `sends`",
    ];
    assert_eq!(update.changes, expected);

    let gone = Server(vec![("read", ToolHints::default())]);
    let update = update_tool_file(FILE, &gone.make()).expect("a file");
    assert!(update.text.contains("\"confirm\": []"), "{}", update.text);
    let error = update_tool_file("{}", &gone.make()).expect_err("no file");
    assert_eq!(error.help(), Some("remove the file, and pull again"));
}

#[tokio::test]
async fn a_changed_annotation_fails_the_run_before_its_first_step() {
    let run = async |server: Server| {
        let model = ScriptedModel::new().call("read", json!({})).text("done");
        let runner = Runner::builder().model(model.clone()).build();
        let ran = runner
            .expect("a runner")
            .run(&Reading::new(server), "Who?")
            .await;
        (ran.map(|outcome| outcome.output), model.requests().len())
    };
    let (ran, _) = run(Server::default()).await;
    assert_eq!(ran.expect("the run succeeds"), "done");

    let changed = Server::default()
        .with("read", |hints| hints.read_only(Some(false)))
        .with("write", |hints| hints.destructive(Some(true)));
    let (ran, asked) = run(changed).await;
    let error = ran.expect_err("it has changed");
    assert_eq!(error.kind(), ErrorKind::Toolset(ToolsetErrorKind::Changed));
    assert_eq!(asked, 0);
    let text = error.to_string();
    for part in [
        "toolset `server` differs from the file",
        "\n  ~ read: readOnlyHint: true is now false",
        "\n  ~ write: destructiveHint: not set is now true",
        "; help: write its file again with `adk mcp pull`",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[tokio::test]
async fn a_file_without_labels_does_not_depend_on_annotations() {
    let mut file: adk::Value = serde_json::from_str(FILE).expect("JSON");
    let fields = file.as_object_mut().expect("an object");
    fields.remove("labels");
    fields.remove("confirm");
    let server = Server::default().with("read", |_| ToolHints::default());
    let declared = DeclaredToolset::new(server).file(text_of(&file));
    let clerk = LlmAgent::builder("clerk")
        .instruction("Help.")
        .toolset(declared);
    let model = ScriptedModel::new().call("read", json!({})).text("done");
    let runner = Runner::builder().model(model).build().expect("a runner");
    let tree = Tree::of(clerk).expect("no faults");
    runner.run(&tree, "Who?").await.expect("the run succeeds");
}

/// Returns the text of a file, with its fields in order.
fn text_of(file: &adk::Value) -> String {
    let fields = ["names", "labels", "confirm", "tools"];
    let fields = fields.iter().filter(|field| file.get(field).is_some());
    let fields: Vec<_> = fields
        .map(|field| format!("\"{field}\": {}", file[*field]))
        .collect();
    format!("{{{}}}", fields.join(", "))
}

#[tokio::test]
async fn a_tool_that_the_file_lists_in_confirm_asks() {
    let model = ScriptedModel::new()
        .call("read", json!({}))
        .call("write", json!({}))
        .text("done");
    let runner = Runner::builder().model(model.clone());
    let runner = runner
        .engine(MemoryJournal::new())
        .build()
        .expect("a runner");
    let reading = Reading::new(Server::default());
    let error = runner.run(&reading, "Who?").await.expect_err("it waits");
    assert_eq!(error.kind(), ErrorKind::Paused);
    let waiting = runner.waiting().await.expect("the waits").remove(0);
    assert!(waiting.question.contains("`write`"), "{}", waiting.question);
    runner.answer(&waiting.id, true).await.expect("it is open");
    let outcome = runner.resume(&reading, waiting.run_id).await;
    assert_eq!(outcome.expect("a person has agreed").output, "done");
    let last = format!("{:?}", model.requests().last().expect("a request").contents);
    assert!(last.contains("write"), "{last}");
}

fn clerk() -> adk::llm::LlmAgentBuilder {
    LlmAgent::builder("clerk").instruction("Help with {ticket?}.")
}

fn fault(clerk: adk::llm::LlmAgentBuilder) -> String {
    clerk.build().expect_err("it is refused").to_string()
}

#[test]
fn toolsets_of_built_trees_have_labels_and_files() {
    let files = || DeclaredToolset::new(Server::default()).file(FILE);
    clerk().toolset(files()).build().expect("`write` asks");
    let asks = FILE.replace("\"confirm\": [\n    \"write\"\n  ]", "\"confirm\": []");
    let text = fault(clerk().toolset(files().file(asks.clone())));
    assert!(
        text.contains("untrusted-action: agent `clerk` may call `write`, which acts")
            && text.contains("untrusted: tool `fetch` of `clerk` -> `clerk` -> `write`")
            && text.contains("with `write` in `confirm` of the file of toolset `server`"),
        "{text}"
    );
    let text = fault(clerk().toolset(files().labels(Labels::PRIVATE.and(Labels::SENDS))));
    assert!(
        text.contains("lethal-trifecta: agent `clerk` may call `fetch`"),
        "{text}"
    );

    let whole = |labels| clerk().toolset(DeclaredToolset::new(Server::default()).labels(labels));
    whole(Labels::PRIVATE).build().expect("nothing leaves");
    let text = fault(whole(Labels::UNTRUSTED.and(Labels::ACTS)));
    assert!(
        text.contains("may call a tool that only the run knows"),
        "{text}"
    );

    let wrong = asks.replace("\"acts\"", "\"act\"");
    let text = fault(clerk().toolset(files().file(wrong)));
    assert!(
        text.contains("syntax: the file of toolset `server` gives `write` the label `act`"),
        "{text}"
    );
}

#[test]
fn guards_of_a_built_tree_say_what_those_of_a_workflow_say() {
    let act = || FunctionTool::new("act", "Acts.", |(): (), _: &mut ToolContext| "done");
    let acts = |guards: TreeGuards| clerk().tool(act().labels(Labels::ACTS)).guards(guards);
    let rules = TreeGuards::new;
    acts(rules()).build().expect("nothing is untrusted");
    acts(rules().private("ticket"))
        .build()
        .expect("nothing is untrusted");
    for (guards, way) in [
        (
            rules().untrusted("ticket"),
            "key `ticket`, as `#[guards(...)]` says",
        ),
        (rules().untrusted("user"), "the message of the run"),
    ] {
        let text = fault(acts(guards));
        assert!(text.contains(way), "{text}");
    }
    let unlabelled = || clerk().tool(act());
    unlabelled().build().expect("no labels");
    let text = fault(unlabelled().guards(rules().strict(true)));
    assert!(text.contains("give `act` its labels, or `local`"), "{text}");
    let toolset = || clerk().toolset(Server::default());
    let text = fault(toolset().guards(rules().strict(true)));
    assert!(text.contains("a tool that only the run knows"), "{text}");
    let local = DeclaredToolset::new(Server::default()).labels(Labels::LOCAL);
    let local = clerk().toolset(local).guards(rules().strict(true));
    local.build().expect("the toolset does nothing");

    // The rules of a part count for the whole tree.
    let reader = LlmAgent::builder("reader").guards(rules().untrusted("user"));
    let tree = SequentialAgent::builder("desk").sub_agents((
        reader.instruction("Read.").output_key("ticket"),
        clerk().tool(act().labels(Labels::ACTS)),
    ));
    let text = tree.build().expect_err("it is refused").to_string();
    assert!(text.contains("agent `clerk` may call `act`"), "{text}");

    let desk = SequentialAgent::builder("desk").sub_agents([clerk()]);
    let error = desk.guards(rules().untrusted("tikcet")).build();
    let text = error.expect_err("no such key").to_string();
    assert!(
        text.contains("key-missing: `guards` names `tikcet`"),
        "{text}"
    );
}

#[test]
fn a_config_has_guards_and_names_toolsets() {
    let files = |text: String| DeclaredToolset::new(Server::default()).file(text);
    let asks = Registry::new().toolset(files(FILE.to_owned()));
    let text = FILE.replace("\"confirm\": [\n    \"write\"\n  ]", "\"confirm\": []");
    let acts = Registry::new().toolset(files(text));
    let build = |registry: &Registry, guards: adk::Value| {
        let config = json!({
            "name": "clerk",
            "instruction": "{ticket?}",
            "tools": ["server"],
            "guards": guards,
        });
        Tree::from_config(&config, registry)
    };
    let rules = || json!({"untrusted": ["ticket", "user"], "fresh": true});
    let tree = build(&asks, rules()).expect("`write` asks");
    let guards = tree.spec().guards.expect("guards");
    assert_eq!(guards.untrusted, ["ticket", "user"]);
    assert!(guards.fresh && !guards.strict);
    let text = build(&acts, rules()).expect_err("`write` acts").to_string();
    assert!(text.contains("may call `write`, which acts"), "{text}");
    build(&acts, json!(false)).expect("the checks are off");
    let text = build(&asks, json!({"untrusted": "ticket", "stict": true}))
        .expect_err("two faults")
        .to_string();
    assert!(
        text.contains("guards.untrusted: syntax: `untrusted` is the string \"ticket\"; help")
            && text.contains("guards.stict: field-unknown: `guards` has no field `stict`"),
        "{text}"
    );
}

#[tokio::test]
async fn a_fresh_tree_refuses_a_session_with_events() {
    // A root that hands over runs as an agent.
    let helper = LlmAgent::builder("helper").instruction("Help.");
    let root = clerk()
        .sub_agent(helper)
        .guards(TreeGuards::new().fresh(true));
    let tree = Tree::of(root).expect("no faults");
    let model = ScriptedModel::new().text("one").text("two");
    let runner = Runner::builder().model(model).build().expect("a runner");
    let session = runner.session("ada", "first");
    session.run(&tree, "Hi").await.expect("an empty session");
    let error = session.run(&tree, "Hi").await.expect_err("it has events");
    assert_eq!(error.kind(), ErrorKind::Unchecked);
    assert!(error.to_string().contains("`fresh`"), "{error}");
}
