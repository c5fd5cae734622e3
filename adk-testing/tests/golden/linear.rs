//! Sequences and loops: both files, and one changed word.

use crate::support::Folder;
use adk::prelude::*;
use adk::testing::{Reply, RunMode, ScriptedModel};

/// Call this ONLY when the critique says that no further changes are needed.
#[tool]
fn exit_loop(cx: &mut ToolContext) {
    cx.actions.escalate = true;
    cx.actions.skip_summarization = true;
}

macro_rules! iterative_writing {
    ($module:ident, $critic:literal) => {
        pub mod $module {
            use super::*;
            workflow! {
                /// Writes a first draft, then refines it until it is good.
                pub IterativeWriting(initial_topic: String) -> current_document: String {
                    let done: String = "No major issues found.";
                    /// Writes the first draft.
                    agent initial_writer -> current_document: String {
                        include_contents: none,
                        instruction: "Write about {initial_topic}.",
                    }
                    /// Reviews the draft.
                    agent critic -> criticism: String {
                        include_contents: none,
                        instruction: $critic,
                    }
                    /// Applies the criticism, or ends the loop.
                    agent refiner -> current_document: String {
                        include_contents: none,
                        instruction: "Refine {current_document}:\n\n{criticism}",
                        tools: [exit_loop],
                    }
                    initial_writer;
                    refinement: loop(max = 5) < critic; refiner >
                }
            }
        }
    };
}

iterative_writing!(
    then,
    "Criticise {current_document}. If nothing is wrong, answer exactly: {done}"
);
iterative_writing!(
    now,
    "Criticise {current_document} in one sentence. If nothing is wrong, answer exactly: {done}"
);

const GOLDEN: &str = r#"adk golden 1 · iterative_writing
input  initial_topic = "a cat"

prompt initial_writer
  Write about {initial_topic}.

prompt critic
  Criticise {current_document}. If nothing is wrong, answer exactly: {done}

prompt refiner
  Refine {current_document}:

  {criticism}
tools refiner
  exit_loop()  Call this ONLY when the critique says that no further changes are needed.

initial_writer            scripted, reads initial_topic
  writes current_document = "A cat sat."
refinement#1/critic       scripted, reads current_document from initial_writer, done; hears initial_writer
  writes criticism = "Too short."
refinement#1/refiner      scripted, reads current_document from initial_writer, criticism from refinement#1/critic; hears critic
  writes current_document = "A cat sat on a warm mat."
refinement#2/critic       scripted, reads current_document from refinement#1/refiner, done; hears refiner
  writes criticism = "No major issues found."
refinement#2/refiner      scripted, reads current_document from refinement#1/refiner, criticism from refinement#2/critic; hears critic
  calls exit_loop {}  ->  ends refinement

refinement ends after 2 rounds: refiner
output  current_document = "A cat sat on a warm mat."
cost    5 model calls, 1 tool call, 31 tokens in, 5 out
"#;

/// The answers of a run with two rounds.
fn script() -> ScriptedModel {
    ScriptedModel::new()
        .on("initial_writer")
        .reply(Reply::new().text("A cat sat.").usage(31, 5))
        .on("critic")
        .text("Too short.")
        .text("No major issues found.")
        .on("refiner")
        .text("A cat sat on a warm mat.")
        .call("exit_loop", json!({}))
}

#[tokio::test]
async fn a_loop_is_recorded_and_replayed_without_a_model() {
    let folder = Folder::new();
    let recorded = script();
    folder
        .golden(RunMode::Record)
        .model(recorded.clone())
        .run(&then::IterativeWriting::default(), "a cat")
        .await
        .unwrap();
    assert_eq!(recorded.requests().len(), 5);
    assert_eq!(folder.read("golden"), GOLDEN);
    let answers = folder.read("answers.jsonl");
    let places: Vec<_> = answers
        .lines()
        .filter_map(|line| {
            line.split('"')
                .nth(3)
                .filter(|_| line.starts_with("{\"at\""))
        })
        .collect();
    assert_eq!(
        places,
        [
            "initial_writer:model@0",
            "refinement#1/critic:model@0",
            "refinement#1/refiner:model@0",
            "refinement#2/critic:model@0",
            "refinement#2/refiner:model@0",
            "refinement#2/refiner:tool.exit_loop@0",
        ]
    );
    let head = answers.lines().next().unwrap();
    assert!(head.starts_with(r#"{"adk":1,"frame":1,"workflow":"iterative_writing","shape":""#));
    assert!(head.ends_with(r#""input":{"initial_topic":"a cat"},"config":{},"order":[]}"#));
    assert!(
        answers.contains(r#""gave":{"result":{"Ok":null},"left":{"actions":{"escalate":true,"#)
    );
    let absent = ScriptedModel::new();
    folder
        .golden(RunMode::Check)
        .model(absent.clone())
        .run(&then::IterativeWriting::default(), "a cat")
        .await
        .unwrap();
    assert_eq!(absent.requests().len(), 0);
    assert_eq!(folder.names(), ["run.answers.jsonl", "run.golden"]);
}

#[tokio::test]
async fn one_changed_word_is_one_hunk_with_its_cause() {
    let folder = Folder::new();
    folder
        .golden(RunMode::Record)
        .model(script())
        .run(&then::IterativeWriting::default(), "a cat")
        .await
        .unwrap();
    let changed = folder
        .golden(RunMode::Check)
        .model(script())
        .run(&now::IterativeWriting::default(), "a cat")
        .await
        .unwrap_err();
    assert_eq!(
        changed.message(),
        "golden `run` has changed: a prompt; 2 answers are stale; routes, keys and cost are the same

prompt critic
- Criticise {current_document}. If nothing is wrong, answer exactly: {done}
+ Criticise {current_document} in one sentence. If nothing is wrong, answer exactly: {done}
  stale, given to the old prompt: refinement#1/critic, refinement#2/critic
  still right: initial_writer, refinement#1/refiner, refinement#2/refiner

help: `cargo adk golden accept run` keeps the answers; `ADK_GOLDEN=changed cargo test run` asks 2 \
         of 5 calls again"
    );
}
