use adk::prelude::*;

#[data]
enum Mood {
    Good,
    Bad,
}

workflow! {
    pub Writing(topic: String) -> text: String {
        agent judge -> mood: Mood { instruction: "How is {topic}?" }
        agent writer -> text: String { instruction: "Write about {topic}." }

        judge;
        writer;
        match mood < Mood::Bad => writer as second >
    }
}

fn main() {}
