use adk::prelude::*;

const MOST: u32 = 3;

/// Searches.
#[tool]
fn find() {}

mod agents {
    adk::llm::agent! {
        pub planner -> plan: Vec<String> { instruction: "Plan {topic}.", answer_attempts: 301 }
        pub writer -> draft: String { instruction: "Write {plan}.", max_turns: 2, tools: [crate::find] }
    }

    adk::workflow! {
        pub Drafting(plan: Vec<String>) -> draft: String {
            drafts: loop(max = 2) < writer >
        }
    }
}

workflow! {
    #[bounds(model_calls = MOST)]
    pub Writing(plan: Vec<String>) -> draft: String {
        agents::Drafting
    }
}

workflow! {
    #[bounds(model_calls = MOST * 100)]
    pub Planning(topic: String) {
        agents::planner
    }
}

fn main() {}
