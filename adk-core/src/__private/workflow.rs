//! Items that generated workflows use to execute their steps.

pub use crate::runtime::workflow::{
    Block, Described, Form, Keys, LoopBlock, StepTable, Values, prepare, run,
};
