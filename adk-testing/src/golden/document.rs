//! [`Document`]: the file `NAME.golden`, as sections with a line at the margin and indented lines.

mod program;
mod steps;

pub(super) use program::ProgramFacts;

use super::secrets;
use super::tape::TapeState;
use adk_core::engine::Digest;
use adk_core::model::Usage;
use adk_core::{Event, LoopEnd, LoopEndReason};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;

/// The largest JSON of a value, in bytes. A golden file shows a longer value as length and digest.
const MOST_BYTES: usize = 4096;

/// The width of the column of steps.
const COLUMN: usize = 26;

/// A golden file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Document {
    pub(super) sections: Vec<Section>,
}

/// A line at the margin with the lines below it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Section {
    pub(super) title: String,
    pub(super) lines: Vec<String>,
}

/// The subject of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SectionKind {
    Head,
    Input,
    Prompt,
    Tools,
    Schema,
    Settings,
    Step,
    Loop,
    Output,
    Error,
    Cost,
}

impl SectionKind {
    /// Returns the group of the kind. A blank line separates groups; each prompt is one.
    fn group(self) -> u8 {
        match self {
            Self::Head | Self::Input => 0,
            Self::Prompt | Self::Tools | Self::Schema | Self::Settings => 1,
            Self::Step => 2,
            Self::Loop | Self::Output | Self::Error | Self::Cost => 3,
        }
    }
}

/// How a run ended.
pub(super) struct RunResult<'a> {
    pub(super) events: &'a [Arc<Event>],
    pub(super) loops: &'a [LoopEnd],
    pub(super) usage: Usage,
    /// The outputs of the workflow, by key.
    pub(super) outputs: Vec<(String, Value)>,
    /// The error of a failed run.
    pub(super) error: Option<String>,
}

impl Section {
    pub(super) fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            lines: Vec::new(),
        }
    }

    /// Returns the part of the title that identifies the section.
    pub(super) fn id(&self) -> &str {
        let title = self.title.as_str();
        match self.kind() {
            SectionKind::Loop => title.split(" ends after ").next().unwrap_or(title),
            SectionKind::Head => "adk golden",
            _ => title.split("  ").next().unwrap_or(title),
        }
    }

    pub(super) fn kind(&self) -> SectionKind {
        // The column of a step is wider, so a step may be called `input`.
        let begins = |word: &str| {
            let rest = self.title.strip_prefix(word);
            rest.is_some_and(|rest| !rest.starts_with(' '))
        };
        match () {
            () if begins("adk golden ") => SectionKind::Head,
            () if begins("prompt ") => SectionKind::Prompt,
            () if begins("tools ") => SectionKind::Tools,
            () if begins("schema ") => SectionKind::Schema,
            () if begins("settings ") => SectionKind::Settings,
            () if begins("input  ") => SectionKind::Input,
            () if begins("output  ") => SectionKind::Output,
            () if begins("error   ") => SectionKind::Error,
            () if begins("cost    ") => SectionKind::Cost,
            () if self.title.contains(" ends after ") => SectionKind::Loop,
            () => SectionKind::Step,
        }
    }
}

impl Document {
    /// Reads a file.
    pub(super) fn read(text: &str) -> Self {
        let mut sections: Vec<Section> = Vec::new();
        for line in text.lines() {
            let is_title = !line.is_empty() && !line.starts_with(' ');
            match sections.last_mut() {
                Some(last) if !is_title => last.lines.push(line.to_owned()),
                _ if is_title => sections.push(Section::new(line)),
                _ => {}
            }
        }
        for section in &mut sections {
            while section.lines.pop_if(|line| line.is_empty()).is_some() {}
        }
        Self { sections }
    }

    /// Describes a run.
    pub(super) fn of_run(
        program: &ProgramFacts<'_>,
        input: &Map<String, Value>,
        tape: &TapeState,
        result: &RunResult<'_>,
    ) -> Self {
        let mut sections = vec![Section::new(format!("adk golden 1 · {}", program.name()))];
        sections.extend(keyed(
            "input  ",
            input.iter().map(|(key, value)| (&**key, value)),
        ));
        program.describe(tape, &mut sections);
        steps::describe(program, tape, result, &mut sections);
        let mut loops: Vec<_> = result.loops.iter().map(loop_end).collect();
        loops.sort_by(|(one, _), (other, _)| super::place::natural(one, other));
        sections.extend(loops.into_iter().map(|(_, section)| section));
        if let Some(error) = &result.error {
            sections.push(Section::new(format!("error   {}", one_line(error))));
        }
        let outputs = result.outputs.iter();
        sections.extend(keyed(
            "output  ",
            outputs.map(|(key, value)| (&**key, value)),
        ));
        sections.push(Section::new(format!("cost    {}", cost(&result.usage))));
        Self { sections }
    }
}

/// The text of the file.
impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before: Option<SectionKind> = None;
        for section in &self.sections {
            let kind = section.kind();
            let is_next_group = before.is_some_and(|before| before.group() != kind.group());
            if is_next_group || kind == SectionKind::Prompt {
                writeln!(f)?;
            }
            writeln!(f, "{}", section.title)?;
            section
                .lines
                .iter()
                .try_for_each(|line| writeln!(f, "{line}"))?;
            before = Some(kind);
        }
        Ok(())
    }
}

/// Returns one section with a line for each key; none without keys.
fn keyed<'a>(title: &str, values: impl Iterator<Item = (&'a str, &'a Value)>) -> Option<Section> {
    let mut lines = values.map(|(key, value)| format!("{key} = {}", shown(value)));
    let mut section = Section::new(format!("{title}{}", lines.next()?));
    let indent = " ".repeat(title.len());
    section
        .lines
        .extend(lines.map(|line| format!("{indent}{line}")));
    Some(section)
}

/// Returns the path of a loop with the line about its end.
fn loop_end(end: &LoopEnd) -> (String, Section) {
    let text = end.path.to_string();
    let path = super::place::without_root(&text).to_owned();
    let reason = match &end.reason {
        LoopEndReason::Max => "max".to_owned(),
        LoopEndReason::Until => "until".to_owned(),
        LoopEndReason::Break => "break".to_owned(),
        LoopEndReason::Escalated { by } => by.name().to_string(),
        _ => "unknown".to_owned(),
    };
    let rounds = counted(u64::from(end.rounds), "round");
    let section = Section::new(format!("{path} ends after {rounds}: {reason}"));
    (path, section)
}

fn cost(usage: &Usage) -> String {
    let mut parts = vec![
        counted(usage.calls, "model call"),
        counted(usage.tool_calls, "tool call"),
    ];
    parts.retain(|part| !part.starts_with("0 "));
    if parts.is_empty() {
        parts.push("no calls".to_owned());
    }
    if usage.total_tokens() > 0 {
        let (input, output) = (usage.input_tokens, usage.output_tokens);
        parts.push(format!("{input} tokens in, {output} out"));
    }
    if !usage.cost.is_zero() {
        parts.push(usage.cost.to_string());
    }
    parts.join(", ")
}

/// Returns a count with its noun.
pub(super) fn counted(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

/// Returns the JSON of a value for people, or its length and digest.
fn shown(value: &Value) -> String {
    let mut value = value.clone();
    secrets::redact(&mut value);
    let text = value.to_string();
    if text.len() <= MOST_BYTES {
        return text;
    }
    format!("{} bytes, {}", text.len(), Digest::new(&value))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "adk golden 1 · w
input  a = 1
       b = 2

prompt critic
  Criticise.

  Be fair.
tools critic
  find(text: string)  Finds.

critic                    gemini
  writes x = \"prompt y\"

l ends after 2 rounds: critic
output  x = \"y\"
cost    1 model call
";

    #[test]
    fn a_file_comes_back_as_it_was() {
        let document = Document::read(TEXT);
        let ids: Vec<_> = document.sections.iter().map(Section::id).collect();
        let expected = [
            "adk golden",
            "input",
            "prompt critic",
            "tools critic",
            "critic",
            "l",
            "output",
            "cost",
        ];
        assert_eq!(ids, expected);
        assert_eq!(document.to_string(), TEXT);
    }

    #[test]
    fn a_step_may_have_the_name_of_a_section() {
        for name in ["input", "output", "cost", "error"] {
            let title = format!("{name:<COLUMN$}scripted");
            assert_eq!(Section::new(title).kind(), SectionKind::Step, "{name}");
        }
        let error = Section::new("error   it failed");
        assert_eq!(error.kind(), SectionKind::Error);
    }

    #[test]
    fn a_long_value_is_length_and_digest() {
        let long = Value::from("x".repeat(MOST_BYTES));
        assert!(shown(&long).starts_with("4098 bytes, "), "{}", shown(&long));
        assert_eq!(
            shown(&serde_json::json!({"a": {"$kept": "secret:a@w"}})),
            r#"{"a":"[secret]"}"#
        );
    }
}
