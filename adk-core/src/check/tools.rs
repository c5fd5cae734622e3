//! `tool-duplicate` and `tool-reserved`.

use super::message::Message;
use super::text::same;
use crate::spec::{AgentKind, AgentMeta, ToolMeta};

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
    if let Some(used) = tools[at].agent
        && tools[at].description.is_empty()
        && !tools[at].name.is_empty()
    {
        panic!("{}", undescribed(agent, used).as_str());
    }
}

/// An agent as a tool, of which nothing is said: where it is to be said depends on what it is.
const fn undescribed(agent: &str, used: &AgentMeta<'_>) -> Message {
    let (missing, remedy) = match used.kind {
        AgentKind::Custom => {
            ("description", "say in its `META` what it is for, `.description(\"Reviews a text.\")`")
        }
        _ => ("doc comment", "say in `///` what it is for"),
    };
    let mut m = Message::new();
    m.all(&[
        "tool-undocumented: agent `",
        used.name,
        "` is a tool of agent `",
        agent,
        "` and has no ",
        missing,
        ", so no model knows when to call it; help: ",
        remedy,
    ]);
    m
}
