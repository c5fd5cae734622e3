use adk::prelude::*;

#[agent(writes = found)]
fn look_up(topic: &str) -> Option<u32> {
    (topic == "four").then_some(4)
}

workflow! {
    pub Writing(topic: String) {
        agent writer -> text: String { instruction: "Write about {topic}." }

        look_up;
        match found < Some(_) => writer, None => () >
    }
}

fn main() {}
