//! A `=>` whose `>` was meant to close the block.

use adk::prelude::*;

workflow! {
    pub Writing() {
        agent writer { instruction: "Write." }
        agent critic { instruction: "Review." }

        loop(max = 2) < writer; parallel < critic => ; writer as again =>
    }
}

fn main() {}
