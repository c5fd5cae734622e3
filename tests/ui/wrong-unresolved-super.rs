//! A path that leads out of the crate.

use adk::prelude::*;

mod agents {
    adk::llm::agent! {
        /// Writes.
        pub writer -> text: String { instruction: "Write about {topic}." }
    }
}

workflow! {
    /// Writes a text.
    pub Writing(topic: String) -> text: String {
        super::agents::writer
    }
}

mod inner {
    use adk::prelude::*;

    workflow! {
        /// Writes a text.
        pub Writing(topic: String) -> text: String {
            super::agents::writer;
            self::super::super::agents::writer as second
        }
    }
}

fn main() {}
