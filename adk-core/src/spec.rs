//! The workflow as data (from the crate `adk-workflow-spec`), with [`Topology`]: the shape of a
//! workflow that a run keeps.

mod key;
#[doc(hidden)]
pub mod schema;

pub use adk_journal::Topology;
pub use adk_spec::spec::*;
#[doc(hidden)]
pub use key::Key;
pub(crate) use key::{accepts, type_check};
