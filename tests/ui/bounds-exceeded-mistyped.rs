//! How often a model is asked for a key depends on the type of that key: while it is wrong nothing is said of the worst case.

use adk::prelude::*;

workflow! {
    #[bounds(model_calls = 2)]
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }
        agent refiner -> text: Option<String> { instruction: "Refine {text}." }

        writer;
        refiner
    }
}

fn main() {}
