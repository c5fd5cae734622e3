use adk::prelude::*;
use agents::by_hand::User;

workflow! {
    /// Improves a text.
    pub Improving(draft: String) -> draft: String {
        agent refiner -> draft: String {
            instruction: "Improve {draft}. Ask for opinions.",
            tools: [agent(agents::llm::critic), agent(agents::llm::untold::judge), agent(User)],
            max_turns: 5,
        }

        refiner
    }
}

fn main() {}
