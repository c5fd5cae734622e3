use adk::prelude::*;
use agents::data::NO_ROUNDS;

workflow! {
    pub Writing() {
        agent critic { instruction: "Review." }

        refinement: loop(max = NO_ROUNDS) < critic >;
        loop(max = agents::data::ROUNDS as i32 - 5) < critic as b >
    }
}

fn main() {}
