//! Types without a number, of one size: each key answers for itself, wherever it is read or written.

use adk::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize)]
pub struct Plan(String);

#[derive(Clone, Serialize, Deserialize)]
pub struct Draft(String);

mod other {
    use adk::prelude::*;

    #[derive(Clone, serde::Serialize, serde::Deserialize)]
    pub struct Draft(pub String);

    /// Saves the draft.
    #[tool(writes(draft: Draft))]
    pub fn save(cx: &mut ToolContext) {
        drop(cx.path().clone());
    }

    /// Reads.
    #[agent]
    pub fn reader(c: &Draft, d: u8) {
        drop((c.clone(), d));
    }
}

/// Saves the plan.
#[tool(writes(plan: Plan))]
fn keep(cx: &mut ToolContext) {
    drop(cx.path().clone());
}

#[agent]
fn five(a: &Plan, b: &Plan, c: &Plan, d: &Draft, e: &Draft) {
    drop((a.clone(), b.clone(), c.clone(), d.clone(), e.clone()));
}

#[agent(writes = a)]
fn writer(_f: &Plan) -> Draft {
    Draft(String::new())
}

workflow! {
    pub Inner(a: Plan, b: Plan, c: Plan, d: Draft, e: Draft, f: Plan) {
        five as inner_five
    }
}

/// Reads.
#[agent]
fn right(c: &Draft, d: u8) {
    drop((c.clone(), d));
}

#[agent]
fn item(word: &Draft) {
    drop(word.clone());
}

#[agent]
fn saved(draft: Option<&Draft>, plan: Option<&Plan>) {
    drop((draft.cloned(), plan.cloned()));
}

workflow! {
    pub Reading(a: Plan, b: Plan, c: Plan, d: Draft, e: Plan, words: Vec<Plan>) {
        five;
        Inner(f = d) as inside;
        writer(_f = a);
        each word in words < item >
    }
}

workflow! {
    pub Saving(topic: String) {
        agent saver { instruction: "Save {topic}.", tools: [other::save, keep] }

        saver;
        saved
    }
}

workflow! {
    pub Handing(topic: String, c: Draft, d: u8) {
        agent asker { instruction: "Ask about {topic}.", tools: [agent(other::reader), agent(right)] }

        asker
    }
}

fn main() {}
