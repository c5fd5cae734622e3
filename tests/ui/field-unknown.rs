use adk::prelude::*;

workflow! {
    pub Writing() {
        agent critic {
            instructions: "Review.",
            temprature: 0.5,
            colour: "red",
            budget: 5,
            seed: 1,
            compact: { after: 40, keeps: 10 },
            seed: 2,
        }

        critic
    }
}

workflow! {
    pub Trying(topic: String) {
        agent writer { instruction: "{topic}" }

        try(attempt = 3, timeout = "1s", on = all) < writer >
        parallel(first, fist) < writer as second; writer as third >
    }
}

fn main() {}
