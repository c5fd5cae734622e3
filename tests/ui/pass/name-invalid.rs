//! Keywords as raw names, letters of every script, and a workflow `Loop` by another name.

use adk::prelude::*;

workflow! {
    pub Writing() {
        agent r#fn { instruction: "Write." }
        agent критик { instruction: "Review." }
        agent refiner { instruction: "Refine.", name: "type" }
        agent _quiet { instruction: "Say nothing." }
        let topic: String = "cats";

        r#fn;
        критик;
        _quiet;
        r#match: loop(max = 2) < refiner >
        agents::workflows::Loop as talking;
    }
}
