//! `match`, `each`, `try` and `parallel(first)`, tested on trees wired by hand.

mod attempts;
mod elements;
mod first;
mod leave;
mod lists;
mod select;

use crate::support::*;
use adk_build::spec::{KeySpec, Over, StepKind};
use adk_build::{Context, ErrorKind, Event, Flow, LEFT_OUT_KEY, Outcome, Runner};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

pub fn runner() -> Runner {
    Runner::builder().build().unwrap()
}

pub async fn outcome(tree: &Tree) -> Outcome<()> {
    runner().run(tree, "go").await.unwrap()
}

pub fn get(outcome: &Outcome<()>, key: &str) -> Value {
    outcome
        .get::<Value>(key)
        .unwrap()
        .unwrap_or(json!("absent"))
}

pub fn value(cx: &mut Context, key: &str) -> Value {
    cx.state()
        .get::<Value>(key)
        .unwrap()
        .unwrap_or(json!("absent"))
}

/// Returns the index of the element, which is the last one in the path.
pub fn index(cx: &Context) -> usize {
    let path = cx.path().to_string();
    let (_, rest) = path.rsplit_once('[').unwrap();
    rest.split_once(']').unwrap().0.parse().unwrap()
}

/// Writes `note`, derived from the item.
pub fn worker() -> By {
    put("worker", "note", |cx| {
        format!("note on {}", value(cx, "item").as_str().unwrap())
    })
}

/// Writes `note` in the listed elements only.
pub fn sometimes(name: &'static str, elements: &'static [usize]) -> By {
    let mut agent = by(name, move |cx| {
        Box::pin(async move {
            if elements.contains(&index(cx)) {
                cx.state().set("note", "written")?;
            }
            Ok(Flow::Continue)
        })
    });
    agent.meta = agent
        .meta
        .writes(const { &[KeySpec::new("note", "String").optional(true)] });
    agent
}

pub fn limited_each(
    name: &'static str,
    limit: u32,
    item: &'static str,
    list: &'static str,
    inside: Vec<Node>,
) -> Node {
    Node::Block(
        name,
        StepKind::Each {
            item,
            list,
            max: None,
            over: Over::Fail,
            max_concurrency: Some(limit),
        },
        inside,
    )
}
