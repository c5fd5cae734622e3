//! [`Flow`] and [`LoopEnd`]: how an agent ended, and how a loop ended.

use crate::{Name, Path};
use serde::{Deserialize, Serialize};
use std::fmt;

/// How an agent ended. An exit acts like `break` in Rust: it ends the innermost enclosing loop, or
/// an enclosing loop that it names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flow {
    /// The next step runs.
    #[default]
    Continue,
    /// The innermost loop ends.
    Exit,
    /// The enclosing loop of this name ends.
    ExitTo(Name),
}

impl Flow {
    /// Returns `Exit` if `done` is true, otherwise `Continue`.
    ///
    /// ```
    /// # use adk_build as adk;
    /// use adk::Flow;
    /// assert_eq!(Flow::exit_if(2 > 1), Flow::Exit);
    /// ```
    pub fn exit_if(done: bool) -> Self {
        if done { Self::Exit } else { Self::Continue }
    }
}

/// A loop that ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LoopEnd {
    /// The path of the loop; its last segment has no round.
    pub path: Path,
    /// The number of rounds that were begun.
    pub rounds: u32,
    /// The reason why the loop ended.
    pub reason: LoopEndReason,
}

impl LoopEnd {
    /// Creates the report of a loop.
    pub fn new(path: Path, rounds: u32, reason: LoopEndReason) -> Self {
        Self {
            path,
            rounds,
            reason,
        }
    }
}

/// Why a loop ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LoopEndReason {
    /// The loop had run its maximum of rounds.
    Max,
    /// The `until` key was true.
    Until,
    /// A `break` ended the loop.
    Break,
    /// An agent ended the loop.
    Escalated {
        /// The path of that agent.
        by: Path,
    },
}

/// The text for people: `writing/refinement ended in round 2, by refiner`.
impl fmt::Display for LoopEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ended in round {}, ", self.path, self.rounds)?;
        match &self.reason {
            LoopEndReason::Max => f.write_str("its last"),
            LoopEndReason::Until => f.write_str("since its `until` key is true"),
            LoopEndReason::Break => f.write_str("by a `break`"),
            LoopEndReason::Escalated { by } => write!(f, "by {}", by.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::At;

    #[test]
    fn the_end_of_a_loop_reads_well() {
        let path = Path::root("writing").child("refinement".into(), At::Once);
        let by = path.child("refiner".into(), At::Once);
        let shown = |reason| {
            LoopEnd {
                path: path.clone(),
                rounds: 2,
                reason,
            }
            .to_string()
        };
        assert_eq!(
            shown(LoopEndReason::Escalated { by }),
            "writing/refinement ended in round 2, by refiner"
        );
        assert_eq!(
            shown(LoopEndReason::Max),
            "writing/refinement ended in round 2, its last"
        );
        assert_eq!(
            shown(LoopEndReason::Until),
            "writing/refinement ended in round 2, since its `until` key is true"
        );
        assert_eq!(
            shown(LoopEndReason::Break),
            "writing/refinement ended in round 2, by a `break`"
        );
    }
}
