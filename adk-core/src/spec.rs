//! The workflow as data (from the crate `adk-workflow-spec`), and what the runtime adds: the shape of a workflow as it is
//! kept with a run.

mod key;
pub(crate) mod schema;
mod topology;

pub use adk_spec::spec::*;
pub(crate) use key::{Key, accepts, accepts_of};
pub use topology::Topology;
