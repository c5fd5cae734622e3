use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent judge -> fine: bool { instruction: "Is {topic} fine?" }
        agent writer -> text: String { instruction: "Write about {topic}." }

        judge;
        match fine < true => writer, false => () >
    }
}

fn main() {}
