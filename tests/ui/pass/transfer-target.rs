//! Targets are declared in the workflow, and are not steps.

use adk::prelude::*;

mod others {
    adk::llm::agent! { pub desk -> answer: String { instruction: "Answer: {question}" } }
}

workflow! {
    pub Support(question: String) -> answer: String {
        agent clerk -> answer: String { instruction: "Answer {question}, or hand it over.", transfer: [billing, desk] }
        agent billing -> answer: String { instruction: "Answer what is about money: {question}", transfer: [expert] }
        agent expert -> answer: String { instruction: "Answer: {question}" }
        agent desk: others::desk;

        clerk
    }
}

workflow! {
    /// Hands over to an agent that is also placed with `as`: that step is another instance.
    pub Desk(question: String) -> (answer: String, opinion: String) {
        agent clerk -> answer: String { instruction: "Answer {question}, or hand it over.", transfer: [billing] }
        agent billing -> answer: String { instruction: "Answer what is about money: {question}" }

        clerk;
        billing as second -> opinion
    }
}

workflow! {
    /// Hands over to agents of another module and of another crate.
    pub Elsewhere(question: String, draft: String) -> (answer: String, criticism: String) {
        let answer: String = String::new();
        let criticism: String = String::new();

        agent clerk -> answer: String {
            instruction: "Answer {question}, or hand it over.",
            transfer: [others::desk, agents::llm::critic],
        }

        clerk
    }
}
