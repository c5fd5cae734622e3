//! Agent workflows that rustc checks.

// So that the macros' absolute paths hold in this crate's own tests and docs as well.
#[allow(unused_extern_crates, reason = "the macros' paths begin with it")]
extern crate self as adk;

pub mod prelude;

pub use adk_core::*;
pub use adk_macros::{agent, data, tool, workflow};

/// Agents that ask a language model.
pub mod llm {
    pub use adk_core::llm::*;
    // `#[agent]` and `agent!` cannot share one module: attributes and function-like macros have one namespace. A
    // program that imports both by name still has both, since rustc looks for the kind that is used.
    pub use adk_macros::llm_agent as agent;
}

/// Where a [`Runner`] looks for models by name: every provider of the `genai` crate.
#[cfg(feature = "genai")]
pub use adk_genai::{self as genai, Genai as DefaultProvider};

/// Where a [`Runner`] looks for models by name: nowhere, without the feature `genai`.
#[cfg(not(feature = "genai"))]
pub use adk_core::model::NoProvider as DefaultProvider;

/// Runs workflows: models, stores and settings. Cheap to clone.
pub type Runner = adk_core::Runner<DefaultProvider>;

/// What the macros' output refers to. Not for users: it changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use adk_core::__private::*;
    pub use adk_core::*;
}
