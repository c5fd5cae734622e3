//! Agent workflows that rustc checks.

// So that the macros' absolute paths hold in this crate's own tests and docs as well.
#[allow(unused_extern_crates, reason = "the macros' paths begin with it")]
extern crate self as adk;

pub use adk_core::*;
pub use adk_macros::{agent, data, tool};

/// What the macros' output refers to. Not for users: it changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use adk_core::__private::*;
    pub use adk_core::*;
}
