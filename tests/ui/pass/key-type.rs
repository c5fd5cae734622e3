//! Types of writer and reader are equal; parameters may be borrowed, and any JSON value reads all of them.

use adk::Value;
use adk::prelude::*;
use agents::data::Severity;

type Score = f64;

#[agent(writes = score)]
fn grade(draft: &str) -> Score {
    draft.len() as f64
}

#[agent]
fn enough(score: &f64, any: Value, severity: Option<&Severity>) -> Flow {
    Flow::exit_if(*score > 60.0 && any.is_null() && severity.is_none())
}

#[agent(writes = approved)]
fn approve(items: &[String]) -> bool {
    items.is_empty()
}

workflow! {
    pub Writing(topic: String, any: Vec<u8>) -> score: f64 {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent worker -> note: String { instruction: "Work on {word}, {any}." }
        agent judge -> severity: Severity { instruction: "Judge {items}." }

        writer;
        agents::functions::lister;
        judge;
        loop(max = 2) < grade; enough >
        loop(max = 2, until = approved) < approve >
        each word in items < worker >
    }
}
