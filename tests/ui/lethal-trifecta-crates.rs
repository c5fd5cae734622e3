use adk::prelude::*;

workflow! {
    pub Answering(question: String) {
        agent clerk { instruction: "{question}", tools: [agents::tools::fetch_page, agents::tools::find_orders], max_turns: 2 }

        clerk
    }
}

fn main() {}
