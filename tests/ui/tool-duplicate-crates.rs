use adk::prelude::*;
use agents::tools::{archive, search};

workflow! {
    pub Writing() {
        agent critic { instruction: "Review.", tools: [search, archive::search, agents::tools::stop] }

        loop(max = 2) < critic >
    }
}

fn main() {}
