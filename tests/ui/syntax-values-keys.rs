//! First values and defaults that read keys, and those that only have names like keys.

use adk::prelude::*;

mod limit {
    pub const MOST: u32 = 3;

    pub fn subject() -> String {
        "cats".into()
    }
}

use limit::subject;

workflow! {
    pub Writing(topic: String, words: u32 = topic.len() as u32, tone: String = subject()) -> draft: String {
        let limit: u32 = limit::MOST;
        let most: u32 = words * 2;
        let shown: String = format!("{}", tone);
        let names: Vec<String> = Some("a").map(|tone| tone.to_owned()).into_iter().collect();
        let subject: String = subject();
        let last: u32 = { let words = 1; words };
        agent writer -> draft: String {
            instruction: "Write {most} words about {topic}, as {names}: {tone}, {limit}, {shown}, {subject}, {last}.",
        }
        writer
    }
}

fn main() {
    let flow = Writing::default();
    let _ = &flow.writer;
}
