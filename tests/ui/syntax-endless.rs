use adk::prelude::*;

/// Each of these goes on for longer than a parser that recurses can follow.
#[agent(writes = score)]
fn grade(text: &&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&str) -> f64 {
    text.len() as f64
}

/// Looks it up.
#[tool]
fn look(word: Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<String>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>) -> String {
    word
}

/// A text.
#[data]
struct Text {
    parts: Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<String>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>,
}

workflow! {
    pub Negative(topic: Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<Vec<String>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>> = ----------------------------------------1) -> answer: String {
        agent writer -> answer: String { instruction: "Answer {topic}" }

        writer
    }
}

fn main() {}
