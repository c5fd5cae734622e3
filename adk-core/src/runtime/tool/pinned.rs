//! [`DeclaredToolset`]: a toolset with what is known of its tools before a run, and
//! [`PinnedToolset`], which holds a run to it.

use super::file::PulledFile;
use super::{DynTool, ProcessRequest, ToolArgs, ToolContext, ToolError, ToolHints, Toolset};
use crate::model::ToolDeclaration;
use crate::runtime::agent::DynAgent;
use crate::runtime::run::ReadonlyContext;
use crate::spec::{Labels, ToolMeta};
use crate::{BoxFuture, Error, ErrorKind, Result, ToolsetErrorKind};
use adk_spec::__private::ToolFile;
use self_cell::self_cell;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::fmt::Write as _;
use std::sync::Arc;

/// Maximum number of changes in one error.
const MAX_CHANGES: usize = 10;

/// A toolset of a tree that is built at run time, with what the checks of labels know of its tools:
/// the data that `toolset files: McpToolset = include!("files.mcp.json") as private;` declares in
/// `workflow!`.
///
/// ```
/// # use adk_build as adk;
/// use adk::llm::LlmAgent;
/// use adk::spec::Labels;
/// use adk::tool::DeclaredToolset;
/// # use adk::{BoxFuture, DynTool, ReadonlyContext, Result, Toolset};
/// # struct Mails;
/// # impl Toolset for Mails {
/// #     fn name(&self) -> &str { "mails" }
/// #     fn tools<'a>(&'a self, _: &'a ReadonlyContext)
/// #         -> BoxFuture<'a, Result<Vec<std::sync::Arc<dyn DynTool>>>> {
/// #         Box::pin(async { Ok(Vec::new()) })
/// #     }
/// # }
///
/// let mails = DeclaredToolset::new(Mails).labels(Labels::UNTRUSTED.and(Labels::PRIVATE));
/// let clerk = LlmAgent::builder("clerk").instruction("Help.").toolset(mails).build()?;
/// # Ok::<(), adk::BuildError>(())
/// ```
#[derive(Clone)]
pub struct DeclaredToolset {
    toolset: Arc<dyn Toolset>,
    name: String,
    labels: Labels,
    /// The text of the file; empty without a file.
    file: Cow<'static, str>,
}

impl DeclaredToolset {
    /// Creates a toolset without labels and without a file.
    pub fn new(toolset: impl Toolset) -> Self {
        Self {
            name: toolset.name().to_owned(),
            toolset: Arc::new(toolset),
            labels: Labels::NONE,
            file: Cow::Borrowed(""),
        }
    }

    /// Sets the labels of all tools of the toolset. With a file, they count in addition to the
    /// labels there.
    #[must_use]
    pub fn labels(mut self, labels: Labels) -> Self {
        self.labels = labels;
        self
    }

    /// Restricts the toolset to the tools in the text of a file that `adk mcp pull` wrote. The
    /// checks then see the names of the tools, their labels, and which of them ask a person. A run
    /// fails before its first step when the toolset has other tools, schemas or annotations.
    #[must_use]
    pub fn file(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.file = text.into();
        self
    }

    /// Returns the name of the toolset.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the name by which a workflow declares the toolset.
    pub(crate) fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    fn tool_file(&self) -> ToolFile<'_> {
        ToolFile::new(&self.name, &self.file, self.labels)
    }

    /// Returns the fault of the file.
    pub(crate) fn fault(&self) -> Option<String> {
        Some(self.tool_file().fault()?.as_str().to_owned())
    }

    /// Returns the tools of the file.
    pub(crate) fn known_tools(&self) -> impl Iterator<Item = ToolMeta<'_>> {
        let mut tools = self.tool_file().tools();
        std::iter::from_fn(move || tools.next())
    }

    /// Returns the labels of the tools that only the run knows, if there may be such tools. `LOCAL`
    /// among them says that all of these tools have labels.
    pub(crate) fn unknown_labels(all: &[Self]) -> Option<Labels> {
        let unknown = all.iter().filter(|toolset| toolset.file.is_empty());
        let unknown: Vec<_> = unknown.map(|toolset| toolset.labels).collect();
        let words = unknown.iter().flat_map(|labels| labels.words());
        let labels = words.filter_map(Labels::from_word);
        let labels = labels.fold(Labels::NONE, Labels::and);
        if unknown.is_empty() {
            None
        } else if unknown.contains(&Labels::NONE) {
            Some(labels)
        } else {
            Some(labels.and(Labels::LOCAL))
        }
    }

    /// Returns the toolset for its agents to share.
    pub(crate) fn into_dyn(self) -> Arc<dyn Toolset> {
        if self.file.is_empty() && self.labels.is_empty() {
            self.toolset
        } else {
            Arc::new(PinnedToolset::new(self))
        }
    }
}

impl<T: Toolset> From<T> for DeclaredToolset {
    fn from(toolset: T) -> Self {
        Self::new(toolset)
    }
}

impl fmt::Debug for DeclaredToolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeclaredToolset")
            .field("name", &self.name)
            .field("labels", &self.labels)
            .field("has_file", &!self.file.is_empty())
            .finish_non_exhaustive()
    }
}

/// Toolset that supplies its tools only if they match its file, with their labels.
struct PinnedToolset {
    declared: DeclaredToolset,
    /// The labels of each tool of the file, and whether it asks a person.
    known: HashMap<String, (Labels, bool)>,
}

impl PinnedToolset {
    fn new(declared: DeclaredToolset) -> Self {
        let known = declared.known_tools();
        let known = known.map(|tool| (tool.name.to_owned(), (tool.labels, tool.confirm)));
        Self {
            known: known.collect(),
            declared,
        }
    }

    fn check(&self, tools: &[Arc<dyn DynTool>]) -> Result<()> {
        if self.declared.file.is_empty() {
            return Ok(());
        }
        let name = self.declared.toolset.name();
        let fault = |message: String| {
            Error::new(ErrorKind::Config, message).with_help("write it again with `adk mcp pull`")
        };
        let file: PulledFile<'_> = serde_json::from_str(&self.declared.file).map_err(|error| {
            let message = format!("the file of toolset `{name}` was not written by `adk mcp pull`");
            fault(message).with_source(error)
        })?;
        if !self.has_read(&file) {
            let message = format!(
                "the file of toolset `{name}` has `labels` or `confirm` after `tools`, where the \
                 compiler does not read them"
            );
            return Err(fault(message));
        }
        let changes = file.changes(tools);
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

    /// Returns whether the checks have seen all labels, and all tools that ask a person.
    fn has_read(&self, file: &PulledFile<'_>) -> bool {
        let words = |name: &String| file.labels.as_ref().and_then(|labels| labels.get(name));
        file.names.iter().all(|name| {
            let Some((labels, asks)) = self.known.get(name) else {
                return false;
            };
            let has_label =
                |word: &String| Labels::from_word(word).is_some_and(|one| labels.has(one));
            words(name).is_none_or(|words| words.iter().all(has_label))
                && *asks == file.confirm.contains(name)
        })
    }

    /// Gives tools their labels.
    fn label(&self, tools: Vec<Arc<dyn DynTool>>) -> Vec<Arc<dyn DynTool>> {
        let label = |tool: Arc<dyn DynTool>| {
            let known = self.known.get(tool.meta().name).copied();
            let (labels, asks) = known.unwrap_or((self.declared.labels, false));
            let toolset = self.declared.name.clone();
            let owner = ToolOwner {
                tool,
                toolset,
                asks,
            };
            Arc::new(LabelledTool(DescribedTool::new(owner, |owner| {
                let meta = *owner.tool.meta();
                let (confirm, selects) = (meta.confirm || asks, meta.selects && !asks);
                meta.labels(meta.labels.and(labels))
                    .confirm(confirm)
                    .selects(selects)
                    .toolset(&owner.toolset)
            }))) as Arc<dyn DynTool>
        };
        tools.into_iter().map(label).collect()
    }
}

impl Toolset for PinnedToolset {
    fn name(&self) -> &str {
        self.declared.toolset.name()
    }

    fn tools<'a>(
        &'a self,
        cx: &'a ReadonlyContext,
    ) -> BoxFuture<'a, Result<Vec<Arc<dyn DynTool>>>> {
        Box::pin(async move {
            let tools = self.declared.toolset.tools(cx).await?;
            self.check(&tools)?;
            Ok(self.label(tools))
        })
    }

    fn all_tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn DynTool>>>> {
        self.declared.toolset.all_tools()
    }

    fn prepare(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let toolset = &self.declared.toolset;
            toolset.prepare().await?;
            if self.declared.file.is_empty() {
                return Ok(());
            }
            self.check(&toolset.all_tools().await?)
        })
    }
}

/// A tool of a toolset, with the labels that the program gives it.
struct LabelledTool(DescribedTool);

struct ToolOwner {
    tool: Arc<dyn DynTool>,
    toolset: String,
    /// Whether the file lists the tool in `confirm`.
    asks: bool,
}

self_cell!(
    struct DescribedTool {
        owner: ToolOwner,
        #[covariant]
        dependent: ToolMeta,
    }
);

impl LabelledTool {
    fn tool(&self) -> &dyn DynTool {
        &*self.0.borrow_owner().tool
    }
}

impl DynTool for LabelledTool {
    fn meta(&self) -> &ToolMeta<'_> {
        self.0.borrow_dependent()
    }

    fn declaration_dyn(&self) -> &ToolDeclaration {
        self.tool().declaration_dyn()
    }

    fn call_dyn<'a>(
        &'a self,
        args: ToolArgs,
        cx: &'a mut ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolError>> {
        self.tool().call_dyn(args, cx)
    }

    fn needs_confirmation_dyn(
        &self,
        args: ToolArgs,
        cx: &mut ToolContext,
    ) -> Result<bool, ToolError> {
        if self.0.borrow_owner().asks {
            return Ok(true);
        }
        self.tool().needs_confirmation_dyn(args, cx)
    }

    fn processor_dyn(&self) -> Option<&dyn ProcessRequest> {
        self.tool().processor_dyn()
    }

    fn agent_dyn(&self) -> Option<&dyn DynAgent> {
        self.tool().agent_dyn()
    }

    fn hints_dyn(&self) -> ToolHints {
        self.tool().hints_dyn()
    }
}
