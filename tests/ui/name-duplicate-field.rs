use adk::prelude::*;

mod agents {
    #[adk::agent]
    pub fn writer() {}
    #[adk::agent]
    pub fn critic() {}
}

workflow! {
    pub Writing() {
        agent writer { instruction: "Write.", name: "drafter" }
        agent critic { instruction: "Review.", name: "reviewer" }

        writer;
        agents::writer;
        critic: loop(max = 2) < critic >
    }
}

fn main() {}
