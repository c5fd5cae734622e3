use adk::prelude::*;

mod others {
    use adk::prelude::*;

    /// Waits.
    #[tool(confirm)]
    pub fn pay() {}

    llm::agent! {
        pub expert -> answer: String { instruction: "Answer: {case}", transfer: [super::more::judge] }
        pub cashier -> answer: String { instruction: "Pay.", transfer: [super::more::payer] }
    }
}

mod more {
    use adk::prelude::*;

    llm::agent! {
        pub judge -> answer: String { instruction: "Judge {evidence}" }
        pub payer -> sum: String { instruction: "Pay.", tools: [super::others::pay, adk::tools::exit_loop] }
    }
}

workflow! {
    pub Support(question: String) -> answer: String {
        agent clerk -> answer: String { instruction: "Answer {question}.", transfer: [others::expert] }

        clerk
    }
}

workflow! {
    #[bounds(model_calls = 4)]
    pub Paying() -> answer: String {
        /// Answers.
        agent clerk -> answer: String { instruction: "Answer.", transfer: [others::cashier], max_turns: 2 }
        agent chief { instruction: "Ask.", tools: [agent(clerk)], max_turns: 2 }

        clerk;
        chief
    }
}

workflow! {
    pub Judging(evidence: String) -> answer: String {
        agent judge: more::judge;
        agent clerk { instruction: "Ask.", transfer: [judge] }

        clerk;
        judge
    }
}

fn main() {}
