//! Workflows that changed after a run began: the resume of such a run, and the refusals.
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use adk::engine::MemoryJournal;
use adk::prelude::*;
use adk::session::{MemoryStore, SessionStore};
use adk::{ErrorKind, RunId, Runner, Workflow};
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Formats a greeting.
#[agent(writes = line)]
fn say(topic: &str, tone: &str, fine: bool) -> String {
    format!("{topic}, {tone}, {fine}")
}

/// Returns another value for each call.
fn next() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("tone {}", NEXT.fetch_add(1, Relaxed))
}

/// A workflow without a `let`.
pub mod plain {
    use super::*;
    /// Formats a shorter greeting.
    #[agent(writes = line)]
    fn say(topic: &str, fine: bool) -> String {
        format!("{topic}, {fine}")
    }
    workflow! {
        /// Asks a question.
        pub Greeting(topic: String) -> line: String {
            /// Is it fine?
            await fine: bool;
            say
        }
    }
    workflow! {
        /// Runs a workflow that asks.
        pub Whole(topic: String) -> line: String {
            Greeting
        }
    }
}

/// A workflow with a `let`.
pub mod toned {
    use super::*;
    workflow! {
        /// Asks a question.
        pub Greeting(topic: String) -> line: String {
            let tone: String = next();
            /// Is it fine?
            await fine: bool;
            say
        }
    }
    workflow! {
        /// Runs a workflow that asks.
        pub Whole(topic: String) -> line: String {
            Greeting
        }
    }
}

/// A workflow with an input in place of the `let`, which has a default.
pub mod asked {
    use super::*;
    workflow! {
        /// Asks a question.
        pub Greeting(topic: String, tone: String = next()) -> line: String {
            /// Is it fine?
            await fine: bool;
            say
        }
    }
    workflow! {
        /// Runs a workflow that asks.
        pub Whole(topic: String) -> line: String {
            Greeting
        }
    }
}

/// A workflow with a key that the session must hold.
pub mod stated {
    use super::*;
    workflow! {
        /// Asks a question.
        pub Greeting(topic: String) -> line: String {
            state tone: String;
            /// Is it fine?
            await fine: bool;
            say
        }
    }
}

/// A workflow that asks for a verdict, with other types of keys.
macro_rules! version {
    ($name:ident: $topic:ty, $awaited:ty, $plan:ident { $($field:tt)* }, { $($variant:tt)* }) => {
        /// A version of the program.
        #[allow(missing_docs)]
        pub mod $name {
            use super::*;
            /// The plan.
            #[data]
            pub struct $plan {
                /// The aim of the plan.
                pub aim: String,
                $($field)*
            }
            /// The verdict of a person.
            #[data]
            pub enum Verdict {
                /// The result is fine.
                Fine,
                $($variant)*
            }
            /// Makes a plan.
            #[agent(writes = plan)]
            fn planner(topic: $topic) -> Result<$plan> {
                let value = serde_json::json!({"aim": topic.to_string(), "steps": 3});
                serde_json::from_value(value).map_err(Error::other)
            }
            /// Reports the result.
            #[agent(writes = line)]
            fn tell(plan: &$plan, verdict: &$awaited) -> String {
                format!("{}: {verdict:?}", plan.aim)
            }
            workflow! {
                /// Asks a question.
                pub Planning(topic: $topic) -> line: String {
                    planner;
                    /// Is it fine?
                    await verdict: $awaited;
                    tell
                }
            }
        }
    };
}

version!(first: u8, Verdict, Plan {}, { #[doc = "It is not."] Poor });
version!(reworded: u8, Verdict, Plan {}, { Poor });
version!(wider_input: u16, Verdict, Plan {}, { Poor });
version!(yes_or_no: u8, bool, Plan {}, { Poor });
version!(one_more: u8, Verdict, Plan {}, { Poor, Late });
version!(other_plan: u8, Verdict, Outline {}, { Poor });
version!(plan_awaited: u8, Plan, Plan {}, { Poor });
version!(more_awaited: u8, Plan, Plan { pub steps: u32 }, { Poor });

/// Begins a run that waits for its answer, and answers `true`.
async fn approved_run<W: Workflow + adk::Needs>(workflow: &W, input: W::Input) -> (Runner, RunId) {
    answered_run(workflow, input, true).await
}

/// Begins a run that waits for its answer, and answers.
async fn answered_run<W: Workflow + adk::Needs>(
    workflow: &W,
    input: W::Input,
    answer: impl Serialize,
) -> (Runner, RunId) {
    let sessions: Arc<dyn SessionStore> = Arc::new(MemoryStore::default());
    let runner: Runner = Runner::builder()
        .engine(MemoryJournal::new())
        .session_store(sessions)
        .build()
        .unwrap();
    let Err(error) = runner.run(workflow, input).await else {
        panic!("the run does not wait")
    };
    assert_eq!(error.kind(), ErrorKind::Paused, "{error}");
    let [waiting] = &runner.waiting().await.unwrap()[..] else {
        panic!("one question")
    };
    runner.answer(&waiting.id, answer).await.unwrap();
    (runner, waiting.run_id)
}

/// Asserts that a resume with `workflow` is refused with these lines. The run can still be resumed
/// with its own workflow.
async fn assert_refused<W: Workflow + adk::Needs>(
    (runner, run): &(Runner, RunId),
    workflow: &W,
    diff: &str,
) {
    let Err(error) = runner.resume(workflow, *run).await else {
        panic!("the run was resumed")
    };
    assert_eq!(error.kind(), ErrorKind::TopologyChanged, "{error}");
    assert!(error.message().ends_with(&format!(":\n{diff}")), "{error}");
}

#[tokio::test]
async fn a_new_key_at_the_start_is_refused_with_the_difference() {
    let then = approved_run(
        &plain::Greeting::default(),
        plain::GreetingInput::new("cats"),
    )
    .await;
    let diff = "- workflow greeting <- topic\n+ workflow greeting <- tone <- topic";
    assert_refused(&then, &toned::Greeting::default(), diff).await;
    assert_refused(&then, &asked::Greeting::default(), diff).await;
    assert_eq!(
        then.0
            .resume(&plain::Greeting::default(), then.1)
            .await
            .unwrap()
            .output,
        "cats, true"
    );

    let then = approved_run(&plain::Whole::default(), plain::WholeInput::new("cats")).await;
    let diff = "- workflow greeting <- topic -> line\n+ workflow greeting <- tone <- topic -> line";
    assert_refused(&then, &toned::Whole::default(), diff).await;
    assert_refused(&then, &asked::Whole::default(), diff).await;
    assert_eq!(
        then.0
            .resume(&plain::Whole::default(), then.1)
            .await
            .unwrap()
            .output,
        "cats, true"
    );
}

#[tokio::test]
async fn a_removed_key_at_the_start_is_refused() {
    let then = approved_run(&toned::Whole::default(), toned::WholeInput::new("cats")).await;
    let diff = "- workflow greeting <- tone <- topic -> line\n+ workflow greeting <- topic -> line";
    assert_refused(&then, &plain::Whole::default(), diff).await;
}

#[tokio::test]
async fn the_values_at_the_start_of_a_run_stay_when_it_is_resumed() {
    /// Asserts that a resumed run keeps its first tone, although each call of [`next`] returns
    /// another tone.
    async fn is_kept<W: Workflow<Output = String> + adk::Needs>(workflow: W, input: W::Input) {
        let (runner, run) = approved_run(&workflow, input).await;
        let next = next();
        let line = runner.resume(&workflow, run).await.unwrap().output;
        let tone = line
            .strip_prefix("cats, ")
            .and_then(|line| line.strip_suffix(", true"))
            .unwrap();
        let number = |tone: &str| tone.strip_prefix("tone ").unwrap().parse::<u32>().unwrap();
        assert!(number(tone) < number(&next), "{line}, and then {next}");
    }
    is_kept(
        toned::Greeting::default(),
        toned::GreetingInput::new("cats"),
    )
    .await;
    is_kept(
        asked::Greeting::default(),
        asked::GreetingInput::new("cats"),
    )
    .await;
    is_kept(toned::Whole::default(), toned::WholeInput::new("cats")).await;
    is_kept(asked::Whole::default(), asked::WholeInput::new("cats")).await;
}

#[tokio::test]
async fn a_new_state_key_must_exist_in_the_session() {
    let then = approved_run(
        &plain::Greeting::default(),
        plain::GreetingInput::new("cats"),
    )
    .await;
    let Err(error) = then.0.resume(&stated::Greeting::default(), then.1).await else {
        panic!("no tone")
    };
    assert_eq!(error.kind(), ErrorKind::KeyMissing, "{error}");
    assert!(error.to_string().contains("`tone`"), "{error}");
}

#[tokio::test]
async fn a_changed_type_is_refused_with_the_difference() {
    let begin = || first::PlanningInput::new(7);
    let then = answered_run(&first::Planning::default(), begin(), "Poor").await;
    assert_refused(
        &then,
        &wider_input::Planning::default(),
        "~ topic: u8 -> u16",
    )
    .await;
    assert_refused(
        &then,
        &yes_or_no::Planning::default(),
        "~ verdict: Verdict -> bool",
    )
    .await;
    let diff = "~ verdict: Verdict, which has other fields or variants now";
    assert_refused(&then, &one_more::Planning::default(), diff).await;
    assert_refused(
        &then,
        &other_plan::Planning::default(),
        "~ plan: Plan -> Outline",
    )
    .await;
    // The descriptions in a type may change.
    let outcome = then
        .0
        .resume(&reworded::Planning::default(), then.1)
        .await
        .unwrap();
    assert_eq!(outcome.output, "7: Poor");

    let answer = serde_json::json!({"aim": "cats"});
    let then = answered_run(
        &plan_awaited::Planning::default(),
        plan_awaited::PlanningInput::new(7),
        answer,
    )
    .await;
    let diff = "~ verdict: Plan, which has other fields or variants now";
    assert_refused(&then, &more_awaited::Planning::default(), diff).await;
    then.0
        .resume(&plan_awaited::Planning::default(), then.1)
        .await
        .unwrap();
}
