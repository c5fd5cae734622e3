use adk::prelude::*;

/// Adds a line.
#[agent(writes = notes)]
fn note(notes: Option<&str>, line: &str) -> String {
    format!("{}{line};", notes.unwrap_or_default())
}

/// Looks.
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
    /// Has notes of its own.
    Research(line: String) -> report: String {
        agent reader -> notes: String { instruction: "Notes on {line}" }
        agent writer -> report: String { instruction: "Report on {notes}" }
        reader;
        writer;
        Minutes
    }
}

workflow! {
    /// Reads the notes of the session as if they were its own.
    Reading(line: String) -> seen: String {
        Minutes;
        look
    }
}

workflow! {
    /// The same where the minutes are a tool.
    Asking(line: String) -> notes: String {
        agent asker -> notes: String { instruction: "Notes on {line}", tools: [agent(Minutes)], max_turns: 3 }
        asker
    }
}

fn main() {}
