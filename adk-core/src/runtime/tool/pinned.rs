//! [`PinnedToolset`]: a toolset that must match the file that its workflow was compiled with.

use super::{DynTool, Toolset};
use crate::runtime::run::ReadonlyContext;
use crate::{BoxFuture, Error, ErrorKind, Result, ToolsetErrorKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

/// Maximum number of changes in one error.
const MAX_CHANGES: usize = 10;

/// Maximum number of characters of a value in a change.
const MAX_VALUE_CHARS: usize = 80;

/// Content of a toolset file. The names come first: const evaluation reads only them.
#[derive(Serialize, Deserialize)]
struct ToolFile<'a> {
    names: Vec<String>,
    tools: Vec<ToolEntry<'a>>,
}

/// Tool as the model sees it.
#[derive(Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
struct ToolEntry<'a> {
    name: String,
    description: String,
    input_schema: Cow<'a, Value>,
}

impl<'a> ToolEntry<'a> {
    fn from_tool(tool: &'a dyn DynTool) -> Self {
        let declaration = tool.declaration_dyn();
        Self {
            name: declaration.name.to_string(),
            description: declaration.description.to_string(),
            input_schema: Cow::Borrowed(&declaration.parameters),
        }
    }
}

/// Returns the file that pins a toolset to these tools, as `adk mcp pull` writes it.
///
/// # Errors
/// Fails when a schema cannot be encoded as JSON.
pub fn tool_file(tools: &[Arc<dyn DynTool>]) -> Result<String> {
    let mut tools: Vec<_> = tools
        .iter()
        .map(|tool| ToolEntry::from_tool(&**tool))
        .collect();
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    let file = ToolFile {
        names: tools.iter().map(|tool| tool.name.clone()).collect(),
        tools,
    };
    Ok(serde_json::to_string_pretty(&file)? + "\n")
}

/// Toolset that supplies its tools only if they match its file.
pub(crate) struct PinnedToolset<T> {
    toolset: T,
    file: &'static str,
}

impl<T: Toolset> PinnedToolset<T> {
    pub(crate) fn new(toolset: T, file: &'static str) -> Self {
        Self { toolset, file }
    }

    fn check(&self, tools: &[Arc<dyn DynTool>]) -> Result<()> {
        let name = self.toolset.name();
        let file: ToolFile<'_> = serde_json::from_str(self.file).map_err(|error| {
            let message = format!("the file of toolset `{name}` was not written by `adk mcp pull`");
            Error::new(ErrorKind::Config, message)
                .with_help("write it again with `adk mcp pull`")
                .with_source(error)
        })?;
        let changes = changes(&file.tools, tools);
        if changes.is_empty() {
            return Ok(());
        }
        let mut message =
            format!("toolset `{name}` differs from the file that the workflow was compiled with");
        for change in changes.iter().take(MAX_CHANGES) {
            let _ = write!(message, "\n  {change}");
        }
        if changes.len() > MAX_CHANGES {
            let _ = write!(
                message,
                "\n  and {} more changes",
                changes.len() - MAX_CHANGES
            );
        }
        let error = Error::new(ErrorKind::Toolset(ToolsetErrorKind::Changed), message);
        Err(error.with_help("write its file again with `adk mcp pull`, and review the changes"))
    }
}

/// Lists the differences between the file and the tools.
fn changes(file: &[ToolEntry<'_>], tools: &[Arc<dyn DynTool>]) -> Vec<String> {
    let name = |tool: &Arc<dyn DynTool>| tool.declaration_dyn().name.clone();
    let mut changes = Vec::new();
    for was in file {
        let Some(is) = tools
            .iter()
            .rfind(|tool| *name(tool) == *was.name)
            .map(|tool| ToolEntry::from_tool(&**tool))
        else {
            changes.push(format!("- {}", was.name));
            continue;
        };
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
        .filter(|name| !file.iter().any(|was| was.name == **name));
    let mut new: Vec<String> = new.map(|name| format!("+ {name}")).collect();
    new.sort();
    new.dedup();
    changes.extend(new);
    changes
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

impl<T: Toolset> Toolset for PinnedToolset<T> {
    fn name(&self) -> &str {
        self.toolset.name()
    }

    fn tools<'a>(
        &'a self,
        cx: &'a ReadonlyContext,
    ) -> BoxFuture<'a, Result<Vec<Arc<dyn DynTool>>>> {
        Box::pin(async move {
            let tools = self.toolset.tools(cx).await?;
            self.check(&tools)?;
            Ok(tools)
        })
    }

    fn all_tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn DynTool>>>> {
        self.toolset.all_tools()
    }

    fn prepare(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            self.toolset.prepare().await?;
            self.check(&self.toolset.all_tools().await?)
        })
    }
}
