//! [`EvalSet`]: the cases of an eval.

use super::invocation::{Invocation, Rubric};
use super::older;
use super::read::{parse, read_file, typed};
use crate::failure::refused;
use crate::schema::EVAL_SET;
use adk_core::Result;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::path::Path;

/// The cases of an eval: a file `*.evalset.json` or `*.test.json` of google-adk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvalSet {
    /// The id.
    pub eval_set_id: String,
    /// The name.
    pub name: Option<String>,
    /// The purpose of the set.
    pub description: Option<String>,
    /// The cases in the order of the file.
    pub eval_cases: Vec<EvalCase>,
    /// Seconds since 1970; 0 if unknown.
    pub creation_timestamp: f64,
}

/// One case: a conversation with the expected answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvalCase {
    /// The id, unique in its set.
    pub eval_id: String,
    /// The turns, unless a user is simulated.
    pub conversation: Option<Vec<Invocation>>,
    /// The plan of a simulated user.
    pub conversation_scenario: Option<ConversationScenario>,
    /// The session before the first turn.
    pub session_input: Option<SessionInput>,
    /// Seconds since 1970; 0 if unknown.
    pub creation_timestamp: f64,
    /// Rubrics of all turns.
    pub rubrics: Option<Vec<Rubric>>,
    /// The state that the session should have at the end.
    pub final_session_state: Option<Map<String, Value>>,
    /// Fields that google-adk does not know, and keeps.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The plan of a simulated user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConversationScenario {
    /// The first message.
    pub starting_prompt: String,
    /// The wishes of the user, in their order.
    pub conversation_plan: String,
    /// The persona, or the id of one of google-adk.
    pub user_persona: Option<Value>,
}

/// The session before the first turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionInput {
    /// The app.
    pub app_name: String,
    /// The user.
    pub user_id: String,
    /// The id of the session; a new one without it.
    pub session_id: Option<String>,
    /// The state.
    pub state: Map<String, Value>,
    /// Fields that google-adk does not know, and keeps.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl EvalSet {
    /// Reads a file. The older schema of google-adk, a list of objects, is read too.
    ///
    /// # Errors
    ///
    /// The file is missing or not JSON, google-adk refuses a field, a case has neither or both of
    /// `conversation` and `conversation_scenario`, or two cases have one id.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_json(&read_file(path)?, &path.display().to_string())
    }

    /// Reads a text. The name of the file appears in errors, and names a set of the older schema.
    ///
    /// # Errors
    ///
    /// The same as those of [`read`](Self::read), except for a missing file.
    pub fn from_json(text: &str, name: &str) -> Result<Self> {
        let value = match parse(text, name)? {
            Value::Array(cases) => older::convert(cases, name)?,
            value => value,
        };
        let set: Self = typed(&EVAL_SET, value, name)?;
        set.check(name)?;
        Ok(set)
    }

    fn check(&self, name: &str) -> Result<()> {
        let mut ids = HashSet::new();
        for case in &self.eval_cases {
            let id = &case.eval_id;
            if case.conversation.is_some() == case.conversation_scenario.is_some() {
                return Err(refused(
                    format!(
                        "`{name}`: case `{id}` must have exactly one of `conversation` and \
                         `conversation_scenario`"
                    ),
                    "add the turns as `conversation`",
                ));
            }
            if !ids.insert(id) {
                return Err(refused(
                    format!("`{name}`: two cases have the id `{id}`"),
                    "rename one of them",
                ));
            }
        }
        Ok(())
    }
}
