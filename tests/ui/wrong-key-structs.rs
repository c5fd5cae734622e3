//! The structs of the keys have names too.

use adk::prelude::*;

pub struct WritingInput;

enum PlanOutput {}

workflow! {
    pub Writing(topic: String) -> (text: String, plan: String) {
        agent planner -> plan: String { instruction: "Plan {topic}." }
        agent writer -> text: String { instruction: "Write {topic}, {plan}." }

        planner;
        writer
    }
}

workflow! {
    pub Plan(topic: String) -> (topic: String, plan: String) {
        agent planner -> plan: String { instruction: "Plan {topic}." }

        planner
    }
}

fn main() {
    let _: [PlanOutput; 0] = [];
    let _ = WritingInput;
}
