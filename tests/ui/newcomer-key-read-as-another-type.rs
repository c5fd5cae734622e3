use adk::prelude::*;

#[agent(writes = length)]
fn measure(text: &[String]) -> usize {
    text.len()
}

workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }

        writer;
        measure
    }
}

fn main() {}
