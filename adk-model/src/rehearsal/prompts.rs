//! Printed requests of a [`Rehearsal`](super::Rehearsal), for users who check prompts before they
//! pay for model calls.

use super::AgentInRound;
use crate::content::{Content, Part, Role};
use crate::model::ModelRequest;
use std::fmt;

/// Maximum number of printed characters of a text; the rest is only counted.
const SHOWN: usize = 2_000;

/// Displays a request: the filled prompt, the messages since the last reply of the model, and the
/// tools.
pub(super) struct PrintedRequest<'a>(pub(super) &'a ModelRequest);

impl fmt::Display for PrintedRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let request = self.0;
        writeln!(
            f,
            "{} is asked (at {}):",
            AgentInRound(request),
            request.info.path
        )?;
        text(f, &request.system_instruction)?;
        let newest = request
            .contents
            .iter()
            .rev()
            .take_while(|content| content.role != Role::Model)
            .count();
        let before = request.contents.len() - newest;
        if before > 0 {
            writeln!(f, "  after {before} earlier messages:")?;
        }
        request
            .contents
            .iter()
            .skip(before)
            .try_for_each(|content| message(f, content))?;
        for tool in &request.tools {
            let parameters = tool
                .parameters
                .get("properties")
                .and_then(|all| all.as_object());
            let names: Vec<_> = parameters
                .into_iter()
                .flat_map(|all| all.keys())
                .map(String::as_str)
                .collect();
            writeln!(
                f,
                "  tool {}({}): {}",
                tool.name,
                names.join(", "),
                tool.description
            )?;
        }
        for tool in &request.provider_tools {
            writeln!(f, "  tool {tool}, which the provider runs")?;
        }
        match &request.response_schema {
            Some(schema) => writeln!(f, "  answer: {schema}"),
            None => Ok(()),
        }
    }
}

fn message(f: &mut fmt::Formatter<'_>, content: &Content) -> fmt::Result {
    for part in &content.parts {
        match part {
            Part::Text(message) => text(f, message)?,
            Part::FunctionResponse(result) => {
                writeln!(f, "  result of {}:", result.name)?;
                text(
                    f,
                    &serde_json::Value::Object(result.response.clone()).to_string(),
                )?;
            }
            _ => writeln!(f, "    (a file)")?,
        }
    }
    Ok(())
}

fn text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let end = text
        .char_indices()
        .nth(SHOWN)
        .map_or(text.len(), |(end, _)| end);
    let (shown, rest) = text.split_at(end);
    for line in shown.trim().lines() {
        writeln!(f, "    {line}")?;
    }
    match rest.chars().count() {
        0 => Ok(()),
        more => writeln!(f, "    ... and {more} characters more"),
    }
}
