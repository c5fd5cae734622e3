use adk::prelude::*;

workflow! {
    pub Writing() {
        agent writer -> draft: String { instruction: "Write." }
        agent critic { instruction: "Review {draft}." }
        let done: String = "done"
        let tone: String = "plain";

        writer
        critic;
        loop(max = 2) < critic as b critic as c; 17; critic as d >
    }
}

fn main() {}
