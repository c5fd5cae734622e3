//! Items that generated workflows use to execute their steps.

pub use crate::runtime::workflow::step_table::{StepTable, prepare, run};
pub use crate::runtime::workflow::{Block, Described, Form, Keys, LoopBlock, Values};
