use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> draft: String {
        let done: String = "No issues.";
        agent writer -> draft: String { instruction: "Write about {topic} and {tone}." }
        agent critic -> criticism: String { instruction: "Review {draft}. Say {done} if nothing is wrong." }
        agent refiner -> draft: String { instruction: "Apply {criticsm} to {draft}.", tools: [adk::tools::exit_loop] }

        writer;
        refinement: loop(max = 5) < critic; refiner >
    }
}

fn main() {}
