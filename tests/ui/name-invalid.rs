use adk::prelude::*;

workflow! {
    pub Loop() {
        agent critic { instruction: "Review." }
        critic
    }
}

workflow! {
    pub Writing() {
        agent fn { instruction: "Write." }
        agent _ { instruction: "Write." }
        agent "writer" { instruction: "Write." }
        agent refiner { instruction: "Refine." }

        refiner as _;
        refiner as self;
        match: loop(max = 2) < refiner >
    }
}

workflow! {
    pub Reviewing() {
        agent critic { instruction: "Review.", name: "the critic" }
        agent refiner { instruction: "Refine.", name: "type" }

        critic;
        refiner;
        Loop;
    }
}

fn main() {}
