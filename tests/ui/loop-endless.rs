use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent critic { instruction: "Review {draft}." }

        refinement: loop < writer; loop < critic; break > >
        loop < writer as again >
    }
}

fn main() {}
