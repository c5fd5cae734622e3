use adk::prelude::*;

workflow! {
    pub Writing(topic: String) {
        let tone: String = "plain";
        let tone: String = "kind";
        let topic: String = "cats";
        state tone: String;
        agent writer { instruction: "Write about {topic}: {tone}." }

        writer
    }
}

fn main() {}
