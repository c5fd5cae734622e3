use adk::prelude::*;

mod agents {
    adk::llm::agent! { pub critic { instruction: "Review." } }
}

workflow! {
    pub Writing() {
        agents::critic;
        loop(max = 2) < agents:: >;
        agents::critic as ;
        agents::critic<String> as third
    }
}

fn main() {}
