//! Resumed runs: a run has one trace, and a recorded call has only one span.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod support;

use adk::engine::MemoryJournal;
use adk::otel::Otel;
use adk::otel::opentelemetry_sdk::error::OTelSdkResult;
use adk::otel::opentelemetry_sdk::trace::{SpanData, SpanExporter};
use adk::prelude::*;
use adk::sqlite::SqliteStore;
use adk::testing::ScriptedModel;
use adk::{ErrorKind, json};
use std::process::Command;
use std::sync::OnceLock;
use support::{Collected, attribute};

/// The exporter of the process that dies in the middle of a call.
static VICTIM: OnceLock<Otel> = OnceLock::new();

/// Counts words.
#[tool]
fn count(text: &str) -> usize {
    text.split(' ').count()
}

/// Sends a text to the printer.
#[tool]
fn send(text: &str) -> String {
    if let Some(otel) = VICTIM.get() {
        otel.flush().unwrap();
        std::process::abort();
    }
    format!("sent {text}")
}

/// Measures a draft.
#[agent(writes = size)]
fn measure(draft: &str) -> usize {
    draft.len()
}

workflow! {
    /// Judges a draft.
    pub Judging(draft: String) -> verdict: String {
        agent judge -> verdict: String { instruction: "Judge {draft}" }
        judge
    }
}

workflow! {
    /// Prints a story.
    pub Printing(topic: String) -> story: String {
        agent writer -> draft: String { instruction: "Write about {topic}" }
        agent left -> west: String { instruction: "West" }
        agent right -> east: String { instruction: "East" }
        agent editor -> story: String {
            instruction: "Print {draft} {verdict} {size}",
            tools: [count, send],
        }

        writer;
        parallel < left; right >
        Judging;
        measure;
        editor
    }
}

/// Prints the traces and names of spans; the parent process reads them.
#[derive(Debug)]
struct Printer;

impl SpanExporter for Printer {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        for span in batch {
            println!("span {} {}", span.span_context.trace_id(), span.name);
        }
        Ok(())
    }
}

fn runner(model: ScriptedModel, store: SqliteStore) -> Runner {
    Runner::builder().model(model).store(store).build().unwrap()
}

#[tokio::test]
#[ignore = "another test starts it, and it aborts its process"]
async fn victim() {
    let Ok(file) = std::env::var("ADK_VICTIM") else {
        return;
    };
    let otel = VICTIM.get_or_init(|| Otel::new("victim", Printer));
    otel.subscribe().unwrap();
    let model = ScriptedModel::new()
        .on("writer")
        .text("A cat.")
        .on("left")
        .text("Hills")
        .on("right")
        .text("Lakes")
        .on("judge")
        .text("Good.")
        .on("editor")
        .call("count", json!({"text": "A cat."}))
        .call("send", json!({"text": "A cat."}));
    let runner = runner(model, SqliteStore::open(file).await.unwrap());
    let ended = runner.run(&Printing::default(), "cats").await;
    panic!("the run ended, but its process should have died: {ended:?}");
}

#[tokio::test]
async fn a_run_resumed_after_the_death_of_its_process_continues_its_trace() {
    let file = std::env::temp_dir().join(format!("adk-otel-{}.db", std::process::id()));
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["victim", "--exact", "--ignored", "--nocapture"])
        .env("ADK_VICTIM", &file);
    let died = child.output().unwrap();
    assert!(!died.status.success());
    let text = String::from_utf8(died.stdout).unwrap();
    let exported: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("span ")?.split_once(' '))
        .collect();
    let names: Vec<_> = exported.iter().map(|(_, name)| *name).collect();
    for name in [
        "invoke_agent writer",
        "invoke_workflow judging",
        "execute_tool count",
    ] {
        assert!(names.contains(&name), "{names:?}");
    }

    let collected = Collected::new();
    let model = ScriptedModel::new().on("editor").text("The end.");
    let runner = runner(model, SqliteStore::open(&file).await.unwrap());
    let run = runner.runs(&Default::default()).await.unwrap().remove(0);
    let outcome = runner
        .resume(&Printing::default(), run.run_id)
        .await
        .unwrap();
    assert_eq!(outcome.output, "The end.");
    // The resumed run repeats the interrupted call and continues after it. It repeats nothing else.
    let expected = "\
invoke_workflow printing [printing]
  invoke_agent editor [printing/editor]
    execute_tool send [printing/editor]
    chat scripted [printing/editor]
";
    assert_eq!(collected.tree(), expected);
    for span in collected.spans() {
        assert_eq!(span.span_context.trace_id().to_string(), exported[0].0);
        assert_eq!(attribute(&span, "adk.run.id"), Some(run.run_id.to_string()));
    }
    drop(runner);
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", file.display()));
    }
}

workflow! {
    /// Publishes what a person has agreed to.
    pub Publishing(topic: String) -> post: String {
        agent writer -> draft: String { instruction: "Write about {topic}" }
        agent editor -> post: String { instruction: "Publish {draft}: {decision}" }

        writer;
        /// Publish {draft}?
        await decision: String;
        editor
    }
}

#[tokio::test]
async fn a_run_resumed_after_a_wait_continues_its_trace() {
    let collected = Collected::new();
    let model = ScriptedModel::new()
        .on("writer")
        .text("A cat.")
        .on("editor")
        .text("The end.");
    let runner: Runner = Runner::builder()
        .model(model)
        .engine(MemoryJournal::new())
        .build()
        .unwrap();
    let workflow = Publishing::default();
    let paused = runner
        .session("ada", "monday")
        .run(&workflow, "cats")
        .await
        .unwrap_err();
    assert_eq!(paused.kind(), ErrorKind::Paused);
    let waiting = runner.waiting().await.unwrap().remove(0);
    runner.answer(&waiting.id, "yes").await.unwrap();
    runner.resume(&workflow, waiting.run_id).await.unwrap();
    // A span that waited is not marked as an error, and the resumed part is a child of the first.
    let expected = "\
invoke_workflow publishing [publishing] unfinished=true
  invoke_agent writer [publishing/writer]
    chat scripted [publishing/writer]
  invoke_agent decision [publishing/decision] unfinished=true
  invoke_workflow publishing [publishing]
    invoke_agent decision [publishing/decision]
    invoke_agent editor [publishing/editor]
      chat scripted [publishing/editor]
";
    assert_eq!(collected.tree(), expected);
}
