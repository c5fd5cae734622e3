//! [`Answerer`]: the caller who answers a wait.

use super::refuse;
use super::registry::Waiting;
use crate::AnsweredBy;
use crate::{Error, ErrorKind, Result};

/// The caller who answers a wait, for `Runner::answer_as`.
///
/// The default has no name and no roles: it answers for the user who began the run.
///
/// ```
/// # use adk_build as adk;
/// use adk::Answerer;
/// let ann = Answerer::user("ann").role("staff");
/// assert_eq!(ann.roles, ["staff"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answerer {
    /// The user; `None` for the user who began the run.
    pub user: Option<String>,
    /// The roles of the user.
    pub roles: Vec<String>,
    /// Whether the caller may answer every wait.
    pub is_operator: bool,
}

impl Answerer {
    /// Creates a user without roles.
    pub fn user(id: impl Into<String>) -> Self {
        Self {
            user: Some(id.into()),
            ..Self::default()
        }
    }

    /// Creates a caller who may answer every wait, regardless of its `by`.
    pub fn operator() -> Self {
        Self {
            is_operator: true,
            ..Self::default()
        }
    }

    /// Adds a role.
    #[must_use]
    pub fn role(mut self, name: impl Into<String>) -> Self {
        self.roles.push(name.into());
        self
    }
}

impl Waiting {
    /// Returns true if a caller may answer.
    pub fn may_answer(&self, answerer: &Answerer) -> bool {
        let is_own = answerer.user.as_ref().is_none_or(|user| *user == self.user);
        answerer.is_operator
            || match &self.by {
                None => is_own,
                Some(AnsweredBy::Other) => !is_own,
                Some(AnsweredBy::Role(role)) => answerer.roles.contains(role),
            }
    }

    /// Refuses a caller who may not answer.
    ///
    /// # Errors
    /// [`ErrorKind::WrongAnswerer`], which names the role that is needed;
    /// [`ErrorKind::UnknownWait`] for a wait of another user without a `by`.
    pub fn check_answerer(&self, answerer: &Answerer) -> Result<()> {
        if self.may_answer(answerer) {
            return Ok(());
        }
        let id = &self.id;
        let (fact, help) = match &self.by {
            None => return Err(refuse::unknown_wait(id)),
            Some(AnsweredBy::Other) => {
                let fact = format!(
                    "`{id}` waits for the answer of another user than the one who began the run"
                );
                (fact, "let another user answer".to_owned())
            }
            Some(AnsweredBy::Role(role)) => {
                let fact = format!("`{id}` waits for the answer of a user with the role `{role}`");
                (fact, format!("let a user with the role `{role}` answer"))
            }
        };
        let help =
            format!("{help}; a program says with `answer_as` who answers; the wait is still open");
        Err(Error::new(ErrorKind::WrongAnswerer, fact)
            .with_help(help)
            .at(&self.path))
    }
}
