//! How an agent ended.

use crate::Name;
use serde::{Deserialize, Serialize};

/// How an agent ended. An exit is the `break` of the innermost loop around it, or of the loop of that name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flow {
    /// The next step runs.
    #[default]
    Continue,
    /// The innermost loop ends.
    Exit,
    /// The enclosing loop of that name ends.
    ExitTo(Name),
}

impl Flow {
    /// Exits when it holds.
    ///
    /// ```
    /// # use adk_core as adk;
    /// use adk::Flow;
    /// assert_eq!(Flow::exit_if(2 > 1), Flow::Exit);
    /// ```
    pub fn exit_if(done: bool) -> Self {
        if done { Self::Exit } else { Self::Continue }
    }
}
