//! [`Blocked`]: a call that does not run without the consent of a person, and its question.

use super::{GuardRules, Marks};
use crate::Name;
use crate::runtime::run::{Context, WaitQuestion};
use crate::spec::Labels;
use adk_spec::__private::{SEES_MEMORY, counted};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;

/// The field of an answer that lets a call run.
const ALLOW: &str = "allowUntrusted";

/// A call that acts on text that strangers wrote, or that sends private data on their word.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Blocked {
    untrusted: Name,
    /// The source of private data; `None` if the call acts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    private: Option<Name>,
}

impl Blocked {
    /// Returns why a call with these labels does not run after something with these marks was
    /// read; `None` if it runs.
    pub(crate) fn find(labels: Labels, marks: Marks) -> Option<Self> {
        let untrusted = marks.untrusted?;
        if labels.has(Labels::ACTS) {
            let private = None;
            return Some(Self { untrusted, private });
        }
        let private = marks.private.filter(|_| labels.has(Labels::SENDS))?;
        Some(Self {
            untrusted,
            private: Some(private),
        })
    }

    /// Returns the question whether the step `name` may run. `what` asks it.
    pub(crate) fn question(&self, name: &str, what: &str) -> WaitQuestion {
        let schema = json!({
            "type": "object",
            "properties": {ALLOW: {
                "type": "boolean",
                "description": "Whether the call runs although strangers may have steered it.",
            }},
            "required": [ALLOW],
            "additionalProperties": false,
        });
        WaitQuestion {
            question: format!("{what} It {self}."),
            schema,
            ..WaitQuestion::new(wait_name(name))
        }
    }

    /// Returns the reason for the model or the error, if no person can be asked.
    pub(crate) fn without_person(&self) -> String {
        format!("it {self}, and this run cannot ask a person")
    }

    /// Returns the reason for the model or the error, if a person has refused.
    pub(crate) fn refused(&self) -> String {
        format!("it {self}, and a person has not allowed it")
    }
}

/// Writes the reason after "it".
impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { untrusted, private } = self;
        match private {
            None => write!(
                f,
                "acts, and text that strangers wrote may steer it, from {untrusted}"
            ),
            Some(private) => write!(
                f,
                "sends its arguments out, which may hold private data, from {private}, and text \
                 that strangers wrote may steer it, from {untrusted}"
            ),
        }
    }
}

/// Returns the name of the wait of a guarded step.
pub(crate) fn wait_name(step: &str) -> Name {
    Name::from(format!("guard {step}"))
}

/// Returns whether an answer lets the call run.
pub(crate) fn allows(answer: &Value) -> bool {
    answer.get(ALLOW) == Some(&Value::Bool(true))
}

impl GuardRules {
    /// Returns the labels that count in this workflow.
    pub(crate) fn counted(&self, labels: Labels) -> Labels {
        let labels = counted(labels, self.strict);
        if labels.has(SEES_MEMORY) {
            labels.and(Labels::UNTRUSTED)
        } else {
            labels
        }
    }
}

impl Context {
    /// Returns whether this run can ask a person: its engine keeps runs, and it is not the run of
    /// an agent that is used as a tool.
    pub(crate) fn may_ask(&self) -> bool {
        self.run.engine.records() && !self.run.kind.is_nested()
    }
}
