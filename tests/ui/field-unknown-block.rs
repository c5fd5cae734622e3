use adk::prelude::*;

workflow! {
    pub Writing() {
        agent critic { instruction: "Review." }

        loop(max = 2, unitl = done, max = 3) < critic >
        parallel(max = 2) < critic as second >
        sequence(max = 2) < critic as third >
    }
}

fn main() {}
