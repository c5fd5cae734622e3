//! How a run ended.

use crate::model::Usage;
use crate::session::Session;
use crate::{Error, ErrorKind, Path, Result, RunId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::sync::Arc;

/// A finished run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome<T> {
    /// What the workflow declared as its output.
    pub output: T,
    /// Each loop that ended, in the order in which they did.
    pub loops: Vec<LoopEnd>,
    /// Tokens and model calls of all agents together.
    pub usage: Usage,
    /// The run.
    pub run_id: RunId,
    pub(crate) session: Arc<Session>,
}

impl<T> Outcome<T> {
    /// The value of a state key as it is now; `None` when it was never written.
    ///
    /// # Errors
    /// When the value is not of that type.
    pub fn get<V: DeserializeOwned>(&self, key: &str) -> Result<Option<V>> {
        let Some(value) = self.session.get(key) else { return Ok(None) };
        V::deserialize(&*value).map(Some).map_err(|error| {
            let message = format!("state key `{key}` holds a value of another type: {error}");
            Error::new(ErrorKind::KeyType, message)
        })
    }

    /// The session that the run worked on.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }
}

/// A loop that ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LoopEnd {
    /// The path of the loop, without its own round.
    pub path: Path,
    /// How many rounds were begun.
    pub rounds: u32,
    /// Why it ended.
    pub reason: LoopEndReason,
}

/// Why a loop ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LoopEndReason {
    /// It had run its most rounds.
    Max,
    /// Its `until` key was true.
    Until,
    /// A `break`.
    Break,
    /// An agent ended it.
    Escalated {
        /// The path of that agent.
        by: Path,
    },
}

/// For people: `writing/refinement ended in round 2, by refiner`.
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
        let shown = |reason| LoopEnd { path: path.clone(), rounds: 2, reason }.to_string();
        assert_eq!(shown(LoopEndReason::Escalated { by }), "writing/refinement ended in round 2, by refiner");
        assert_eq!(shown(LoopEndReason::Max), "writing/refinement ended in round 2, its last");
        assert_eq!(
            shown(LoopEndReason::Until),
            "writing/refinement ended in round 2, since its `until` key is true"
        );
        assert_eq!(shown(LoopEndReason::Break), "writing/refinement ended in round 2, by a `break`");
    }
}
