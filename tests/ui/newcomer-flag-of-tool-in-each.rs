use adk::prelude::*;

/// Approves the draft.
#[tool]
fn approve(#[key] approved: Out<bool>) {
    approved.set(true);
}

workflow! {
    pub Polishing(topics: Vec<String>) -> draft: Vec<String> {
        let approved: bool = false;
        agent editor -> draft: String { instruction: "Polish {topic}.", tools: [approve], max_turns: 3 }

        each topic in topics < loop(max = 3, until = approved) < editor > >
    }
}

fn main() {}
