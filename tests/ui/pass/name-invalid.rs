//! Keywords as raw names, letters of many scripts, and a workflow `Loop` under another name.

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

workflow! {
    /// The items that are derived from this name have a plain name.
    pub r#fn(topic: String, r#type: String) -> (draft: String, r#match: String) {
        agent writer -> draft: String { instruction: "Write about {topic}, a {type}." }
        agent matcher -> r#match: String { instruction: "Match {draft}." }

        writer;
        matcher;
    }
}

pub fn made(input: fnInput) -> fnOutput {
    let _: Option<r#fn> = None;
    fnOutput {
        draft: input.topic,
        r#match: input.r#type,
    }
}
