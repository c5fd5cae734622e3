use adk::prelude::*;

/// Not declared in the workflow, but there.
#[agent]
fn writers() {}

/// No agent, and not known as one from here.
mod elsewhere {
    pub fn critics() {}
}
use elsewhere::critics;

struct Refiners;

workflow! {
    pub Writing(topic: String) {
        agent writer { instruction: "Write about {topic}." }
        agent critic { instruction: "Review." }
        agent refiner { instruction: "Refine." }

        writer;
        writers;
        crtic;
        critics;
        parallel < refinr; Refiners as other >
    }
}

fn main() {
    let _ = Writing::default().writers;
}
