use adk::prelude::*;

workflow! {
    pub Writing() {
        agent critic { instruction: "Review." }

        loop(max = 2) < critic; parallel < critic as b; critic as c >
    }
}

fn main() {}
