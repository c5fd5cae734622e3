//! Agent workflows that rustc checks.

// So that the macros' absolute paths hold in this crate's own tests and docs as well.
#[allow(unused_extern_crates)]
extern crate self as adk;

pub mod prelude;

pub use adk_core::*;
pub use adk_macros::{llm_agent, workflow};

/// What the macros' output refers to. Not for users: it changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use adk_core::*;
}
