//! [`Recording`]: the file `NAME.answers.jsonl`, with a [`Head`] and one [`Answer`] per line.

use super::place::CallPlace;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// The version of the file format.
pub(super) const FORMAT: u32 = 1;

/// The first line of a recording: what the run began with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Head {
    /// The version of the format.
    pub(super) adk: u32,
    /// The version of the text that the library adds to requests.
    pub(super) frame: u32,
    pub(super) workflow: String,
    /// The hash of the workflow's shape, 16 hexadecimal digits.
    pub(super) shape: String,
    pub(super) input: Map<String, Value>,
    /// The settings of the run that differ from the defaults.
    #[serde(default)]
    pub(super) config: Map<String, Value>,
    /// Events whose relative order decides what the run does, in their order.
    #[serde(default)]
    pub(super) order: Vec<String>,
    /// The models that follow a schema beside tools, since requests depend on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) schema_beside_tools: Vec<String>,
}

/// The answer of a model, a tool, a person or another recorded call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Answer {
    pub(super) at: CallPlace,
    /// The model that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<String>,
    /// The digest of the inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) asked: Option<String>,
    /// The digest of the inputs that the answer was given to, if a person accepted the answer for
    /// other inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) given_to: Option<String>,
    #[serde(flatten)]
    pub(super) result: AnswerResult,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AnswerResult {
    /// With a value.
    Gave(Value),
    /// With an error.
    Failed(Value),
}

/// A recorded run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Recording {
    pub(super) head: Head,
    pub(super) answers: BTreeMap<CallPlace, Answer>,
}

/// The value of a time limit that the run reached.
pub(super) const REACHED: &str = "reached";

impl Answer {
    /// Returns whether the answer is the end of a time limit.
    pub(super) fn is_limit(&self) -> bool {
        self.asked.is_none()
            && matches!(&self.result, AnswerResult::Gave(value) if value == REACHED)
    }
}

impl Recording {
    /// Reads a file.
    ///
    /// # Errors
    /// The reason why the text is not a recording.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut lines = (1..)
            .zip(text.lines())
            .filter(|(_, line)| !line.trim().is_empty());
        let Some((_, head)) = lines.next() else {
            return Err("it is empty".to_owned());
        };
        let head: Head =
            serde_json::from_str(head).map_err(|error| format!("line 1 is not a head: {error}"))?;
        if head.adk != FORMAT {
            return Err(format!(
                "it has format {}, and this version reads format {FORMAT}",
                head.adk
            ));
        }
        let mut answers = BTreeMap::new();
        for (number, line) in lines {
            let answer: Answer = serde_json::from_str(line)
                .map_err(|error| format!("line {number} is not an answer: {error}"))?;
            let place = answer.at.clone();
            if answers.insert(place.clone(), answer).is_some() {
                return Err(format!("line {number} answers `{place}` a second time"));
            }
        }
        Ok(Self { head, answers })
    }
}

/// The text of the file. Blank lines separate the answers, because git merges two changes only if a
/// line between them is the same.
impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = |value: serde_json::Result<String>| value.map_err(|_| fmt::Error);
        writeln!(f, "{}", json(serde_json::to_string(&self.head))?)?;
        self.answers
            .values()
            .try_for_each(|answer| writeln!(f, "\n{}", json(serde_json::to_string(answer))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn recording() -> Recording {
        let head = Head {
            adk: 1,
            frame: 1,
            workflow: "w".to_owned(),
            shape: "00".to_owned(),
            input: Map::new(),
            config: Map::new(),
            order: Vec::new(),
            schema_beside_tools: Vec::new(),
        };
        let answer = |at: &str, result| Answer {
            at: at.into(),
            by: Some("m".to_owned()),
            asked: Some("5e".to_owned()),
            given_to: None,
            result,
        };
        let answers = [
            answer("l#10/a:model@0", AnswerResult::Gave(json!({"content": 1}))),
            answer("l#2/a:model@0", AnswerResult::Failed(json!("no"))),
        ];
        let answers = answers
            .into_iter()
            .map(|answer| (answer.at.clone(), answer))
            .collect();
        Recording { head, answers }
    }

    #[test]
    fn a_file_is_sorted_by_place_and_comes_back() {
        let text = recording().to_string();
        assert_eq!(
            text,
            r#"{"adk":1,"frame":1,"workflow":"w","shape":"00","input":{},"config":{},"order":[]}

{"at":"l#2/a:model@0","by":"m","asked":"5e","failed":"no"}

{"at":"l#10/a:model@0","by":"m","asked":"5e","gave":{"content":1}}
"#
        );
        assert_eq!(Recording::read(&text).unwrap(), recording());
    }

    #[test]
    fn a_broken_file_is_refused_with_its_line() {
        let text = recording().to_string();
        let twice = format!("{text}{}", text.lines().last().unwrap());
        for (broken, why) in [
            ("", "it is empty"),
            ("\n\n", "it is empty"),
            ("<<<<<<< ours", "line 1 is not a head"),
            (&text[..text.len() - 5], "line 5 is not an answer"),
            (&*twice, "line 6 answers `l#10/a:model@0` a second time"),
            (&*text.replace("\"adk\":1", "\"adk\":2"), "it has format 2"),
        ] {
            let refused = Recording::read(broken).unwrap_err();
            assert!(refused.starts_with(why), "{refused}");
        }
    }
}
