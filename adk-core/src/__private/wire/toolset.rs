//! Toolsets of a workflow, and the files that list the names of their tools.

use crate::agents::llm::{Declared, Declares};
use crate::runtime::tool::{PinnedToolset, Toolset};
use crate::spec::{Labels, ToolMeta};
use std::sync::Arc;

/// The tokens with which a file of tool names begins. White space may separate them.
const BEGIN: [&[u8]; 4] = [b"{", b"\"names\"", b":", b"["];

/// A file that lists the names of the tools of a toolset, with the labels of the toolset. The text
/// is empty without a file.
pub type ToolFile = (&'static str, Labels);

/// Requires that a type is a toolset.
pub const fn require_toolset<T: Toolset>() {}

/// Returns a toolset for its agents to share. The toolset is restricted to the tools in `file`
/// unless `file` is empty.
pub fn toolset<T: Toolset>(toolset: T, (file, _): ToolFile) -> Arc<dyn Toolset> {
    if file.is_empty() {
        Arc::new(toolset)
    } else {
        Arc::new(PinnedToolset::new(toolset, file))
    }
}

/// Creates a declared agent with the toolsets of its `tools`.
pub fn with_toolsets<W: Declares<N>, const N: usize>(
    toolsets: &[&Arc<dyn Toolset>],
) -> Declared<W, N> {
    Declared::default().with_toolsets(toolsets.iter().map(|toolset| Arc::clone(toolset)).collect())
}

/// Returns the number of tools that a file names.
pub const fn count_tools(file: ToolFile) -> usize {
    let mut names = Names::new(file.0);
    let mut count = 0;
    while names.next().is_some() {
        count += 1;
    }
    count
}

/// Returns the tools of an agent, followed by the tools that files name.
pub const fn with_file_tools<const N: usize>(
    own: &[ToolMeta<'static>],
    files: &[ToolFile],
) -> [ToolMeta<'static>; N] {
    let mut all = [ToolMeta::new("", ""); N];
    let mut at = 0;
    while at < own.len() {
        all[at] = own[at];
        at += 1;
    }
    let mut file = 0;
    while file < files.len() {
        let (text, labels) = files[file];
        let mut names = Names::new(text);
        while let Some(name) = names.next() {
            all[at] = ToolMeta::new(name, "").labels(labels);
            at += 1;
        }
        file += 1;
    }
    all
}

/// An iterator over the list of names with which a file begins.
struct Names {
    rest: &'static str,
}

impl Names {
    const fn new(file: &'static str) -> Self {
        let mut names = Self { rest: file };
        let mut part = 0;
        while part < BEGIN.len() && !file.is_empty() {
            names.skip(BEGIN[part]);
            part += 1;
        }
        names
    }

    /// Skips white space and the expected token.
    const fn skip(&mut self, token: &[u8]) {
        let bytes = self.rest.trim_ascii_start().as_bytes();
        let mut i = 0;
        while i < token.len() {
            assert!(
                i < bytes.len() && bytes[i] == token[i],
                "syntax: the file of a toolset was not written by `adk mcp pull`; help: write it \
                 again with `adk mcp pull NAME -- COMMAND`"
            );
            i += 1;
        }
        self.rest = self.rest.trim_ascii_start().split_at(token.len()).1;
    }

    const fn next(&mut self) -> Option<&'static str> {
        let rest = self.rest.trim_ascii_start().as_bytes();
        if rest.is_empty() || rest[0] == b']' {
            return None;
        }
        if rest[0] == b',' {
            self.skip(b",");
        }
        self.skip(b"\"");
        let bytes = self.rest.as_bytes();
        let mut end = 0;
        while end < bytes.len() && bytes[end] != b'"' {
            end += 1;
        }
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        self.skip(b"\"");
        Some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_the_beginning_of_a_file() {
        const FILES: [ToolFile; 3] = [
            (
                "{\n  \"names\": [\n    \"a_b\",\n    \"c\"\n  ],\n \"tools\": []}",
                Labels::PRIVATE,
            ),
            ("", Labels::NONE),
            ("{\"names\":[]}", Labels::NONE),
        ];
        const ALL: [ToolMeta<'_>; 3] = with_file_tools(&[ToolMeta::new("own", "")], &FILES);
        assert_eq!(ALL.map(|tool| tool.name), ["own", "a_b", "c"]);
        let labels = [Labels::NONE, Labels::PRIVATE, Labels::PRIVATE];
        assert_eq!(ALL.map(|tool| tool.labels), labels);
        assert_eq!(FILES.map(count_tools), [2, 0, 0]);
        for other in [
            "[]",
            "{\"tools\": []}",
            "{\"names\": [7]}",
            "{\"names\": [\"a",
        ] {
            let read = std::panic::catch_unwind(|| count_tools((other, Labels::NONE)));
            assert!(read.is_err(), "{other}");
        }
    }
}
