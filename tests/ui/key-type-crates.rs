use adk::prelude::*;

workflow! {
    pub Working(topic: Vec<String>, score: u32) {
        let draft: u8 = 1;
        agents::functions::grader;
        agents::workflows::Drafting;
        agents::functions::lister;
        each item in items < agents::functions::counter(items = item) >
    }
}

fn main() {}
