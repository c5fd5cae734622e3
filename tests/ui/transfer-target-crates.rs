use adk::prelude::*;

workflow! {
    pub Support(topic: String) -> answer: String {
        agent critic: agents::llm::critic;
        agent clerk -> answer: String { instruction: "Answer.", transfer: [critic, agents::llm::summarizer] }

        clerk;
        critic
    }
}

workflow! {
    pub Review(topic: String) -> opinion: String {
        agent clerk -> opinion: String { instruction: "Review.", transfer: [agents::llm::second::critic] }

        clerk
    }
}

fn main() {}
