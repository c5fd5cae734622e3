use adk::prelude::*;

workflow! {
    pub Writing(topic: String, words: Vec<String>) {
        let word: String = "cat";
        agent writer { instruction: "Write about {topic} and {word}." }

        each word in words < writer >
        each topic in words < writer as again >
        each name in words < each name in words < writer as third > >
    }
}

fn main() {}
