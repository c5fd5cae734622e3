use adk::prelude::*;

const NONE: usize = 0;

workflow! {
    pub Writing() {
        agent critic { instruction: "Review." }

        parallel(max_concurrency = 0) < critic as b >
        parallel(max_concurrency = "4") < critic as c >
    }
}

workflow! {
    pub Reviewing() {
        agent critic { instruction: "Review." }

        parallel(max_concurrency = NONE) < critic >
    }
}

fn main() {}
