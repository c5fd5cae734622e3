//! The workflow as data (from the crate `adk-workflow-spec`), with [`Topology`]: the shape of a
//! workflow that a run keeps.

mod key;
pub(crate) mod schema;
mod topology;

pub use adk_spec::spec::*;
pub(crate) use key::{Key, accepts, type_check};
pub use topology::Topology;
