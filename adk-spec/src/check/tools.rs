//! `tool-duplicate`, `tool-reserved`, `wait-in-tool`, and `output-missing` of an agent whose tool ends its turn.

use super::Check;
use crate::message::Message;
use crate::spec::{AgentKind, AgentMeta, StepKind, ToolMeta};
use crate::text::same;

/// Ends const evaluation when a function stands where one with that attribute is expected.
#[track_caller]
pub const fn raise_function(attribute: &str, name: &str, is_plain: bool) {
    if !is_plain {
        return;
    }
    let is_tool = same(attribute, "tool");
    let check = if is_tool { Check::ToolAttribute } else { Check::AgentAttribute };
    let mut m = Message::of(
        check,
        &["`", name, "` is a function without `#[", attribute, "]`; help: write `#[", attribute],
    );
    m.push(if is_tool {
        "]` before it"
    } else {
        "]` before it, or `#[agent(writes = KEY)]` when it returns the value of a key"
    });
    m.raise();
}

/// What is wrong with the tool at that place of an agent's list. `answer` is the key that the agent's model writes, if it does.
pub(super) const fn describe(
    agent: &str,
    answer: &str,
    tools: &[ToolMeta<'_>],
    at: usize,
) -> Option<Message> {
    let name = tools[at].name;
    // Those in the file of a toolset have no description there.
    let remedy = if tools[at].description.is_empty() {
        "give the toolset a prefix, `.prefix(...)` and `adk mcp pull --prefix`"
    } else {
        "give it another name, `#[tool(name = \"...\")]`"
    };
    if same(name, "transfer_to_agent") || same(name, "set_model_response") {
        let mut m = Message::of(Check::ToolReserved, &["agent `", agent, "` has a tool of the name `", name]);
        m.all(&["`, which the runtime gives to a tool of its own; help: ", remedy]);
        return Some(m);
    }
    if !name.is_empty() && any!(other in tools.split_at(at).0 => same(other.name, name)) {
        let fact = ["agent `", agent, "` has two tools of the name `", name];
        let mut m = Message::of(Check::ToolDuplicate, &fact);
        m.all(&["`; help: remove one of them, or ", remedy]);
        return Some(m);
    }
    match tools[at].agent {
        Some(used) => wait_in_tool(agent, used),
        None => answer_skipped(agent, answer, tools, &tools[at]),
    }
}

/// A tool that ends the turn of an agent before its model has answered, so that its key stays unwritten. One that also ends
/// the loop keeps the value of the round before, and one of its tools may write the key instead of the model.
const fn answer_skipped(
    agent: &str,
    answer: &str,
    tools: &[ToolMeta<'_>],
    tool: &ToolMeta<'_>,
) -> Option<Message> {
    if answer.is_empty() || !tool.may_skip || tool.may_exit {
        return None;
    }
    if any!(other in tools => any!(key in other.writes => same(key.name, answer))) {
        return None;
    }
    let fact = ["agent `", agent, "` has to write `", answer, "`, but its tool `", tool.name];
    let mut m = Message::of(Check::OutputMissing, &fact);
    m.push(
        "` sets `skip_summarization`, which ends the turn before the model answers; help: do not set it, ",
    );
    m.all(&["let the tool write the key, `#[tool(writes(", answer, ": ...))]`, or take `-> ", answer]);
    m.push("` off the agent");
    Some(m)
}

/// Something in an agent that waits for an answer from outside.
#[derive(Clone, Copy)]
struct Wait<'a> {
    word: &'static str,
    /// The tool, or the step.
    name: &'a str,
    /// The agent that has the tool, or the workflow with the `await`.
    agent: &'a str,
    reason: &'static str,
}

/// The first wait in an agent, in its sub-agents, or in the steps of a workflow. Agents that are its tools are not searched:
/// each is reported at the agent that calls it.
const fn first_wait<'a>(agent: &'a AgentMeta<'a>) -> Option<Wait<'a>> {
    each!(tool in agent.tools => {
        if tool.confirm || tool.long_running {
            let reason = if tool.confirm {
                "waits until a person agrees (`confirm`)"
            } else {
                "waits for its result (`long_running`)"
            };
            return Some(Wait { word: "tool `", name: tool.name, agent: agent.name, reason });
        }
    });
    let below = first!(target in agent.transfer => first_wait(target));
    if below.is_some() {
        return below;
    }
    first!(step in agent.steps => match step.kind {
        StepKind::Agent { meta, .. } if matches!(meta.kind, AgentKind::Await) => {
            let reason = "waits for an answer from outside";
            Some(Wait { word: "`await ", name: step.name, agent: agent.name, reason })
        }
        StepKind::Agent { meta, .. } => first_wait(meta),
        _ => None,
    })
}

/// An agent that is used as a tool and waits: its session ends with the call, so nobody could answer.
pub const fn wait_in_tool(agent: &str, used: &AgentMeta<'_>) -> Option<Message> {
    let Some(wait) = first_wait(used) else { return None };
    let fact = ["agent `", agent, "` calls `", used.name, "` as a tool, and in it "];
    let mut m = Message::of(Check::WaitInTool, &fact);
    m.all(&[wait.word, wait.name, "` of `", wait.agent, "` ", wait.reason]);
    m.all(&["; a call of a tool cannot wait; help: make `", used.name, "` a step"]);
    if !matches!(used.kind, AgentKind::Workflow) {
        m.all(&[", or a sub-agent to which `", agent, "` hands over (`transfer`)"]);
    }
    Some(m)
}

/// A tool without a description: the macro sees that of a function by its tokens.
pub(super) fn undocumented(agent: &str, tool: &ToolMeta<'_>) -> Option<Message> {
    if !tool.description.trim().is_empty() {
        return None;
    }
    let fact = "` without a description; help: say when and how to call it: models see nothing else of it";
    Some(Message::of(Check::ToolUndocumented, &["agent `", agent, "` has a tool `", tool.name, fact]))
}

/// Ends const evaluation when something is wrong with a tool. From place `own` on they come from files, and are looked at as one.
#[track_caller]
pub const fn raise_tool(agent: &str, answer: &str, tools: &[ToolMeta<'_>], own: usize, mut at: usize) {
    while at < tools.len() {
        if let Some(message) = describe(agent, answer, tools, at) {
            message.raise();
        }
        if let ToolMeta { agent: Some(used), name, description, .. } = &tools[at]
            && description.is_empty()
            && !name.is_empty()
        {
            undescribed(agent, used).raise();
        }
        at += 1;
        if at <= own {
            return;
        }
    }
}

/// An agent without a description that is used as a tool. Its kind decides where the description goes.
const fn undescribed(agent: &str, used: &AgentMeta<'_>) -> Message {
    let (missing, remedy) = match used.kind {
        AgentKind::Custom => {
            ("description", "say in its `META` what it is for, `.description(\"Reviews a text.\")`")
        }
        _ => ("doc comment", "say in `///` what it is for"),
    };
    let fact = ["agent `", used.name, "` is a tool of agent `", agent, "` and has no ", missing];
    let mut m = Message::of(Check::ToolUndocumented, &fact);
    m.all(&[", so no model knows when to call it; help: ", remedy]);
    m
}
