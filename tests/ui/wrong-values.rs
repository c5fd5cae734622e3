use adk::prelude::*;

workflow! {
    pub Writing(days: u32 = "three", tone: String = 5) {
        let done: String = true;
        agent writer { instruction: "Write.", temperature: "hot", model: 5, top_p: 1, max_turns: "few" }
        agent reader { instruction: "Read.", temperature: true }

        writer; reader
    }
}

fn main() {}
