use adk::prelude::*;

mod limits {
    pub const NONE: usize = 0;
    pub const LESS: i64 = -2;
    pub const HALF: f64 = 0.5;
}

workflow! {
    pub Writing() {
        agent critic { instruction: "Review." }

        refinement: loop(max = limits::NONE) < critic >;
        loop(max = limits::LESS * 2) < critic as b >;
        loop(max = limits::HALF) < critic as c >
    }
}

fn main() {}
