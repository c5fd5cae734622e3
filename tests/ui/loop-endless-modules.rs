use adk::prelude::*;

mod drafts {
    adk::workflow! {
        // An exit never leaves a workflow: this `break` ends the loop of its own workflow.
        pub Drafting(topic: String) -> draft: String {
            agent writer -> draft: String { instruction: "Write about {topic}." }

            loop(max = 3) < writer; break >
        }
    }
}

workflow! {
    pub Writing(topic: String) -> draft: String {
        loop < drafts::Drafting >
    }
}

fn main() {}
