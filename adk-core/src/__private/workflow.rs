//! What the walk over the steps of a workflow needs.

pub use crate::runtime::workflow::step_table::{StepTable, prepare, run};
pub use crate::runtime::workflow::{Block, Described, Form, Keys, LoopBlock, Values};
