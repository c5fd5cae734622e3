//! The workflow as data (from the crate `adk-workflow-spec`), and what the runtime adds: numbers of types, the shape of a
//! workflow as it is kept with a run.

mod numbered;
pub(crate) mod schema;
mod topology;

pub use adk_spec::spec::*;
pub use numbered::Numbered;
pub use topology::Topology;
