//! Of two agents, the one that has the name by a field is to be named anew, whichever comes first.

use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}.", name: "critic" }
        agent critic -> criticism: String { instruction: "Review {draft}." }
        agent editor -> draft: String { instruction: "Edit by {criticism}.", name: "critic" }

        writer;
        critic;
        editor;
    }
}

workflow! {
    pub Editing(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent editor -> draft: String { instruction: "Edit {draft}.", name: "writer" }

        writer;
        editor;
    }
}

fn main() {}
