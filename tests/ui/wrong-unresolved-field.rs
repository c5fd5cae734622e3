//! A misspelt step: the field of its agent is there, so that nothing is told of what uses it.

use adk::prelude::*;

workflow! {
    /// Writes a text.
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }

        writter
    }
}

fn main() {
    let mut writing = Writing::default();
    writing.writer.set_model("a");
}
