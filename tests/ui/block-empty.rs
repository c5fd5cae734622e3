use adk::prelude::*;

workflow! {
    pub Writing() {
        agent critic { instruction: "Review." }

        loop(max = 2) < >;
        refinement: parallel { }
        < critic; <> >
    }
}

fn main() {}
