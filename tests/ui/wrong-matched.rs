//! A type that can be written and not read cannot be matched.

use adk::prelude::*;

#[derive(serde::Serialize)]
pub enum Severity {
    High,
    Low,
}

#[agent(writes = severity)]
fn rate(text: &str) -> Severity {
    if text.len() > 3 { Severity::High } else { Severity::Low }
}

workflow! {
    pub Triage(text: String) {
        agent page { instruction: "Page." }

        rate;
        match severity < Severity::High => page, Severity::Low => () >
    }
}

fn main() {}
