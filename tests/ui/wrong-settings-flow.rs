//! A setting of another type hides no fault of the flow.

use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> draft: String {
        agent writer -> draft: String {
            instruction: "Write about {topik}.",
            temperature: "hot",
        }
        agent critic { instruction: "Review {draft} for {audience}.", max_output_tokens: 2.5 }

        writer;
        critic
    }
}

adk::llm::agent! {
    pub agent lone -> text: String { instruction: "Write.", temperature: "hot" }
}

workflow! {
    pub Asking(question: String) { lone; lone as second }
}

fn main() {}
