//! Types and functions that are refused where they are defined: one message, and none of what uses them.

use adk::prelude::*;

/// rustc says four things of a union alone, and one or two of each use.
mod union {
    #[adk::data]
    #[derive(Clone, Debug, PartialEq)]
    pub union Text {
        pub language: String,
        pub words: Vec<String>,
    }
}

mod unread {
    /// What a reviewer thinks.
    #[adk::data]
    #[derive(Debug, PartialEq)]
    pub struct Review {
        pub score: u32;
        pub remarks: Vec<String>,
    }
}

mod derived {
    use adk::prelude::*;

    #[derive(Debug, Data)]
    pub enum Ruling {
        Accept,
        Reject,
    }
}

mod led {
    #[adk::Data]
    #[derive(Clone)]
    pub struct Note {
        pub text: String,
    }

    /// Looks it up.
    #[adk::Tool]
    pub fn look_up(word: String) -> String {
        word
    }
}

/// A parameter that no field holds.
#[data]
#[derive(PartialEq)]
pub struct Claim<T, U> {
    pub order: [u64; 2],
    pub held: Vec<U>,
}

#[data]
pub struct Order<T: Clone> {
    pub number: u64,
}

#[agent(writes = count)]
fn count<T: AsRef<str>>(draft: T) -> usize {
    draft.split_whitespace().count()
}

/// Finds an invoice.
#[tool]
fn find_invoice<N: Into<u32>>(number: N) -> Result<String, String> {
    match number {
        0 => Err("no such invoice".to_owned()),
        n => Ok(format!("invoice {n}")),
    }
}

#[agent(writes = text)]
fn translated(text: union::Text, language: &str) -> union::Text {
    if text.words.is_empty() { text } else { union::Text { language: language.to_owned(), words: text.words } }
}

#[agent(writes = order)]
fn ordered(review: &unread::Review, note: Option<led::Note>) -> Order {
    Order { number: note.map_or(0, |note| note.text.len() as u64) }
}

workflow! {
    /// Uses all of them.
    pub Desk(text: union::Text, language: String) -> (order: Order, ruling: derived::Ruling) {
        agent reviewer -> review: unread::Review { instruction: "Review {text}.", tools: [find_invoice, led::look_up] }
        agent noter -> note: led::Note { instruction: "Note what is wrong: {review}." }
        agent judge -> ruling: derived::Ruling { instruction: "Judge {order}, {count}." }

        reviewer; noter; translated; ordered; count; judge
    }
}

fn main() {
    let text = union::Text { language: String::new(), words: Vec::new() };
    println!("{:?}", text.clone() == text);
}
