use adk::prelude::*;

workflow! {
    pub Writing(topic: String, tone: String, topic: String) -> (draft: String, draft: f64) {
        let tone: String = "plain";
        let done: bool = false;
        state done: bool;
        state user:tone: String;
        state user:tone: String;
        agent critic -> draft: String { instruction: "Review." }

        critic
    }
}

fn main() {}
