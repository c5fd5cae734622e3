//! Two branches must not write one draft at the same time.

use adk::prelude::*;

workflow! {
    /// Writes about a topic in two styles.
    pub Writing(topic: String) -> draft: String {
        agent poet -> draft: String { instruction: "Write a poem about {topic}." }
        agent reporter -> draft: String { instruction: "Write a report about {topic}." }

        parallel < poet; reporter >
    }
}

fn main() {}
