use adk::prelude::*;

workflow! {
    pub Writing() {
        agent critic { instruction: "Review." }

        outer: loop(max = 3) <
            critic;
            parallel < sequence < >; {}; < critic as second > >
        >
    }
}

fn main() {}
