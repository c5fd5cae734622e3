use adk::prelude::*;
use agents::by_hand::Handover;

workflow! {
    pub Writing() {
        agent critic { instruction: "Review.", tools: [agents::tools::search, Handover] }

        critic
    }
}

fn main() {}
