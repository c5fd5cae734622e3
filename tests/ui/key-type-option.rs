//! An `Option` on one side of a key: the remedy of the message compiles, as `Followed` shows.

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

#[agent(writes = line)]
fn number() -> u32 {
    1
}

#[agent(writes = length)]
fn owned(line: String) -> usize {
    line.len()
}

#[agent(writes = length)]
fn borrowed(line: &str) -> usize {
    line.len()
}

#[agent(writes = length)]
fn optional(line: Option<&str>) -> usize {
    line.map_or(0, str::len)
}

#[agent(writes = length)]
fn whole(line: &Option<String>) -> usize {
    usize::from(line.is_some())
}

#[agent(writes = length)]
fn twice(line: Option<Option<String>>) -> usize {
    usize::from(line.is_some())
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
    pub OfText() {
        let line: String = "";

        whole;
        twice;
    }
}

workflow! {
    pub OfOption(line: Option<String>) {
        owned;
        borrowed;
        plain;
        number;
    }
}

workflow! {
    pub OfNested() {
        let line: Option<Option<String>> = None;

        alias;
        optional;
        whole;
    }
}

workflow! {
    pub ByAlias() -> line: Maybe {
        alias
    }
}

workflow! {
    pub Told() {
        agent noter { instruction: "Note a line.", tools: [note] }

        noter;
    }
}

workflow! {
    pub AsNumber() -> line: u32 {
        agent noter { instruction: "Note a line.", tools: [note] }

        noter;
    }
}

workflow! {
    pub Followed() -> line: Option<String> {
        let line: Option<String> = None;

        whole;
        twice;
        optional;
        perhaps;
        alias;
        Inner as inner;
    }
}

fn main() {}
