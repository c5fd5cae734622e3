//! No dependency is the facade: one message for the attributes, and one for each macro call.

use agents::facade::{agent, data, llm, tool, workflow};

/// A page.
#[data]
#[derive(PartialEq)]
#[serde(rename_all = "snake_case")]
pub struct Page {
    #[serde(default)]
    text: String,
    pages: u32,
}

#[agent(writes = length)]
pub fn length(page: &Page) -> usize {
    page.text.len()
}

/// Looks up a word.
#[tool]
pub fn look_up(#[default(3)] pages: u32) -> Option<Page> {
    (pages > 0).then(|| Page { text: String::new(), pages })
}

llm::agent! {
    /// Reviews the page.
    pub critic -> criticism: String { instruction: "Review {page}." }
    /// Reviews it again.
    pub reviewer -> review: String { instruction: "Review {page} and {criticism}." }
}

workflow! {
    /// Reviews a page.
    pub Reviewing(page: Page) -> review: String {
        length;
        critic;
        reviewer
    }
}

fn main() {
    let input = ReviewingInput { page: look_up(1).unwrap() };
    println!("{} {} {:?}", length(&input.page), Reviewing::SPEC, critic::default());
    agents::facade::Runtime::new(Reviewing::default(), input, reviewer::default());
}
