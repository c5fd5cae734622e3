//! The workflow as data (from the crate `adk-workflow-spec`), with [`Topology`]: the shape of a
//! workflow that a run keeps.

pub(crate) mod guards;
pub(crate) mod key;
pub(crate) mod schema;

pub use adk_journal::Topology;
pub use adk_spec::spec::*;
pub(crate) use key::{Key, accepts, accepts_own, type_check};
