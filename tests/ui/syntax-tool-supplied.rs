use adk::DynAgent;
use adk::prelude::*;
use std::sync::Arc;

/// Counts words.
#[agent(writes = words)]
fn count(topic: &str) -> u64 {
    topic.split_whitespace().count() as u64
}

workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String {
            instruction: "Write about {topic}.",
            tools: [agent(counter), agent(count), agent(editor)],
        }
        agent counter: count;
        agent editor(text: String) -> text: String as Arc<dyn DynAgent>;

        writer; counter; editor
    }
}

fn main() {}
