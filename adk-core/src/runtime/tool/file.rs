//! [`PulledFile`]: the file of a toolset, which `adk mcp pull` writes.

use super::{DynTool, ToolHints};
use crate::spec::Labels;
use crate::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of characters of a value in a change.
const MAX_VALUE_CHARS: usize = 80;

/// Content of the file of a toolset. Const evaluation reads only the lists before `tools`
/// (`adk_spec::check::tool_file`), so their order matters.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PulledFile<'a> {
    pub(super) names: Vec<String>,
    /// The labels of tools. A file without the field was written before labels existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) labels: Option<BTreeMap<String, Vec<String>>>,
    /// The tools that ask a person.
    #[serde(default)]
    pub(super) confirm: Vec<String>,
    tools: Vec<ToolEntry<'a>>,
}

/// Tool as the model sees it, with its annotations.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolEntry<'a> {
    name: String,
    description: String,
    #[serde(default, skip_serializing_if = "ToolHints::is_empty")]
    annotations: ToolHints,
    input_schema: Cow<'a, Value>,
}

impl<'a> ToolEntry<'a> {
    fn from_tool(tool: &'a dyn DynTool) -> Self {
        let declaration = tool.declaration_dyn();
        Self {
            name: declaration.name.to_string(),
            description: declaration.description.to_string(),
            annotations: tool.hints_dyn(),
            input_schema: Cow::Borrowed(&declaration.parameters),
        }
    }
}

/// Returns the file that pins a toolset to these tools, as `adk mcp pull` writes it, with the
/// labels that the annotations of the tools propose.
///
/// # Errors
/// Fails when a schema cannot be encoded as JSON.
pub fn tool_file(tools: &[Arc<dyn DynTool>]) -> Result<String> {
    let (mut file, proposed) = (PulledFile::from_tools(tools), proposed_labels(tools));
    file.labels = Some(proposed);
    file.to_text()
}

/// The new text of a toolset's file, and what changed in it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolFileUpdate {
    /// The text of the file.
    pub text: String,
    /// One line per change: of a tool, of an annotation, of a label.
    pub changes: Vec<String>,
}

/// Returns the file that pins a toolset to these tools, with the decisions of an earlier file.
///
/// The update takes no label away. Labels that differ from the proposal of the earlier annotations
/// were reviewed and stay as they are; others get the labels that new annotations propose in
/// addition. A new tool gets the proposal. `confirm` keeps the tools that still exist.
///
/// # Errors
/// Fails when the earlier text is not such a file, or when a schema cannot be encoded as JSON.
pub fn update_tool_file(earlier: &str, tools: &[Arc<dyn DynTool>]) -> Result<ToolFileUpdate> {
    let old: PulledFile<'_> = serde_json::from_str(earlier).map_err(|error| {
        let message = "the earlier file of the toolset was not written by `adk mcp pull`";
        Error::new(ErrorKind::Config, message)
            .with_help("remove the file, and pull again")
            .with_source(error)
    })?;
    let mut file = PulledFile::from_tools(tools);
    let mut changes = old.changes(tools);
    let mut labels = proposed_labels(tools);
    for (name, words) in &mut labels {
        let Some(was) = old.tools.iter().find(|tool| tool.name == *name) else {
            changes.push(format!("{name}: labels {}", listed(words)));
            continue;
        };
        let Some(kept) = old.labels.as_ref().and_then(|labels| labels.get(name)) else {
            changes.push(format!("{name}: labels {}", listed(words)));
            continue;
        };
        let before = words_of(was.annotations.proposed_labels());
        let is_reviewed =
            kept.len() != before.len() || !kept.iter().all(|word| before.contains(word));
        let has_changed = tools.iter().any(|tool| {
            *tool.declaration_dyn().name == **name && tool.hints_dyn() != was.annotations
        });
        if is_reviewed {
            if has_changed {
                let (kept, proposed) = (listed(kept), listed(words));
                changes.push(format!(
                    "{name}: labels {kept} are kept, proposed: {proposed}"
                ));
            }
            *words = kept.clone();
        } else if has_changed {
            let proposed = std::mem::take(words);
            *words = before.clone();
            words.extend(proposed.into_iter().filter(|word| !before.contains(word)));
            if *words != before {
                let (old, new) = (listed(&before), listed(words));
                changes.push(format!("{name}: labels {old} are now {new}"));
            }
        }
    }
    file.labels = Some(labels);
    file.confirm = old.confirm;
    let names = &file.names;
    file.confirm.retain(|name| names.contains(name));
    Ok(ToolFileUpdate {
        text: file.to_text()?,
        changes,
    })
}

fn proposed_labels(tools: &[Arc<dyn DynTool>]) -> BTreeMap<String, Vec<String>> {
    let entry = |tool: &Arc<dyn DynTool>| {
        let words = words_of(tool.hints_dyn().proposed_labels());
        (tool.declaration_dyn().name.to_string(), words)
    };
    tools.iter().map(entry).collect()
}

fn words_of(labels: Labels) -> Vec<String> {
    labels.words().map(str::to_owned).collect()
}

fn listed(words: &[String]) -> String {
    match words {
        [] => "none".to_owned(),
        words => format!("`{}`", words.join("`, `")),
    }
}

impl<'a> PulledFile<'a> {
    fn from_tools(tools: &'a [Arc<dyn DynTool>]) -> Self {
        let tools = tools.iter().map(|tool| ToolEntry::from_tool(&**tool));
        let mut tools: Vec<_> = tools.collect();
        tools.sort_by(|one, other| one.name.cmp(&other.name));
        Self {
            names: tools.iter().map(|tool| tool.name.clone()).collect(),
            labels: None,
            confirm: Vec::new(),
            tools,
        }
    }

    fn to_text(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Lists the differences between the file and the tools. A file without labels does not depend
    /// on annotations.
    pub(super) fn changes(&self, tools: &[Arc<dyn DynTool>]) -> Vec<String> {
        let name = |tool: &Arc<dyn DynTool>| tool.declaration_dyn().name.clone();
        let mut changes = Vec::new();
        for was in &self.tools {
            let Some(is) = tools
                .iter()
                .rfind(|tool| *name(tool) == *was.name)
                .map(|tool| ToolEntry::from_tool(&**tool))
            else {
                changes.push(format!("- {}", was.name));
                continue;
            };
            if self.labels.is_some() {
                let hints = was.annotations.changes(&is.annotations);
                changes.extend(hints.map(|change| format!("~ {}: {change}", was.name)));
            }
            if was.description != is.description {
                let (old, new) = (short(&was.description), short(&is.description));
                changes.push(format!("~ {}: description: {old} is now {new}", was.name));
            }
            if let Some(change) = difference(&was.input_schema, &is.input_schema, "") {
                changes.push(format!("~ {}: schema{change}", was.name));
            }
        }
        let new = tools
            .iter()
            .map(name)
            .filter(|name| !self.tools.iter().any(|was| was.name == **name));
        let mut new: Vec<String> = new.map(|name| format!("+ {name}")).collect();
        new.sort();
        new.dedup();
        changes.extend(new);
        changes
    }
}

/// Returns the first difference between two values, with its position in the values.
fn difference(old: &Value, new: &Value, place: &str) -> Option<String> {
    if old == new {
        return None;
    }
    if let (Value::Object(old), Value::Object(new)) = (old, new) {
        let names = old
            .keys()
            .chain(new.keys().filter(|name| !old.contains_key(*name)));
        let mut found = names.filter_map(|name| match (old.get(name), new.get(name)) {
            (Some(old), Some(new)) => difference(old, new, &format!("{place}/{name}")),
            (old, new) => Some(format!(
                " at {place}/{name}: {} is now {}",
                short(old),
                short(new)
            )),
        });
        return found.next();
    }
    Some(format!(" at {place}: {} is now {}", short(old), short(new)))
}

fn short(value: impl Serialize) -> String {
    let text = serde_json::to_string(&value).unwrap_or_default();
    if text.chars().count() <= MAX_VALUE_CHARS {
        return text;
    }
    text.chars()
        .take(MAX_VALUE_CHARS)
        .chain("...".chars())
        .collect()
}
