//! Two items of one name are told once, whatever the macros make of them, and the second one is checked too.

use adk::llm::agent;
use adk::prelude::*;
use adk::data;

agent! {
    /// Reviews a text.
    pub critic -> criticism: String { instruction: "Review {text}." }
}

agent! {
    /// Reviews a text.
    pub critic -> criticism: String { instruction: "Review {text}." }
}

/// Counts letters.
#[agent(writes = letters)]
fn count(text: &str) -> usize {
    text.len()
}

/// Counts words.
#[agent(writes = words)]
fn count(text: &str) -> usize {
    text.split(' ').count()
}

/// Searches.
#[tool]
fn search(words: &str) -> String {
    words.into()
}

/// Searches.
#[tool]
fn search(words: &str) -> String {
    words.into()
}

/// Counts letters as well.
#[tool]
fn count(text: &str) -> usize {
    text.len()
}

/// Reviews a text.
#[agent(writes = criticism)]
fn critic(text: &str) -> String {
    text.into()
}

#[data]
struct Page {
    words: Vec<String>,
}

#[data]
enum Page {
    Empty,
}

workflow! {
    /// Reviews a text.
    Reviewing(text: String) -> criticism: String { critic }
}

workflow! {
    /// Reviews another one.
    Reviewing(essay: String) -> criticism: String { critic }
}

agent! {
    /// Is a workflow already.
    Reviewing -> criticism: String { instruction: "Review {text}." }
}

/// Items of a block are twice there as well.
fn main() {
    workflow! {
        /// Reviews a text.
        Inner(text: String) -> criticism: String { critic }
    }
    workflow! {
        /// Reviews a text.
        Inner(text: String) -> criticism: String { critic }
    }
    {
        workflow! {
            /// Is none of these.
            Inner(text: String) -> criticism: String { critic }
        }
    }
}
