use adk::prelude::*;

mod others {
    use adk::prelude::*;

    /// Looks up.
    #[tool]
    pub fn look_up(text: &str) -> usize {
        text.len()
    }

    pub fn plain() {}

    pub struct Money;

    llm::agent! {
        pub expert -> answer: String { instruction: "Answer: {case}", transfer: [super::more::judge] }
        pub looping -> answer: String { instruction: "Answer.", transfer: [looping, expert, expert, super::more::expert] }
        pub first { instruction: "Answer.", transfer: [second] }
        pub second { instruction: "Answer.", transfer: [first] }
    }
}

mod more {
    adk::llm::agent! {
        pub judge -> answer: String { instruction: "Judge {evidence}" }
        pub expert { instruction: "Answer." }
    }
}

workflow! {
    pub Support(question: String) -> answer: String {
        agent clerk -> answer: String { instruction: "Answer {question}.", transfer: [others::expert] }

        clerk
    }
}

workflow! {
    pub Kinds(question: String) -> answer: String {
        agent clerk -> answer: String { instruction: "Answer {question}.", transfer: [others::look_up, others::plain] }
        agent other { instruction: "Answer.", transfer: [others::Money, others::missing] }

        clerk;
        other
    }
}

workflow! {
    pub Twice(question: String) -> answer: String {
        agent clerk -> answer: String { instruction: "Answer.", transfer: [more::judge, more::judge, more::expert] }
        agent other { instruction: "Answer.", transfer: [more::judge, others::expert] }

        clerk;
        other;
        more::expert
    }
}

fn main() {}
