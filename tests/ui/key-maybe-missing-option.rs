//! A key that is perhaps written, with an `Option` on either side: the first value that is proposed is one that its reader
//! and its writer take. `Followed` and `Taken` do what is said.

use adk::prelude::*;

type Maybe = Option<String>;

#[agent(writes = line)]
fn perhaps() -> Option<String> {
    None
}

#[agent(writes = line)]
fn alias() -> Maybe {
    None
}

#[agent(writes = line)]
fn nested() -> Option<Option<String>> {
    None
}

#[agent(writes = line)]
fn plain() -> String {
    String::new()
}

#[agent(writes = length)]
fn owned(line: &str) -> usize {
    line.len()
}

#[agent(writes = length)]
fn optional(line: Option<&str>) -> usize {
    line.map_or(0, str::len)
}

/// Notes a line.
#[tool(writes(line: &str))]
fn note(cx: &mut ToolContext) {
    let _ = cx;
}

workflow! {
    pub Inner(line: Option<String>) {
        optional
    }
}

workflow! {
    pub OfAlias() {
        alias;
        owned;
    }
}

workflow! {
    pub OfNested() {
        nested;
        owned;
    }
}

workflow! {
    pub OfNestedLater() {
        loop(max = 2) < owned; nested >
    }
}

workflow! {
    pub OfTool() {
        agent noter { instruction: "Note a line.", tools: [note] }

        noter;
        owned;
    }
}

workflow! {
    pub ByWorkflow() {
        perhaps;
        Inner;
    }
}

workflow! {
    pub ByWorkflowLater() {
        loop(max = 2) < Inner; plain >
    }
}

workflow! {
    pub Followed() {
        let line: Option<String> = None;

        perhaps;
        Inner;
    }
}

workflow! {
    pub Taken() {
        nested;
        optional;
    }
}

fn main() {}
