//! Paths that do not lead to an agent, and agents that are targets twice.

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
        pub expert { instruction: "Answer." }
        pub looping { instruction: "Answer.", transfer: [looping, expert, expert, super::more::expert] }
        pub first { instruction: "Answer.", transfer: [second] }
        pub second { instruction: "Answer.", transfer: [first] }
    }

    llm::agent! {
        pub wrong { instruction: "Answer.", transfer: [look_up, plain, Money, missing] }
    }
}

mod more {
    adk::llm::agent! {
        pub judge { instruction: "Judge." }
        pub expert { instruction: "Answer." }
    }
}

workflow! {
    pub Kinds() {
        agent clerk { instruction: "Answer.", transfer: [others::look_up, others::plain] }
        agent other { instruction: "Answer.", transfer: [others::Money, others::missing, absent] }

        clerk;
        other
    }
}

workflow! {
    pub Twice() {
        agent clerk { instruction: "Answer.", transfer: [more::judge, more::judge, more::expert] }
        agent other { instruction: "Answer.", transfer: [more::judge, others::expert] }

        clerk;
        other;
        more::expert
    }
}

fn main() {}
