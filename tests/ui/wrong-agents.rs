use adk::prelude::*;

fn helper() {}

workflow! {
    pub Writing() {
        agent writer { instruction: "Write.", tools: [helper] }
        writer;
        helper
    }
}

fn main() {}
