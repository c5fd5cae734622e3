use adk::prelude::*;

workflow! {
    pub Writing() {
        agent critic {
            instructions: "Review.",
            temprature: 0.5,
            colour: "red",
            transfer: [writer],
            seed: 1,
            seed: 2,
        }

        loop(max = 2, unitl = done, max = 3) < critic >
        parallel(max = 2) < critic as second >
        sequence(max = 2) < critic as third >
    }
}

fn main() {}
