use adk::prelude::*;

const NONE: usize = 0;
const LESS: i64 = -2;
const HALF: f64 = 0.5;

workflow! {
    pub Writing() {
        agent critic { instruction: "Review." }

        refinement: loop(max = NONE) < critic >;
        loop(max = LESS * 2) < critic as b >;
        loop(max = HALF) < critic as c >;
        parallel(max_concurrency = NONE) < critic as d >
    }
}

fn main() {}
