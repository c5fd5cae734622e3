use adk::prelude::*;

mod one {
    adk::llm::agent! { pub critic -> a: String { instruction: "Review." } }
}

mod two {
    adk::llm::agent! { pub critic -> b: String { instruction: "Review." } }
}

workflow! {
    pub Writing() {
        one::critic;
        two::critic;
    }
}

fn main() {}
