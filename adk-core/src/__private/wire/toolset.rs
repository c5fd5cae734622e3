//! Toolsets of a workflow, and the tools in their files.

use crate::agents::llm::{Declared, Declares};
use crate::runtime::tool::{DeclaredToolset, Toolset};
use crate::spec::ToolMeta;
pub use adk_spec::__private::{ToolFile, raise_tool_file};
use std::sync::Arc;

/// Requires that a type is a toolset.
pub const fn require_toolset<T: Toolset>() {}

/// Returns a toolset for its agents to share, with the labels and the tools that a workflow
/// declares.
pub fn toolset<T: Toolset>(toolset: T, file: ToolFile<'static>) -> Arc<dyn Toolset> {
    let declared = DeclaredToolset::new(toolset).named(file.toolset);
    declared.labels(file.labels).file(file.text).into_dyn()
}

/// Creates a declared agent with the toolsets of its `tools`.
pub fn with_toolsets<W: Declares<N>, const N: usize>(
    toolsets: &[&Arc<dyn Toolset>],
) -> Declared<W, N> {
    Declared::default().with_toolsets(toolsets.iter().map(|toolset| Arc::clone(toolset)).collect())
}

/// Returns the tools of an agent, followed by the tools of files.
pub const fn with_file_tools<const N: usize>(
    own: &[ToolMeta<'static>],
    files: &[ToolFile<'static>],
) -> [ToolMeta<'static>; N] {
    let mut all = [ToolMeta::new("", ""); N];
    let mut at = 0;
    while at < own.len() {
        all[at] = own[at];
        at += 1;
    }
    let mut file = 0;
    while file < files.len() {
        let mut tools = files[file].tools();
        while let Some(tool) = tools.next() {
            all[at] = tool;
            at += 1;
        }
        file += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Labels;

    #[test]
    fn the_tools_of_files_follow_the_own_tools() {
        const FILES: [ToolFile<'_>; 3] = [
            ToolFile::new(
                "files",
                "{\n  \"names\": [\n    \"a_b\",\n    \"c\"\n  ],\n \"tools\": []}",
                Labels::PRIVATE,
            ),
            ToolFile::new("mails", "", Labels::NONE),
            ToolFile::new("pages", "{\"names\":[]}", Labels::NONE),
        ];
        const COUNT: usize = 1 + FILES[0].count() + FILES[1].count() + FILES[2].count();
        const ALL: [ToolMeta<'_>; COUNT] = with_file_tools(&[ToolMeta::new("own", "")], &FILES);
        assert_eq!(ALL.map(|tool| tool.name), ["own", "a_b", "c"]);
        assert_eq!(ALL.map(|tool| tool.toolset), ["", "files", "files"]);
        let labels = [Labels::NONE, Labels::PRIVATE, Labels::PRIVATE];
        assert_eq!(ALL.map(|tool| tool.labels), labels);
    }
}
