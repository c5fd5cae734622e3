//! Items that generated workflows use to execute their steps.

pub use crate::runtime::workflow::entry::run;
pub use crate::runtime::workflow::prepare::prepare;
pub use crate::runtime::workflow::steps::StepTable;
pub use crate::runtime::workflow::{Block, Described, Form, Keys, LoopBlock, Values};
