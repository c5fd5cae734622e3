use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }
        agent judge -> score: f64 { instruction: "Grade {text}." }

        loop(max = 3, until = score > 0.8) < writer; judge >
    }
}

fn main() {}
