use adk::prelude::*;

/// Adds a line.
#[agent(writes = notes)]
fn note(notes: Option<&str>, line: &str) -> String {
    format!("{}{line};", notes.unwrap_or_default())
}

/// Reads the minutes.
#[agent(writes = seen)]
fn look(notes: Option<&str>) -> String {
    notes.unwrap_or("nothing").to_owned()
}

workflow! {
    /// Keeps minutes over the session.
    Minutes(line: String) {
        state notes: Option<String>;
        note
    }
}

workflow! {
    /// Has its own notes.
    Research(line: String) -> report: String {
        agent reader -> notes: String { instruction: "Notes on {line}" }
        agent writer -> report: String { instruction: "Report on {notes}" }
        reader;
        writer;
        Minutes
    }
}

workflow! {
    /// Reads the notes of the session as its own.
    Reading(line: String) -> seen: String {
        Minutes;
        look
    }
}

workflow! {
    /// Uses the minutes workflow as a tool.
    Asking(line: String) -> notes: String {
        agent asker -> notes: String { instruction: "Notes on {line}", tools: [agent(Minutes)], max_turns: 3 }
        asker
    }
}

fn main() {}
