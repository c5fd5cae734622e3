//! Workflows that wait for people: at every kind of place, and before a tool runs.

use super::asks;
use super::confirm;
use super::talks;
use super::trees::{Named, item, works};
use crate::support::*;
use adk_core::Await;
use adk_core::llm::LlmAgent;
use adk_core::model::ModelRequest;
use adk_core::testing::Reply;
use adk_core::tool::FunctionTool;
use serde_json::json;
use std::time::Duration;

/// A question.
fn asks(key: &'static str) -> Await {
    Await::builder::<bool>(key).question("Is `{a?}` enough?").build()
}

/// How long nobody answers.
pub const PATIENCE: Duration = Duration::from_secs(3600);

/// A question that nobody answers in time.
fn in_vain(key: &'static str) -> Await {
    Await::builder::<bool>(key).question("Anybody?").timeout(PATIENCE).default(false).build()
}

/// A call whose answer comes from outside, beside one that has its answer at once.
fn runs_on() -> LlmAgent {
    let ask = FunctionTool::new("ask", "Asks a person.", |(), _| "asked").long_running(true);
    let asks = |request: &ModelRequest| match request.info.turn {
        0 => Reply::new().call("ask", json!({})).call("add", json!({"n": 5})),
        _ => talks::tells(request),
    };
    talks::llm("officer", asks).tool(ask).tool(talks::adds("sum")).build().unwrap()
}

/// Calls that ask in the middle, beside one that does not.
fn asks_in_calls() -> LlmAgent {
    let orders = |request: &ModelRequest| match request.info.turn {
        0 => [2, 0, 1].into_iter().fold(Reply::new(), |reply, questions| {
            reply.call("order", json!({"name": "tea", "questions": questions}))
        }),
        _ => talks::tells(request),
    };
    talks::llm("shopper", orders).tool(asks::order(std::sync::Arc::default())).build().unwrap()
}

/// All of them.
pub fn all() -> Vec<Named> {
    vec![
        (
            "await in a sequence",
            || Tree::new("w", vec![run(works("a")), run(asks("yes")), run(works("b")), run(asks("no"))]),
            false,
        ),
        (
            "await in parallel",
            || {
                let inside = vec![
                    run(works("b")),
                    run(asks("yes")),
                    sequence("s", vec![run(works("c")), run(asks("no"))]),
                ];
                Tree::new("w", vec![run(works("a")), parallel("p", inside), run(works("d"))])
            },
            true,
        ),
        (
            "await in a loop",
            || {
                let inside = vec![run(works("a")), run(asks("yes")), run(works("b"))];
                Tree::new("w", vec![repeat("l", Some(3), inside), run(works("c"))])
            },
            false,
        ),
        (
            "await in each",
            || {
                let inside = vec![run(item("n")), run(asks("yes"))];
                Tree::new("w", vec![each("e", "item", "items", inside), run(works("z"))])
                    .lets("items", json!([3, 1, 2]))
            },
            true,
        ),
        (
            "tools that a person agrees to",
            || {
                let payer = confirm::payer(std::sync::Arc::default());
                Tree::new("w", vec![run(works("a")), run(payer), run(works("b"))])
            },
            false,
        ),
        (
            "a call that runs on",
            || Tree::new("w", vec![run(works("a")), run(runs_on()), run(works("b"))]),
            false,
        ),
        (
            "calls that ask in the middle",
            || Tree::new("w", vec![run(works("a")), run(asks_in_calls()), run(works("b"))]),
            false,
        ),
        (
            "nobody answers in time",
            || {
                let inside = vec![run(works("b")), run(in_vain("yes"))];
                Tree::new("w", vec![run(in_vain("no")), parallel("p", inside), run(works("c"))])
            },
            true,
        ),
    ]
}
