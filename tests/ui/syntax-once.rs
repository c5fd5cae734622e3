//! One mistake, one message: nothing else is said of what could not be read.

use adk::prelude::*;

struct Keeper<T>(T);

workflow! {
    pub NoBody(topic: String) -> draft: String
}

workflow! {
    struct Fields { topic: String }
}

workflow! {
    pub Unclosed(topics: Vec<String) {
        agent writer { instruction: "Write." }
        writer
    }
}

workflow! {
    pub UnclosedInside(topic: String) -> table: Vec<Vec<String> {
        agent writer -> table: Vec<Vec<String>> { instruction: "Write about {topic}." }
        writer
    }
}

workflow! {
    pub Generic(topic: String) {
        agent writer -> draft: String { instruction: "Write." }
        loop(max = 2) < writer; Keeper<String> as keeper >
    }
}

workflow! {
    pub Keyword(topic: String) {
        agent r#fn -> draft: String { instruction: "Write." }
        loop(max = 2) < fn >
    }
}

fn main() {}
