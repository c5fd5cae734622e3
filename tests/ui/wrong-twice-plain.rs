//! An item of ours and a plain one of its name are told once, and what is ours is checked too.

use adk::llm::agent;
use adk::prelude::*;
use adk::data;

struct Reviewing;

workflow! {
    /// Is a struct already.
    pub Reviewing(text: String) -> text: String {
        agent writer -> text: String { instruction: "{text}" }

        writer
    }
}

agent! {
    /// Is a module already.
    pub judge -> grade: u8 { instruction: "Grade {text}." }
}

mod judge {}

fn grade() {}

/// Grades a text.
#[agent(writes = grade)]
fn grade(text: &str) -> usize {
    text.len()
}

/// Is there before the other one.
#[tool]
fn search(words: &str) -> String {
    words.into()
}

#[derive(Debug)]
pub(crate) struct search;

const COUNT: u8 = 1;

/// Counts letters.
#[agent(writes = letters)]
#[allow(non_snake_case)]
fn COUNT(text: &str) -> usize {
    text.len()
}

trait Page {}

#[data]
struct Page {
    words: Vec<String>,
}

workflow! {
    /// The function is an agent, whatever has its name.
    Grading(text: String) -> grade: usize { grade; COUNT }
}

workflow! {
    /// So is what has the name of a type.
    Judging(text: String) -> text: String {
        agent editor -> text: String { instruction: "{text}", tools: [search, agent(judge)] }

        editor; judge; Reviewing
    }
}

fn main() {
    type Inner = u8;
    workflow! {
        /// Is a type already.
        Inner(essay: String) -> grade: usize { grade }
    }
    {
        workflow! {
            /// Is none of these.
            Inner(text: String) -> grade: usize { grade }
        }
    }
}
