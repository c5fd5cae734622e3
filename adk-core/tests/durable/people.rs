//! Workflows that wait for people: in every kind of block, and before a tool runs.

use super::asks;
use super::confirm;
use super::talks;
use super::trees::{Named, item, works};
use crate::support::*;
use adk_build::Await;
use adk_build::llm::LlmAgent;
use adk_build::model::ModelRequest;
use adk_build::testing::Reply;
use adk_build::tool::FunctionTool;
use serde_json::json;
use std::time::Duration;

/// Makes a question.
fn asks(key: &'static str) -> Await {
    Await::builder::<bool>(key)
        .question("Is `{a?}` enough?")
        .build()
}

/// The time without an answer.
pub const PATIENCE: Duration = Duration::from_secs(3600);

/// Makes a question that gets no answer in time.
fn unanswered(key: &'static str) -> Await {
    Await::builder::<bool>(key)
        .question("Anybody?")
        .timeout(PATIENCE)
        .default(false)
        .build()
}

/// Makes an agent with a long-running call beside one that is answered at once.
fn runs_on() -> LlmAgent {
    let ask = FunctionTool::new("ask", "Asks a person.", |(), _| "asked").long_running(true);
    let asks = |request: &ModelRequest| match request.info.turn {
        0 => Reply::new()
            .call("ask", json!({}))
            .call("add", json!({"n": 5})),
        _ => talks::tells(request),
    };
    talks::llm("officer", asks)
        .tool(ask)
        .tool(talks::adds("sum"))
        .build()
        .unwrap()
}

/// Makes an agent with calls that ask in the middle, beside one that does not.
fn asks_in_calls() -> LlmAgent {
    let orders = |request: &ModelRequest| match request.info.turn {
        0 => [2, 0, 1]
            .into_iter()
            .fold(Reply::new(), |reply, questions| {
                reply.call("order", json!({"name": "tea", "questions": questions}))
            }),
        _ => talks::tells(request),
    };
    talks::llm("shopper", orders)
        .tool(asks::order(std::sync::Arc::default()))
        .build()
        .unwrap()
}

fn in_parallel() -> Tree {
    let inside = vec![
        run(works("b")),
        run(asks("yes")),
        sequence("s", vec![run(works("c")), run(asks("no"))]),
    ];
    Tree::new(
        "w",
        vec![run(works("a")), parallel("p", inside), run(works("d"))],
    )
}

fn without_answers() -> Tree {
    let inside = vec![run(works("b")), run(unanswered("yes"))];
    Tree::new(
        "w",
        vec![
            run(unanswered("no")),
            parallel("p", inside),
            run(works("c")),
        ],
    )
}

/// Returns all workflows that wait for people.
pub fn all() -> Vec<Named> {
    vec![
        (
            "await in a sequence",
            || {
                Tree::new(
                    "w",
                    vec![
                        run(works("a")),
                        run(asks("yes")),
                        run(works("b")),
                        run(asks("no")),
                    ],
                )
            },
            false,
        ),
        ("await in parallel", in_parallel, true),
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
                Tree::new(
                    "w",
                    vec![each("e", "item", "items", inside), run(works("z"))],
                )
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
            "a long-running call",
            || Tree::new("w", vec![run(works("a")), run(runs_on()), run(works("b"))]),
            false,
        ),
        (
            "calls that ask in the middle",
            || {
                Tree::new(
                    "w",
                    vec![run(works("a")), run(asks_in_calls()), run(works("b"))],
                )
            },
            false,
        ),
        ("questions without an answer in time", without_answers, true),
    ]
}
