//! The crate root defines the crate that is called `adk`.

extern crate agents as adk;

use adk::facade::{agent, workflow};

#[agent(writes = length)]
pub fn length(page: &str) -> usize {
    page.len()
}

workflow! {
    /// Measures a page.
    pub Measuring(page: String) -> length: usize {
        length
    }
}

/// Returns the shape of the workflow.
pub fn shape() -> String {
    Measuring::SPEC.to_string()
}
