//! The worst case is within the bounds.

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

workflow! {
    #[bounds(model_calls = 2 * MOST + 1)]
    pub Research(topics: Vec<String>) -> report: String {
        agent researcher -> note: String { instruction: "Research {topic}." }
        agent skeptic -> note: String { instruction: "Correct {note}." }
        agent writer -> report: String { instruction: "Sum up {note}." }

        each(max = MOST, over = cut, max_concurrency = 4) topic in topics < researcher; skeptic >
        writer
    }
}

workflow! {
    /// The number of calls of agents as tools is unknown; the run ends at the bound.
    #[bounds(model_calls = 12)]
    pub Asking(task: String) -> result: String {
        /// Researches a question.
        agent researcher -> facts: String { instruction: "Look up what you are asked." }
        agent boss -> result: String { instruction: "{task}", tools: [agent(researcher)], max_turns: 8 }
        boss
    }
}

const MOST: u32 = 20;

#[test]
fn the_worst_case() {
    assert_eq!(Writing::SPEC.bounds().model_calls, Some(11));
    assert_eq!(Research::SPEC.bounds().model_calls, Some(41));
    assert_eq!(Asking::SPEC.bounds().model_calls, None);
}
