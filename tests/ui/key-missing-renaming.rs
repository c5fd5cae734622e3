//! A renamed key must exist, even if the step reads it optionally.

use adk::prelude::*;

/// Prints a text.
#[agent]
fn print(note: Option<String>) {
    println!("{note:?}");
}

workflow! {
    /// Polishes a text.
    Polishing(text: String, tone: String = "plain") -> text: String {
        agent editor -> text: String { instruction: "Say this in a {tone} tone: {text}" }

        editor
    }
}

workflow! {
    /// Polishes an answer.
    pub Answering(text: String, moods: String) -> text: String {
        agent drafter -> text: String { instruction: "Answer {text} in the mood {moods}." }

        drafter;
        Polishing(tone = mood) -> text
    }
}

// No known key is similar to this key.
workflow! {
    pub Printing(text: String) -> text: String {
        agent translator -> text: String { instruction: "Translate {text}, which is about {topic?}." }

        print(note = remark);
        translator(topic = subject)
    }
}

fn main() {}
