//! The steps of a workflow: their table, the keys that they read and write, and the exits that they
//! make.

mod exit;
mod list;
pub(crate) mod reads;
pub(crate) mod scopes;
mod step_table;

pub use step_table::StepTable;

pub(crate) use exit::{Exit, Walked};
pub(crate) use list::{RunPart, Steps, boxed};
