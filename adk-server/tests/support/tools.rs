//! Tools that the server offers directly, and workflows with similar results.

use super::{Approval, Failing, Hanging, Shouting};
use adk::prelude::*;
use adk::server::Server;

/// The size of a text.
#[adk::data]
pub struct Size {
    /// How many words.
    words: u32,
    /// How many letters.
    letters: u32,
}

/// Measures.
#[agent(writes = size)]
pub fn measure(text: &str) -> Size {
    let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
    Size {
        words: text.split_whitespace().count() as u32,
        letters: letters as u32,
    }
}

/// Counts.
#[agent(writes = count)]
pub fn add(count: u32) -> u32 {
    count + 1
}

workflow! {
    /// Measures a text.
    pub Measuring(text: String) -> size: Size { measure }
}

workflow! {
    /// Counts to three.
    pub Counting() -> count: u32 {
        let count: u32 = 0;
        rounds: loop(max = 3) < add >
    }
}

/// The weather of a city.
#[tool]
pub fn weather(
    /// Name of the city.
    city: String,
    #[default(1)]
    /// How many days from now.
    days: u8,
) -> adk::Result<String> {
    match city.as_str() {
        "Atlantis" => Err(adk::Error::new(
            adk::ErrorKind::Agent,
            "there is no such city",
        )),
        _ => Ok(format!("sunny in {city} in {days}")),
    }
}

/// Pays.
#[tool(confirm)]
pub fn pay(
    /// In cents.
    amount: u32,
) -> String {
    format!("paid {amount}")
}

/// Adds all workflows and tools of the tests to a server.
pub fn all<P>(server: Server<P, adk::NoResources>) -> Server<P, adk::NoResources> {
    server
        .workflow(Shouting::default())
        .workflow(Approval::default())
        .workflow(Failing::default())
        .workflow(Hanging::default())
        .workflow(Measuring::default())
        .workflow(Counting::default())
        .tool(weather::default())
        .tool(pay::default())
}
