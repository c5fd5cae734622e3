use adk::prelude::*;

workflow! {
    pub Writing(rounds: u32) {
        agent critic { instruction: "Review." }

        loop(max = 0) < critic >;
        loop(max = -3) < critic as b >;
        loop(max = 2.5) < critic as c >;
        loop(max = "5") < critic as d >;
        loop(max = 5000000000) < critic as f >;
        loop(max = 1..5) < critic as g >;
        loop(max = 5f32) < critic as h >
    }
}

workflow! {
    pub Reading(rounds: u32) {
        agent critic { instruction: "Review." }

        loop(max = rounds) < critic >
    }
}

workflow! {
    pub Empty() {
        agent critic { instruction: "Review." }

        loop(max = ) < critic >
    }
}

fn main() {}
