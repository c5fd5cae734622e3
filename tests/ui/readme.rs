use adk::prelude::*;

workflow! {
    /// Critiques and refines a text.
    pub Refining(text: String) -> text: String {
        agent critic -> criticism: String { instructon: "Criticise {text}." }
        agent refiner -> text: String { instruction: "Apply {criticism} to {text}.", tools: [adk::tools::exit_loop] }

        loop(max = 0) < critic; refiner; critic >
    }
}

fn main() {}
