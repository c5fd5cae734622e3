use adk::prelude::*;

workflow! {
    pub Research(topic: String) -> facts: String {
        agent web -> facts: String { instruction: "Search the web for {topic}." }
        agent archive -> facts: String { instruction: "Search the archive for {topic}." }
        agent writer -> summary: String { instruction: "Summarize {facts?}." }

        parallel < web; archive; writer >
    }
}

workflow! {
    pub Fast(topic: String) -> draft: String {
        agent quick -> draft: String { instruction: "On {topic}." }
        agent slow -> draft: String { instruction: "On {topic}." }
        agent reviser -> draft: String { instruction: "Revise {draft}." }

        parallel(first) < quick; < slow; reviser > >
    }
}

fn main() {}
