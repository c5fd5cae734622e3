use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent judge -> fine: bool { instruction: "Is {topic} fine?" }
        agent writer -> text: String { instruction: "Write about {topic}." }

        judge;
        if fine { writer }
    }
}

fn main() {}
