//! The text of a panic is in the log and not in what leaves the process.

use crate::llm::{drive, llm, runner, tool};
use crate::support::*;
use adk_build::llm::{Instruction, LlmAgent};
use adk_build::model::NoProvider;
use adk_build::testing::ScriptedModel;
use adk_build::tool::FunctionTool;
use adk_build::{CallbackContext, InMemoryStore, Runner, WithCallbacks};
use serde_json::json;
use std::fmt::{self, Write as _};
use std::sync::{Arc, LazyLock, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

const TEXT: &str = "the pin is 1234";

/// A log of the errors of all tests of this process. A subscriber for one thread may miss them:
/// `tracing` asks only the subscribers that exist when a place logs for the first time.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

fn log() -> &'static Log {
    static LOG: LazyLock<Log> = LazyLock::new(|| {
        let log = Log::default();
        tracing::subscriber::set_global_default(log.clone()).unwrap();
        log
    });
    &LOG
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, "{field}={value:?} ").unwrap();
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::ERROR
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn called() -> ScriptedModel {
    ScriptedModel::new().call("t", json!({})).text("sorry")
}

/// Returns for each place of a panic its path and a run.
fn places() -> Vec<(&'static str, ScriptedModel, Tree)> {
    let tree = |node| Tree::new("w", vec![node]);
    let none = ScriptedModel::new;
    let mut with_tool = llm::<crate::llm::tools::A>();
    with_tool.add_tool(tool("t", |_, _| Box::pin(async { panic!("{TEXT}") })));
    let function = FunctionTool::new("t", "d", |(), _| -> u8 { panic!("{TEXT}") });
    let with_function = LlmAgent::builder("a").tool(function).build().unwrap();
    let instruction = Instruction::function(|_| -> String { panic!("{TEXT}") });
    let instructed = LlmAgent::builder("a").instruction(instruction);
    let before = |_: &mut CallbackContext| -> Option<&str> { panic!("{TEXT}") };
    let updates = by("a", |cx| {
        Box::pin(async move {
            let change = |_: Option<u8>| -> u8 { panic!("{TEXT}") };
            cx.state().update("user:n", change).await?;
            Ok(adk_build::Flow::Continue)
        })
    });
    vec![
        ("w", none(), tree(run(say("a"))).panics()),
        (
            "w/a",
            none(),
            tree(run(by("a", |_| Box::pin(async { panic!("{TEXT}") })))),
        ),
        ("w/a", none(), tree(run(updates))),
        (
            "w/a",
            none(),
            tree(run(WithCallbacks::new(say("a")).before_agent(before))),
        ),
        ("w/a", none(), tree(run(instructed.build().unwrap()))),
        ("w/a", called(), tree(run(with_tool))),
        ("w/a", called(), tree(run(with_function))),
    ]
}

#[tokio::test]
async fn callers_get_a_reference_to_the_text_in_the_log() {
    for (at, (path, model, tree)) in places().into_iter().enumerate() {
        let log = log();
        let (events, error) = drive(&runner(&model), &tree).await;
        let error = error.map(|error| error.to_string());
        let seen = format!("{} {error:?}", serde_json::to_string(&events).unwrap());
        assert!(!seen.contains(TEXT), "{at}: {seen}");
        let (_, rest) = seen.split_once(" panicked (reference ").expect(&seen);
        let (reference, _) = rest.split_once(')').unwrap();
        assert_eq!(reference.len(), 16);
        let lines = log.0.lock().unwrap().clone();
        let line = lines.iter().find(|line| line.contains(reference));
        let line = line.unwrap_or_else(|| panic!("{at}: {reference} in {lines:?}"));
        let text = if at == 0 { "a `let`" } else { TEXT };
        for part in [text, &format!("agent={path} ")] {
            assert!(line.contains(part), "{at}: {part} in {line}");
        }
    }
}

#[tokio::test]
async fn a_resumed_run_that_panics_again_repeats_its_message() {
    let tree = Tree::new(
        "w",
        vec![run(by("a", |cx| {
            Box::pin(async move {
                let change = |_: Option<u8>| -> u8 { panic!("at {:?}", std::time::Instant::now()) };
                let failed = cx.state().update("n", change).await.unwrap_err();
                cx.emit(adk_build::Event::new().with_text(failed.message()))
                    .await?;
                panic!("at the end")
            })
        }))],
    );
    let runner = Runner::<NoProvider>::builder().store(InMemoryStore::new());
    let runner = runner.config(crate::llm::config()).build().unwrap();
    let first = runner.session("u", "s").run(&tree, "go").await.unwrap_err();
    let runs = runner.session("u", "s").get(&Default::default()).await;
    let run = runs.unwrap().unwrap().events[0].invocation_id;
    let again = runner.resume(&tree, run).await.unwrap_err();
    assert_eq!(first.to_string(), again.to_string());
}
