use adk::prelude::*;

workflow! {
    pub Writing(topic: String, severity: String) -> (draft: String, sumary: String, alarm: String) {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent summarizer -> summary: String { instruction: "Summarize {draft}." }
        agent page -> alarm: String { instruction: "Wake somebody." }

        writer;
        summarizer;
        match severity < "high" => page, _ => () >
    }
}

workflow! {
    pub Nothing(topic: String) -> result: String {
        agent writer { instruction: "Write about {topic}." }

        writer
    }
}

fn main() {}
