//! `tool-duplicate` and `tool-reserved`.

use super::message::Message;
use super::text::same;
use crate::spec::ToolMeta;

/// What is wrong with the tool at that place of an agent's list.
pub(super) const fn describe(agent: &str, tools: &[ToolMeta<'_>], at: usize) -> Option<Message> {
    let name = tools[at].name;
    let mut m = Message::new();
    if same(name, "transfer_to_agent") || same(name, "set_model_response") {
        m.all(&[
            "tool-reserved: agent `",
            agent,
            "` has a tool of the name `",
            name,
            "`, which the runtime gives to a tool of its own; help: give it another name, `#[tool(name = \"...\")]`",
        ]);
        return Some(m);
    }
    let mut i = 0;
    while i < at {
        if same(tools[i].name, name) && !name.is_empty() {
            m.all(&[
                "tool-duplicate: agent `",
                agent,
                "` has two tools of the name `",
                name,
                "`; help: remove one of them, or give it another name, `#[tool(name = \"...\")]`",
            ]);
            return Some(m);
        }
        i += 1;
    }
    None
}

/// A tool without a description: the macro sees that of a function by its tokens.
pub(super) fn undocumented(agent: &str, tool: &ToolMeta<'_>) -> Option<Message> {
    if !tool.description.trim().is_empty() {
        return None;
    }
    let mut m = Message::new();
    m.all(&[
        "tool-undocumented: agent `",
        agent,
        "` has a tool `",
        tool.name,
        "` without a description; help: say when and how to call it: models see nothing else of it",
    ]);
    Some(m)
}

/// Ends const evaluation when something is wrong with a tool.
#[doc(hidden)]
#[track_caller]
pub const fn raise_tool(agent: &str, tools: &[ToolMeta<'_>], at: usize) {
    if let Some(message) = describe(agent, tools, at) {
        panic!("{}", message.as_str());
    }
    if tools[at].agent.is_some() && tools[at].description.is_empty() && !tools[at].name.is_empty() {
        let mut m = Message::new();
        m.all(&[
            "tool-undocumented: agent `",
            tools[at].name,
            "` is a tool of agent `",
            agent,
            "` and has no doc comment, so no model knows when to call it; help: say in `///` what it is for",
        ]);
        panic!("{}", m.as_str());
    }
}
