use adk::prelude::*;

workflow! {
    pub Research(topic: String) -> facts: String {
        agent web -> facts: String { instruction: "Search the web for {topic}." }
        agent archive -> facts: String { instruction: "Search the archive for {topic}." }
        agent writer -> summary: String { instruction: "Summarize {facts?}." }

        parallel < web; archive; writer >
    }
}

fn main() {}
