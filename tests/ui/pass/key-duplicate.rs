//! Every key is declared once; a key with a prefix is another key.

use adk::prelude::*;

workflow! {
    pub Writing(topic: String, tone: String = "plain") -> (draft: String, topic: String) {
        let done: bool = false;
        state user:tone: String;
        state app:tone: String;
        agent writer -> draft: String { instruction: "Write about {topic}: {tone}, {user:tone}, {app:tone}, {done}." }

        writer
    }
}

/// Adds a line.
#[agent(writes = notes)]
fn note(notes: Option<&str>, line: &str) -> String {
    format!("{}{line};", notes.unwrap_or_default())
}

workflow! {
    /// Keeps minutes over the session.
    pub Minutes(line: String) {
        state notes: Option<String>;
        note
    }
}

workflow! {
    /// Uses the same key of the session.
    pub Meeting(line: String) -> seen: String {
        state notes: Option<String>;
        agent reader -> seen: String { instruction: "Sum up {notes?}" }
        Minutes;
        reader
    }
}
