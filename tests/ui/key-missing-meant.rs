//! Where the key was meant to come from.

use adk::prelude::*;

/// Whether it may stay as it is.
#[agent(writes = approved)]
fn is_good(draft: &str) -> bool {
    draft.len() > 300
}

// The function stands where its key was meant.
workflow! {
    pub Writing(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }

        loop(max = 2, until = is_good) < writer; is_good >
    }
}

// It has lost its output.
workflow! {
    pub Drafting(topic: String) {
        agent drafter -> draft: String { instruction: "Write about {topic}." }

        drafter
    }
}

workflow! {
    pub Editing(topic: String) -> text: String {
        agent editor -> text: String { instruction: "Edit {draft}." }

        Drafting;
        editor
    }
}

// It is written, under another name.
workflow! {
    /// Grades a text.
    Grading(topic: String) -> mark: u32 {
        agent grader -> mark: u32 { instruction: "Grade {topic}." }

        grader
    }
}

/// Sums up.
#[agent(writes = text)]
fn sum_up(mark: u32) -> String {
    mark.to_string()
}

workflow! {
    pub Summing(topic: String) -> text: String {
        Grading as first -> first_mark;
        sum_up
    }
}

fn main() {}
