use adk::prelude::*;

workflow! {
    pub Writing() {
        agent critic { instruction: "Review." }

        critic;
        loop(max = 2) { /* critic as again; */ }
    }
}

fn main() {}
