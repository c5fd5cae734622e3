use adk::prelude::*;

workflow! {
    pub Writing(days: u32 = "three", tone: String = 5) {
        let done: String = true;
        agent writer { instruction: "Write.", temperature: "hot", model: 5, top_p: 1 }
        agent reader { instruction: "Read.", temperature: true }

        writer; reader
    }
}

workflow! {
    pub Counting() {
        agent writer { instruction: "Write.", max_turns: "few", budget: "50 cents" }

        loop(max = 2, budget = 0.5) < writer >
    }
}

workflow! {
    pub Chatting() {
        agent talker { instruction: "Talk.", compact: { after: 5 } }
        agent listener { instruction: "Listen.", compact: { after: 40 }, include_contents: last(3) }

        talker; listener
    }
}

fn main() {}
