//! The worst case is at most what is allowed.

use adk::prelude::*;

workflow! {
    #[bounds(model_calls = 11, rounds = 5)]
    pub Writing(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent critic -> criticism: String { instruction: "Review {draft}." }
        agent refiner -> draft: String { instruction: "Apply {criticism} to {draft}." }

        writer;
        refinement: loop(max = 5) < critic; refiner >
    }
}

workflow! {
    #[bounds(model_calls = agents::data::ROUNDS)]
    pub Bounded(topic: String) {
        agent writer { instruction: "Write about {topic}.", tools: [agents::tools::search], max_turns: 3 }

        writer;
        agents::functions::lister
    }
}

#[test]
fn the_worst_case() {
    assert_eq!(Writing::SPEC.bounds().model_calls, Some(11));
}
