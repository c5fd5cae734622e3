//! An instruction is a text or a function of the context; what else a name may stand for is told under it.

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

fn main() {}
