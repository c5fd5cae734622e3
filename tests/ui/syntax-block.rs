use adk::prelude::*;

workflow! {
    pub Writing() {
        agent critic { instruction: "Review." }

        paralel < critic; critic as b >;
        lop(max = 5) < critic as c >;
        critics < critic as d >;
        loop(max = 2);
        first: critic as e;
        critic as f >
    }
}

fn main() {}
