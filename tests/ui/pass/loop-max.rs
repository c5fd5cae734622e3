//! Positive integers: literals, consts of any integer type, of this crate or another, and
//! expressions of them.

use adk::prelude::*;

const ROUNDS: i64 = 2;

workflow! {
    pub Writing(rounds: u32) {
        agent critic { instruction: "Review in {rounds} rounds." }

        loop(max = 1) < critic >;
        loop(max = 4_294_967_295) < critic as b >;
        loop(max = ROUNDS * 2 - 3) < critic as c >;
        refinement: loop(max = agents::data::ROUNDS) < critic as d >;
        parallel(max_concurrency = ROUNDS) < critic as e >
    }
}

#[test]
fn it_can_be_lowered() {
    let mut writing = Writing::default();
    assert!(writing.refinement.set_max(2).is_ok());
    assert!(writing.refinement.set_max(4).is_err());
}
