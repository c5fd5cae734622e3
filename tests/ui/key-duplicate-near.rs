use adk::prelude::*;

// The second `topic` was to be `tone`, which is near to `done`.
workflow! {
    pub Writing(topic: String, topic: String = "plain") {
        let done: bool = false;
        agent writer { instruction: "{tone} {topic} {done}" }

        writer
    }
}

// The `let` was to be `done`.
workflow! {
    pub Reviewing(topic: String, tone: String) {
        let topic: String = "No issues found.";
        agent critic { instruction: "{topic} {tone} {done}" }

        critic
    }
}

fn main() {}
