//! [`ToolFile`]: the file of a toolset that `adk mcp pull` writes, as const evaluation reads it.
//!
//! Only the beginning is read: the names of the tools, their labels, and the tools that ask a
//! person. Const evaluation of the schemas after it would cost time in the user's crate.

use super::Check;
use crate::message::Message;
use crate::spec::{Labels, ToolMeta};
use crate::text::same;

/// The file of a toolset, with the labels that the whole toolset has in addition.
#[derive(Clone, Copy, Debug)]
pub struct ToolFile<'a> {
    /// The name of the toolset.
    pub toolset: &'a str,
    /// The text of the file; empty without a file.
    pub text: &'a str,
    /// The labels of the whole toolset.
    pub labels: Labels,
}

impl<'a> ToolFile<'a> {
    /// Creates the file of a toolset.
    pub const fn new(toolset: &'a str, text: &'a str, labels: Labels) -> Self {
        Self {
            toolset,
            text,
            labels,
        }
    }

    /// Returns the tools of the file. A file with a fault has no tools.
    pub const fn tools(&self) -> FileTools<'a> {
        let header = match Header::read(self.text) {
            Ok(header) if !self.text.is_empty() => header,
            _ => Header::EMPTY,
        };
        FileTools {
            file: *self,
            header,
            names: header.names,
            labels: header.labels,
            confirm: header.confirm,
        }
    }

    /// Returns the number of tools.
    pub const fn count(&self) -> usize {
        let (mut tools, mut count) = (self.tools(), 0);
        while tools.next().is_some() {
            count += 1;
        }
        count
    }

    /// Returns the fault of the file.
    pub const fn fault(&self) -> Option<Message> {
        if self.text.is_empty() {
            return None;
        }
        match Header::read(self.text) {
            Ok(_) => None,
            Err(fault) => Some(fault.describe(self.toolset)),
        }
    }
}

/// Ends const evaluation when the file of a toolset has a fault.
#[track_caller]
pub const fn raise_tool_file(file: &ToolFile<'_>) {
    if let Some(fault) = file.fault() {
        fault.raise();
    }
}

/// The tools of a file, in its order.
#[derive(Clone, Copy, Debug)]
pub struct FileTools<'a> {
    file: ToolFile<'a>,
    header: Header<'a>,
    names: Tokens<'a>,
    // Where the entries of the next tool are expected. `adk mcp pull` sorts all lists.
    labels: Tokens<'a>,
    confirm: Tokens<'a>,
}

impl<'a> FileTools<'a> {
    /// Returns the next tool.
    pub const fn next(&mut self) -> Option<ToolMeta<'a>> {
        let Some(name) = self.names.next() else {
            return None;
        };
        let own = find_labels(self.header.labels, &mut self.labels, name);
        let asks = is_listed(self.header.confirm, &mut self.confirm, name);
        let tool = ToolMeta::new(name, "").labels(own.and(self.file.labels));
        Some(tool.confirm(asks).toolset(self.file.toolset))
    }
}

/// The lists at the beginning of a file.
#[derive(Clone, Copy, Debug)]
struct Header<'a> {
    names: Tokens<'a>,
    labels: Tokens<'a>,
    confirm: Tokens<'a>,
}

/// A fault of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileFault<'a> {
    Malformed,
    /// A field that the file does not have.
    Field(&'a str),
    /// A tool has a label that does not exist.
    Label(&'a str, &'a str),
    /// A tool has `local` beside other labels.
    Local(&'a str),
    /// A list names a tool that the file does not have.
    Tool(&'static str, &'a str),
}

impl FileFault<'_> {
    const fn describe(&self, toolset: &str) -> Message {
        let mut m = Message::of(Check::Syntax, &["the file of toolset `", toolset, "` "]);
        match *self {
            Self::Malformed => m.all(&[
                "was not written by `adk mcp pull`; help: write it again with `adk mcp pull ",
                toolset,
                " -- COMMAND`",
            ]),
            Self::Field(field) => m.all(&[
                "has a field `",
                field,
                "`, which does not exist; help: use `labels` or `confirm`",
            ]),
            Self::Label(tool, word) => m.all(&[
                "gives `",
                tool,
                "` the label `",
                word,
                "`, which does not exist; help: use `untrusted`, `private`, `acts`, `sends`, or \
                 `local` for none of them",
            ]),
            Self::Local(tool) => m.all(&[
                "gives `",
                tool,
                "` the label `local` beside others, and `local` says that none of them applies; \
                 help: remove `local`",
            ]),
            Self::Tool(list, tool) => m.all(&[
                "names `",
                tool,
                "` in `",
                list,
                "`, and has no tool of that name; help: write the name as in `names`",
            ]),
        }
        m
    }
}

impl<'a> Header<'a> {
    const EMPTY: Self = Self {
        names: Tokens { rest: "" },
        labels: Tokens { rest: "" },
        confirm: Tokens { rest: "" },
    };

    const fn read(text: &'a str) -> Result<Self, FileFault<'a>> {
        let mut at = Tokens { rest: text };
        let begins = at.take(b'{') && same(at.text(), "names") && at.take(b':') && at.take(b'[');
        let mut header = Self {
            names: at,
            ..Self::EMPTY
        };
        while at.next().is_some() {}
        if !begins || !at.take(b']') {
            return Err(FileFault::Malformed);
        }
        while at.take(b',') {
            let list = at.text();
            if same(list, "labels") {
                if !at.take(b':') || !at.take(b'{') {
                    return Err(FileFault::Malformed);
                }
                header.labels = at;
                if let Some(fault) = at.skip_labels(header.names) {
                    return Err(fault);
                }
            } else if same(list, "confirm") {
                if !at.take(b':') || !at.take(b'[') {
                    return Err(FileFault::Malformed);
                }
                header.confirm = at;
                let mut hint = header.names;
                while let Some(tool) = at.next() {
                    if !is_listed(header.names, &mut hint, tool) {
                        return Err(FileFault::Tool("confirm", tool));
                    }
                }
                if !at.take(b']') {
                    return Err(FileFault::Malformed);
                }
            } else if same(list, "tools") {
                break;
            } else if list.is_empty() {
                return Err(FileFault::Malformed);
            } else {
                return Err(FileFault::Field(list));
            }
        }
        Ok(header)
    }
}

/// A place in a JSON text.
#[derive(Clone, Copy, Debug)]
struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    const fn peek(&mut self) -> u8 {
        self.rest = self.rest.trim_ascii_start();
        match self.rest.as_bytes() {
            [first, ..] => *first,
            [] => 0,
        }
    }

    /// Skips a token. Returns whether the token is there.
    const fn take(&mut self, token: u8) -> bool {
        let is_there = self.peek() == token;
        if is_there {
            self.rest = self.rest.split_at(1).1;
        }
        is_there
    }

    /// Reads a string; empty if there is none. Names and labels have no escapes.
    const fn text(&mut self) -> &'a str {
        if !self.take(b'"') {
            return "";
        }
        let (bytes, mut end) = (self.rest.as_bytes(), 0);
        while end < bytes.len() && bytes[end] != b'"' {
            end += 1;
        }
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        if self.take(b'"') { text } else { "" }
    }

    /// Reads the next string of a list.
    const fn next(&mut self) -> Option<&'a str> {
        self.take(b',');
        if self.peek() != b'"' {
            return None;
        }
        let text = self.text();
        if text.is_empty() { None } else { Some(text) }
    }

    /// Reads the labels of a tool, after its name. The fault names a wrong label.
    const fn labels(&mut self, tool: &'a str) -> Result<Labels, FileFault<'a>> {
        let mut labels = Labels::NONE;
        if !self.take(b':') || !self.take(b'[') {
            return Err(FileFault::Malformed);
        }
        while let Some(word) = self.next() {
            match Labels::from_word(word) {
                Some(label) if !label.has(Labels::TRUSTS) => labels = labels.and(label),
                _ => return Err(FileFault::Label(tool, word)),
            }
        }
        if labels.has(Labels::LOCAL) && labels.has(Labels::ALL) {
            return Err(FileFault::Local(tool));
        }
        if self.take(b']') {
            Ok(labels)
        } else {
            Err(FileFault::Malformed)
        }
    }

    /// Skips the object `labels`, after its brace. Returns its first fault.
    const fn skip_labels(&mut self, names: Self) -> Option<FileFault<'a>> {
        let mut hint = names;
        while let Some(tool) = self.next() {
            if let Err(fault) = self.labels(tool) {
                return Some(fault);
            }
            if !is_listed(names, &mut hint, tool) {
                return Some(FileFault::Tool("labels", tool));
            }
        }
        if self.take(b'}') {
            None
        } else {
            Some(FileFault::Malformed)
        }
    }
}

/// Returns whether a list has a name. `hint` is where it is expected, and moves on.
const fn is_listed<'a>(list: Tokens<'a>, hint: &mut Tokens<'a>, name: &str) -> bool {
    let mut expected = *hint;
    if let Some(next) = expected.next()
        && same(next, name)
    {
        *hint = expected;
        return true;
    }
    let mut all = list;
    while let Some(next) = all.next() {
        if same(next, name) {
            *hint = all;
            return true;
        }
    }
    false
}

/// Returns the labels of a tool. `hint` is where they are expected, and moves on.
const fn find_labels<'a>(list: Tokens<'a>, hint: &mut Tokens<'a>, name: &str) -> Labels {
    let (mut at, mut is_hint) = (*hint, true);
    loop {
        match at.next() {
            Some(tool) => {
                let labels = match at.labels(tool) {
                    Ok(labels) => labels,
                    Err(_) => return Labels::NONE,
                };
                if same(tool, name) {
                    *hint = at;
                    return labels;
                }
            }
            None if !is_hint => return Labels::NONE,
            None => {}
        }
        if is_hint {
            (at, is_hint) = (list, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{
  "names": ["a_b", "c", "d"],
  "labels": {"c": ["private", "acts"], "a_b": ["local"]},
  "confirm": ["d", "a_b"],
  "tools": []
}"#;

    fn tools(text: &str, labels: Labels) -> Vec<(&str, Vec<&str>, bool)> {
        let mut tools = ToolFile::new("files", text, labels).tools();
        std::iter::from_fn(|| tools.next())
            .map(|tool| (tool.name, tool.labels.words().collect(), tool.confirm))
            .collect()
    }

    #[test]
    fn tools_have_the_labels_of_the_file_and_of_the_toolset() {
        const TOOLS: usize = ToolFile::new("files", FILE, Labels::NONE).count();
        assert_eq!(TOOLS, 3);
        let expected = [
            ("a_b", vec![], true),
            ("c", vec!["private", "acts"], false),
            ("d", vec![], true),
        ];
        assert_eq!(tools(FILE, Labels::NONE), expected);
        let all = tools(FILE, Labels::PRIVATE);
        let private = |(_, words, _): &(&str, Vec<&str>, bool)| words.contains(&"private");
        assert!(all.iter().all(private), "{all:?}");
        let mut known = ToolFile::new("files", FILE, Labels::NONE).tools();
        let known = std::iter::from_fn(|| known.next()).map(|tool| tool.labels.is_known());
        assert_eq!(known.collect::<Vec<_>>(), [true, true, false]);
        assert!(tools("", Labels::NONE).is_empty());
        let old = r#"{"names":["a"],"tools":[]}"#;
        assert_eq!(tools(old, Labels::NONE), [("a", vec![], false)]);
    }

    #[test]
    fn faults_name_the_tool_and_the_remedy() {
        for (text, why) in [
            ("[]", "was not written by `adk mcp pull`"),
            ("{\"tools\": []}", "was not written by"),
            ("{\"names\": [7]}", "was not written by"),
            ("{\"names\": [\"a", "was not written by"),
            (r#"{"names": ["a"], "labels": []}"#, "was not written by"),
            (
                r#"{"names": ["a"], "labels": {"a": "acts"}}"#,
                "was not written",
            ),
            (
                r#"{"names": ["a"], "labels": {"a": ["acts""#,
                "was not written",
            ),
            (r#"{"names": ["a"], "confirm": {}}"#, "was not written by"),
            (r#"{"names": ["a"], 7: []}"#, "was not written by"),
            (
                r#"{"names": ["a"], "label": {"a": ["acts"]}}"#,
                "has a field `label`, which does not exist",
            ),
            (
                r#"{"names": ["a"], "labels": {"a": ["act"]}}"#,
                "gives `a` the label `act`, which does not exist",
            ),
            (
                r#"{"names": ["a"], "labels": {"a": ["trusts"]}}"#,
                "the label `trusts`",
            ),
            (
                r#"{"names": ["a"], "labels": {"a": ["local", "acts"]}}"#,
                "`local` beside others",
            ),
            (
                r#"{"names": ["a"], "labels": {"b": ["acts"]}}"#,
                "names `b` in `labels`, and has no tool",
            ),
            (
                r#"{"names": ["a"], "labels": {}, "confirm": ["b"]}"#,
                "names `b` in `confirm`",
            ),
        ] {
            let file = ToolFile::new("files", text, Labels::NONE);
            let fault = file.fault().expect(text);
            let start = "syntax: the file of toolset `files` ";
            assert!(fault.as_str().starts_with(start), "{}", fault.as_str());
            assert!(fault.as_str().contains(why), "{}", fault.as_str());
            assert!(fault.as_str().contains("; help: "), "{}", fault.as_str());
            assert_eq!(file.count(), 0, "{text}");
        }
        assert!(ToolFile::new("files", FILE, Labels::NONE).fault().is_none());
        assert!(ToolFile::new("files", "", Labels::NONE).fault().is_none());
    }
}
