//! What rustc passes on to macros although it is no identifier: it tells so by itself.

use adk::prelude::*;

workflow! {
    pub Writing🦀(topic🎈: String) -> draft: String {
        agent writer🖊 -> draft: String { instruction: "Write." }
        writer🖊;
        agents::llm::critic as größe
    }
}

fn main() {}
