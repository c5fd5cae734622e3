//! Closures with several parameters, whose commas are none of the list that they stand in.

use adk::prelude::*;

workflow! {
    pub Blocks(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }

        loop(max = 2, before_model = |_, _| {}) < writer >
        sequence(after_tool = |cx, call, value| {}) < writer as second >
        named: parallel(after_tool = move |cx, call| Ok(None), max_concurrency = 2) < writer as third >
        again: loop(max = 2, after_agent = |_| Ok(None), after_agent = |_, _, _| Ok(None)) < writer as fourth >
    }
}

fn main() {}
