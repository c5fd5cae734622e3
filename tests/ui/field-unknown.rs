use adk::prelude::*;

workflow! {
    pub Writing() {
        agent critic {
            instructions: "Review.",
            temprature: 0.5,
            colour: "red",
            budget: 5,
            seed: 1,
            seed: 2,
        }

        critic
    }
}

fn main() {}
