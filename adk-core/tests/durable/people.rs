//! Workflows that wait for people: at every kind of place, and before a tool runs.

use super::confirm;
use super::trees::{Named, item, works};
use crate::support::*;
use adk_core::Await;
use serde_json::json;

/// A question.
fn asks(key: &'static str) -> Await {
    Await::builder::<bool>(key).question("Is `{a?}` enough?").build()
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
    ]
}
