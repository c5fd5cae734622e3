use adk::prelude::*;

#[agent(writes = found)]
fn look_up(word: &str) -> Option<u32> {
    (word == "four").then_some(4)
}

workflow! {
    pub Finding(word: String) -> found: Option<u32> {
        look_up
    }
}

fn main() {}
