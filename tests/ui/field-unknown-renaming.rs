use adk::prelude::*;

workflow! {
    pub Writing(draft: String, essay: String) {
        agent critic -> criticism: String { instruction: "Review {draft}." }

        critic(draft = essay, draft = draft) as second;
        critic as third -> (one, one)
    }
}

fn main() {}
