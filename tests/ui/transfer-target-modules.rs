use adk::prelude::*;

mod others {
    adk::llm::agent! { pub expert -> answer: String { instruction: "Answer: {question}" } }
}

workflow! {
    pub Support(question: String) -> answer: String {
        agent clerk -> answer: String { instruction: "Answer {question}, or hand it over.", transfer: [others::expert] }

        clerk
    }
}

fn main() {}
