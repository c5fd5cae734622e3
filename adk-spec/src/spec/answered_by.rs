//! [`AnsweredBy`]: the users who may answer a wait.

use serde::{Deserialize, Serialize};

/// The users who may answer a wait with `by`. Without `by`, only the user who began the run may
/// answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy<R = String> {
    /// `by = other`: every user except the one who began the run.
    Other,
    /// `by = "staff"`: users with this role.
    Role(R),
}

impl From<AnsweredBy<&str>> for AnsweredBy {
    fn from(by: AnsweredBy<&str>) -> Self {
        match by {
            AnsweredBy::Other => Self::Other,
            AnsweredBy::Role(role) => Self::Role(role.to_owned()),
        }
    }
}

impl AnsweredBy {
    /// Borrows the role.
    pub fn as_deref(&self) -> AnsweredBy<&str> {
        match self {
            Self::Other => AnsweredBy::Other,
            Self::Role(role) => AnsweredBy::Role(role),
        }
    }
}
