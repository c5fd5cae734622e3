//! A block that was taken out, and its `>` left: what follows from steps that stand elsewhere than they look is not told.

use adk::prelude::*;

workflow! {
    pub Break(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }
        agent critic -> criticism: String { instruction: "Review {text}" }
        agent refiner -> text: String { instruction: "Apply {criticism} to {text}" }

        writer;
        loop(max = 3) <
            critic >
            refiner;
            match topic < "x" => break, _ => () >
        >
    }
}

/// Ends the loop.
#[agent]
fn counter(text: &str) -> Flow {
    Flow::exit_if(text.len() > 200)
}

workflow! {
    pub Exit(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }
        agent refiner -> text: String { instruction: "Mend {text}" }

        outer: loop <
            writer; refiner >
            counter
        >
    }
}

fn main() {}
