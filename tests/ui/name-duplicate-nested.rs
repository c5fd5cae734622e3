use adk::prelude::*;

mod drafts {
    adk::workflow! {
        pub Drafting(topic: String) -> draft: String {
            agent critic -> draft: String { instruction: "Write about {topic}." }
            refinement: loop(max = 2) < critic >
        }
    }
}

workflow! {
    pub Writing(topic: String) {
        agent critic { instruction: "Review it." }

        critic;
        drafts::Drafting;
        drafts::Drafting as other;
        drafts::Drafting as third;
    }
}

workflow! {
    pub Article(topic: String) {
        agent refinement { instruction: "Refine it." }

        drafts::Drafting;
        refinement
    }
}

fn main() {}
