//! What a tool may write has a type as well.

use adk::prelude::*;

/// Saves the plan.
#[tool(writes(score: u32, plan: f64))]
fn save(cx: &mut ToolContext) {
    drop(cx.path().clone());
}

#[agent(writes = plan)]
fn planner() -> u8 {
    1
}

#[agent]
fn reader(score: Option<f64>, plan: u8) {
    drop((score, plan));
}

workflow! {
    Saving(topic: String) {
        agent saver { instruction: "Save {topic}.", tools: [save] }

        planner;
        saver;
        reader
    }
}

fn main() {}
