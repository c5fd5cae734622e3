//! `tool-duplicate`, `tool-reserved`, `wait-in-tool`, and `output-missing` of an agent whose tool
//! ends its turn.

use super::Check;
use crate::message::Message;
use crate::spec::{AgentKind, AgentMeta, StepKind, ToolMeta};
use crate::text::same;

/// Ends const evaluation when a plain function is used where a function with the attribute is
/// expected.
#[track_caller]
pub const fn raise_function(attribute: &str, name: &str, is_plain: bool) {
    if !is_plain {
        return;
    }
    let is_tool = same(attribute, "tool");
    let check = if is_tool {
        Check::ToolAttribute
    } else {
        Check::AgentAttribute
    };
    let mut m = Message::of(
        check,
        &[
            "`",
            name,
            "` is a function without `#[",
            attribute,
            "]`; help: write `#[",
            attribute,
        ],
    );
    m.push(if is_tool {
        "]` before it"
    } else {
        "]` before it, or `#[agent(writes = KEY)]` when it returns the value of a key"
    });
    m.raise();
}

/// Returns the error of one tool in an agent's list. `answer` is the key that the agent's model
/// writes; empty if it writes none.
pub(super) const fn describe(
    agent: &str,
    answer: &str,
    tools: &[ToolMeta<'_>],
    at: usize,
) -> Option<Message> {
    let name = tools[at].name;
    let remedy = if !tools[at].toolset.is_empty() {
        "give the toolset a prefix, `.prefix(...)` and `adk mcp pull --prefix`"
    } else {
        "give it another name, `#[tool(name = \"...\")]`"
    };
    if same(name, "transfer_to_agent") || same(name, "set_model_response") {
        let mut m = Message::of(
            Check::ToolReserved,
            &["agent `", agent, "` has a tool of the name `", name],
        );
        m.all(&[
            "`, which the runtime gives to a tool of its own; help: ",
            remedy,
        ]);
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

/// Describes a tool that ends its agent's turn before the model answers, so that the answer key
/// stays unwritten.
///
/// A tool that also ends the loop is allowed, because the key keeps the value of the previous
/// round. A tool of the agent that writes the key itself is allowed too.
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
    let fact = [
        "agent `",
        agent,
        "` has to write `",
        answer,
        "`, but its tool `",
        tool.name,
    ];
    let mut m = Message::of(Check::OutputMissing, &fact);
    m.push(
        "` sets `skip_summarization`, which ends the turn before the model answers; help: do not \
         set it, ",
    );
    m.all(&[
        "let the tool write the key, `#[tool(writes(",
        answer,
        ": ...))]`, or take `-> ",
        answer,
    ]);
    m.push("` off the agent");
    Some(m)
}

/// A part of an agent that waits for an answer from outside.
#[derive(Clone, Copy)]
struct Wait<'a> {
    word: &'static str,
    /// The tool or step.
    name: &'a str,
    /// The agent that has the tool, or the workflow that has the `await`.
    agent: &'a str,
    reason: &'static str,
}

/// Returns the first wait in an agent, in its sub-agents, or in the steps of a workflow. Agents
/// that are its tools are not searched, because each is reported at the agent that calls it.
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

/// Describes an agent that waits and is used as a tool. The session of the call ends with the call,
/// so no user could answer.
pub const fn wait_in_tool(agent: &str, used: &AgentMeta<'_>) -> Option<Message> {
    let Some(wait) = first_wait(used) else {
        return None;
    };
    let fact = [
        "agent `",
        agent,
        "` calls `",
        used.name,
        "` as a tool, and in it ",
    ];
    let mut m = Message::of(Check::WaitInTool, &fact);
    m.all(&[
        wait.word,
        wait.name,
        "` of `",
        wait.agent,
        "` ",
        wait.reason,
    ]);
    m.all(&[
        "; a call of a tool cannot wait; help: make `",
        used.name,
        "` a step",
    ]);
    if !matches!(used.kind, AgentKind::Workflow) {
        m.all(&[
            ", or a sub-agent to which `",
            agent,
            "` hands over (`transfer`)",
        ]);
    }
    Some(m)
}

/// Describes a tool without a description. For a function, the macro reports a missing description
/// from its tokens.
pub(super) fn undocumented(agent: &str, tool: &ToolMeta<'_>) -> Option<Message> {
    // The description of a tool from a toolset is the matter of its server.
    if !tool.toolset.is_empty() || !tool.description.trim().is_empty() {
        return None;
    }
    let fact =
        "` without a description; help: say when and how to call it: models see nothing else of it";
    Some(Message::of(
        Check::ToolUndocumented,
        &["agent `", agent, "` has a tool `", tool.name, fact],
    ))
}

/// Ends const evaluation when a tool has an error. Tools from index `own` on come from files and
/// are checked together.
#[track_caller]
pub const fn raise_tool(
    agent: &str,
    answer: &str,
    tools: &[ToolMeta<'_>],
    own: usize,
    mut at: usize,
) {
    while at < tools.len() {
        if let Some(message) = describe(agent, answer, tools, at) {
            message.raise();
        }
        if let ToolMeta {
            agent: Some(used),
            name,
            description,
            ..
        } = &tools[at]
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

/// Describes an agent that is used as a tool and has no description. The agent's kind decides where
/// the description goes.
const fn undescribed(agent: &str, used: &AgentMeta<'_>) -> Message {
    let (missing, remedy) = match used.kind {
        AgentKind::Custom => (
            "description",
            "say in its `META` what it is for, `.description(\"Reviews a text.\")`",
        ),
        _ => ("doc comment", "say in `///` what it is for"),
    };
    let fact = [
        "agent `",
        used.name,
        "` is a tool of agent `",
        agent,
        "` and has no ",
        missing,
    ];
    let mut m = Message::of(Check::ToolUndocumented, &fact);
    m.all(&[", so no model knows when to call it; help: ", remedy]);
    m
}
