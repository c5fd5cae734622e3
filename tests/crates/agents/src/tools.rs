//! Functions that models call.

use adk::{Flow, tool};

/// Ends the loop.
#[tool]
pub fn stop() -> Flow {
    Flow::Exit
}

/// Searches the web.
#[tool]
pub fn search(query: String) -> String {
    query
}

/// Another tool of the name `search`.
pub mod archive {
    use adk::tool;

    /// Searches the archive.
    #[tool]
    pub fn search(query: String) -> String {
        query
    }
}
