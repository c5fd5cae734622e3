use adk::prelude::*;

struct Query {
    words: Vec<String>,
}

/// Searches.
#[tool]
fn search(query: Query) -> String {
    query.words.join(" ")
}

fn main() {}
