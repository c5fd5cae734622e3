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

workflow! {
    pub Named() {
        agent critic { instruction: "Review." }

        critic
        again: loop(max = 3) < critic as b; critic as c >
    }
}

fn main() {}
