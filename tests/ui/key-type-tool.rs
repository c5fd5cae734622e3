//! What a tool may write has a type as well.

use adk::prelude::*;

#[adk::data]
struct Note {
    text: String,
}

mod other {
    #[adk::data]
    pub(crate) struct Note {
        lines: u8,
    }
}

/// The same type by another name.
type Remark = Note;

/// Saves the plan.
#[tool(writes(score: u32, plan: f64, note: other::Note, remark: Note))]
fn save(cx: &mut ToolContext) {
    drop(cx.path().clone());
}

#[agent(writes = plan)]
fn planner() -> u8 {
    1
}

#[agent]
fn readers(note: Option<&Note>, remark: Option<&Remark>) {
    drop((note.cloned(), remark.cloned()));
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
        readers;
        reader
    }
}

fn main() {}
