use adk::prelude::*;

workflow! {
    pub Support(draft: String) -> answer: String {
        agent critic: agents::llm::critic;
        agent clerk -> answer: String { instruction: "Answer, or hand it over.", transfer: [critic, summarizer] }

        clerk;
        agents::llm::summarizer;
        critic
    }
}

fn main() {}
