//! Toolsets: tools that are known only at run time.

use super::journal::Journal;
use super::*;
use crate::support::{Tree, run};
use adk_build::llm::LlmAgent;
use adk_build::{AgentTool, DynAgent as _, ErrorKind, ReadonlyContext, Toolset, ToolsetErrorKind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

type Make = dyn Fn(&ReadonlyContext) -> Result<Vec<Arc<dyn DynTool>>> + Send + Sync;

/// A toolset whose tools a closure makes.
struct Made {
    make: Box<Make>,
    refuses: bool,
}

impl Toolset for Made {
    fn name(&self) -> &str {
        "files"
    }

    fn tools<'a>(
        &'a self,
        cx: &'a ReadonlyContext,
    ) -> BoxFuture<'a, Result<Vec<Arc<dyn DynTool>>>> {
        Box::pin(async move { (self.make)(cx) })
    }

    fn prepare(&self) -> BoxFuture<'_, Result<()>> {
        let changed = Error::new(
            ErrorKind::Toolset(ToolsetErrorKind::Changed),
            "it has changed",
        );
        Box::pin(std::future::ready(if self.refuses {
            Err(changed)
        } else {
            Ok(())
        }))
    }
}

fn makes(
    make: impl Fn(&ReadonlyContext) -> Result<Vec<Arc<dyn DynTool>>> + Send + Sync + 'static,
) -> Made {
    Made {
        make: Box::new(make),
        refuses: false,
    }
}

fn offers(make: fn() -> ByTool) -> Made {
    makes(move |_| Ok(vec![Arc::new(make())]))
}

fn names(model: &ScriptedModel, request: usize) -> Vec<String> {
    model.requests()[request]
        .tools
        .iter()
        .map(|tool| tool.name.to_string())
        .collect()
}

agent!(Open = decl("a"));

fn tree(toolset: impl Toolset) -> Tree {
    let mut agent = llm::<Open>();
    agent.add_tool(gives("own", json!(1))).add_toolset(toolset);
    Tree::new("w", vec![run(agent)])
}

#[tokio::test]
async fn tools_depend_on_the_context_and_change_after_a_round() {
    let toolset = makes(|cx| {
        assert_eq!(cx.agent_name(), "a");
        let mut tools: Vec<Arc<dyn DynTool>> = vec![Arc::new(tool("unlock", |_, cx| {
            Box::pin(async {
                cx.state().set("user:paid", true)?;
                Ok(json!("unlocked"))
            })
        }))];
        if cx.get::<bool>("user:paid")? == Some(true) {
            tools.push(Arc::new(gives("secret", json!("the secret"))));
        }
        Ok(tools)
    });
    let model = ScriptedModel::new()
        .call("unlock", json!({}))
        .call("secret", json!({}))
        .text("done");
    let events = events(&model, &tree(toolset)).await;
    assert_eq!(names(&model, 0), ["own", "unlock"]);
    assert_eq!(names(&model, 1), ["own", "unlock", "secret"]);
    let answers: Vec<_> = events
        .iter()
        .flat_map(|event| event.function_responses())
        .collect();
    assert_eq!(answers[1].response["result"], "the secret");
}

#[tokio::test]
async fn unchecked_tools_are_refused_before_the_model_call() {
    let reviewer = || {
        LlmAgent::builder("reviewer")
            .description("Reviews.")
            .build()
            .unwrap()
    };
    let cases: [(Made, &str); 7] = [
        (
            offers(|| gives("transfer_to_agent", json!(1))),
            "tool-reserved",
        ),
        (
            offers(|| gives("set_model_response", json!(1))),
            "tool-reserved",
        ),
        (
            offers(|| gives("task_completed", json!(1))),
            "tool-reserved",
        ),
        (offers(|| gives("own", json!(1))), "tool-duplicate"),
        (
            offers(|| {
                let mut exit = exit_loop();
                exit.meta = exit.meta.may_exit(true);
                exit
            }),
            "may end a loop",
        ),
        (
            offers(|| {
                let mut writer = gives("writer", json!(1));
                writer.meta = writer
                    .meta
                    .writes(const { &[adk_build::KeySpec::new("draft", "String")] });
                writer
            }),
            "writes a key",
        ),
        (
            makes(move |_| Ok(vec![Arc::new(AgentTool::new(reviewer()))])),
            "is an agent",
        ),
    ];
    for (toolset, why) in cases {
        let model = ScriptedModel::new().text("never");
        let error = failure(&model, &tree(toolset)).await;
        assert_eq!(
            error.kind(),
            ErrorKind::Toolset(ToolsetErrorKind::Invalid),
            "{error}"
        );
        let text = error.to_string();
        assert!(
            text.contains(why) && text.contains("toolset `files` gives tool"),
            "{text}"
        );
        assert!(
            text.starts_with("agent `a` (at w/a)") && error.help().is_some(),
            "{text}"
        );
        assert_eq!(model.requests().len(), 0);
    }
}

#[tokio::test]
async fn a_failing_toolset_fails_the_run_or_refuses_its_start() {
    let gone = makes(|_| {
        Err(Error::new(
            ErrorKind::Toolset(ToolsetErrorKind::Unavailable),
            "it is gone",
        ))
    });
    let model = ScriptedModel::new().text("never");
    let error = failure(&model, &tree(gone)).await;
    assert_eq!(error.to_string(), "agent `a` (at w/a): it is gone");
    assert!(error.is_retryable());
    let first = ScriptedModel::new().text("never");
    let mut agent = llm::<Open>();
    agent.add_toolset(Made {
        refuses: true,
        ..offers(|| gives("t", json!(1)))
    });
    agent!(Before = decl("b"));
    let tree = Tree::new("w", vec![run(llm::<Before>()), run(agent)]);
    let error = failure(&first, &tree).await;
    assert_eq!(error.to_string(), "agent `a` (at w/a): it has changed");
    assert_eq!(first.requests().len(), 0, "the agent before it has not run");
}

#[tokio::test]
async fn a_toolset_must_be_declared_because_bounds_rely_on_it() {
    agent!(Closed = LlmDecl::new(AgentMeta::new(AgentKind::Llm, "a")));
    let mut agent = llm::<Closed>();
    agent.add_toolset(offers(|| gives("t", json!(1))));
    let error = failure(&ScriptedModel::new(), &Tree::new("w", vec![run(agent)])).await;
    assert_eq!(error.kind(), ErrorKind::Unchecked);
    assert!(
        error
            .to_string()
            .contains("gave toolset `files` to agent `a`"),
        "{error}"
    );

    let built = || LlmAgent::builder("a").toolset(offers(|| gives("t", json!(1))));
    assert!(built().build().unwrap().meta().more_tools);
    assert_eq!(built().build().unwrap().meta().max_turns, None);
    assert_eq!(
        built().max_turns(3).build().unwrap().meta().max_turns,
        Some(3)
    );
}

#[tokio::test]
async fn a_resumed_run_keeps_its_tools_and_repeats_no_call() {
    let (calls, listed) = (
        Arc::new(AtomicU32::new(0)),
        Arc::new(Mutex::new(vec!["read", "write"])),
    );
    let tree = || {
        let (calls, listed) = (calls.clone(), listed.clone());
        tree(makes(move |_| {
            let make = |name: &&'static str| {
                let calls = calls.clone();
                let made: Arc<dyn DynTool> = Arc::new(tool(name, move |_, _| {
                    calls.fetch_add(1, SeqCst);
                    Box::pin(async { Ok(json!("done")) })
                }));
                made
            };
            Ok(listed.lock().unwrap().iter().map(make).collect())
        }))
    };
    let journal = Journal::default();
    let runner = |model: &ScriptedModel| -> Runner {
        let builder = Runner::builder()
            .model(model.clone())
            .engine(journal.clone())
            .config(config());
        builder
            .artifact_store(adk_build::MemoryArtifacts::new())
            .build()
            .unwrap()
    };
    let model = ScriptedModel::new().calls([("read", json!({})), ("read", json!({}))]);
    let killed = tree();
    let mut stream = runner(&model).run(&killed, "go").stream();
    while let Some(event) = stream.next().await {
        if event.unwrap().function_responses().next().is_some() {
            break;
        }
    }
    drop(stream);
    assert_eq!(calls.load(SeqCst), 2);

    // The server now offers other tools.
    *listed.lock().unwrap() = vec!["write", "new"];
    let model = ScriptedModel::new().call("read", json!({})).text("done");
    let resumed = tree();
    let (events, error) = drive(&runner(&model), &resumed).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(calls.load(SeqCst), 2, "recorded calls are replayed");
    assert_eq!(
        names(&model, 0),
        ["own", "write", "new"],
        "the next request lists the new tools"
    );
    let answers: Vec<_> = events
        .iter()
        .flat_map(|event| event.function_responses())
        .collect();
    assert_eq!(answers[0].response["result"], "done");
    assert!(
        answers[2].response["error"]
            .as_str()
            .unwrap()
            .contains("no tool with that name")
    );
}
