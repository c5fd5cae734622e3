//! Two items of one name are told once, also where a macro wrote them.

use adk::llm::agent;
use adk::prelude::*;

macro_rules! function {
    ($name:ident) => {
        /// Grades a text.
        #[agent(writes = grade)]
        fn $name(text: &str) -> usize {
            format!("{text}!").len()
        }
    };
}

function!(grade);
function!(grade);

/// Is written by nobody else.
#[agent(writes = letters)]
fn count(text: &str) -> usize {
    text.len()
}

function! { count }

macro_rules! tools {
    ($($name:ident: $ty:ty),*) => {
        $(
            /// Searches.
            #[tool]
            fn $name(words: $ty) -> String {
                words.into()
            }
        )*
    };
}

tools!(search: &str, find: String, search: String);

macro_rules! data {
    ($name:ident) => {
        #[adk::data]
        struct $name {
            words: Vec<String>,
        }
    };
}

data!(Page);
data!(Page);

macro_rules! review {
    ($name:ident, $key:ident) => {
        workflow! {
            /// Reviews a text.
            pub $name($key: String) -> $key: String {
                agent writer -> $key: String { instruction: "{text}" }

                writer
            }
        }
    };
}

review!(Reviewing, text);

fn main() {
    review!(Reviewing, text);
    review!(Reviewing, essay);
    {
        review!(Reviewing, text);
    }
}

macro_rules! critic {
    ($text:literal) => {
        agent! {
            /// Has its name from the macro.
            critic -> criticism: String { instruction: $text }
        }
    };
}

critic!("Review {text}.");
critic!("Review {essay}.");

/// What it is called.
struct Taken;

review!(Taken, text);
