//! An instruction is a text or a function of the context; what else a name may stand for is told under it.

use adk::ReadonlyContext;
use adk::llm::agent;
use adk::prelude::*;

const FIVE: u8 = 5;
const BYTES: &[u8] = b"About {topic}.";

/// Without the context.
fn plan() -> String {
    String::new()
}

agent! {
    pub agent helper { instruction: crate::FIVE }
}

workflow! {
    Writing(topic: String) {
        agent writer { instruction: BYTES }
        agent planner { instruction: plan, global_instruction: FIVE }

        loop(max = 2) < writer; planner >
    }
}

fn maybe(_: ReadonlyContext) -> Option<String> {
    None
}

workflow! {
    Making(topic: String) {
        agent nothing { instruction: || "Write." }
        agent much { instruction: |cx, topic| format!("{cx:?} {topic}") }
        agent converted { instruction: String::from("About {topic}.") }
        agent owned { instruction: "About {topic}.".to_owned(), global_instruction: &format!("About {topic}.") }
        agent perhaps { instruction: maybe, global_instruction: |_| None::<String> }
        agent other { instruction: |cx: &Context| format!("{cx:?}") }

        nothing; much; converted; owned; perhaps; other
    }
}

fn main() {}
