//! Agents as tools: `agent(NAME)`. The workflow creates them, so the caller cannot supply them.

use super::super::ast::{Decl, DeclKind, Fields, Tool, Workflow};
use super::super::names::{last_segment, unraw};
use crate::diag::Diagnostics;
use adk_spec::Check;
use proc_macro2::{Ident, Span};

/// Reports agents that are tools although the caller supplies them.
pub(super) fn workflow(agents: &[Decl], report: &mut Diagnostics) {
    let is_supplied = |name: &str| {
        let decl = agents.iter().find(|decl| unraw(&decl.name) == name)?;
        match &decl.kind {
            DeclKind::Llm { fields, .. } => {
                (!fields.tools.sets.is_empty()).then_some("has a toolset that is")
            }
            _ => Some("is"),
        }
    };
    for decl in agents {
        let DeclKind::Llm { fields, .. } = &decl.kind else {
            continue;
        };
        for tool in fields.tools.list.iter().filter(|tool| tool.is_agent) {
            let supplied = tool
                .path
                .get_ident()
                .and_then(|ident| Some((ident, is_supplied(&unraw(ident))?)));
            if let Some((ident, is)) = supplied {
                let (by, name) = (unraw(&decl.name), unraw(ident));
                report.add(Check::Syntax, ident.span(), format!(
                    "`{name}` {is} supplied by the caller, and the tools that `{by}` declares are \
                     made by the workflow; help: write `tools: [..]`, and let the caller add it, \
                     with `workflow.{by}.add_tool(AgentTool::new(...))`"
                ));
            }
        }
    }
}

/// Reports agents that are tools of themselves, and removes these tools: their descriptions would
/// be infinite.
pub(super) fn circles(tree: &mut Workflow, report: &mut Diagnostics) {
    let name = tree.name.clone();
    let agents = &mut tree.items.agents;
    for number in 0..agents.len() {
        let closing = |tool: &Tool| closes(agents, name.as_ref(), number, tool);
        let Some(fields) = fields(agents, number) else {
            continue;
        };
        let closing: Vec<bool> = fields.tools.list.iter().map(closing).collect();
        report_circles(agents, number, &closing, report);
        if let Some(DeclKind::Llm { fields, .. }) =
            agents.get_mut(number).map(|decl| &mut decl.kind)
        {
            let mut closing = closing.into_iter();
            fields
                .tools
                .list
                .retain(|_| !closing.next().unwrap_or_default());
        }
    }
}

/// Reports agents outside a workflow that are tools of themselves.
pub(super) fn single_agent_circles(agents: &[Decl], report: &mut Diagnostics) {
    for number in 0..agents.len() {
        let Some(fields) = fields(agents, number) else {
            continue;
        };
        let closing: Vec<bool> = fields
            .tools
            .list
            .iter()
            .map(|tool| closes(agents, None, number, tool))
            .collect();
        report_circles(agents, number, &closing, report);
    }
}

fn fields(agents: &[Decl], number: usize) -> Option<&Fields> {
    match &agents.get(number)?.kind {
        DeclKind::Llm { fields, .. } => Some(fields),
        _ => None,
    }
}

/// Returns whether a tool of an agent leads back to the agent through tools and targets, or is the
/// workflow that declares the agent.
fn closes(agents: &[Decl], workflow: Option<&Ident>, owner: usize, tool: &Tool) -> bool {
    let Some(name) = tool.path.get_ident().filter(|_| tool.is_agent) else {
        return false;
    };
    if workflow.is_some_and(|workflow| workflow == name) {
        return true;
    }
    let mut seen = vec![false; agents.len()];
    let mut next: Vec<usize> = agent_number(agents, name).into_iter().collect();
    while let Some(number) = next.pop() {
        if number == owner {
            return true;
        }
        if seen
            .get_mut(number)
            .is_none_or(|seen| std::mem::replace(seen, true))
        {
            continue;
        }
        let Some(fields) = fields(agents, number) else {
            continue;
        };
        let tools = fields
            .tools
            .list
            .iter()
            .filter(|tool| tool.is_agent)
            .map(|tool| &tool.path);
        let below = tools
            .chain(&fields.transfer)
            .filter_map(|path| path.get_ident());
        next.extend(below.filter_map(|name| agent_number(agents, name)));
    }
    false
}

fn agent_number(agents: &[Decl], name: &Ident) -> Option<usize> {
    agents
        .iter()
        .position(|decl| unraw(&decl.name) == unraw(name))
}

fn report_circles(agents: &[Decl], number: usize, closing: &[bool], report: &mut Diagnostics) {
    let (Some(decl), Some(fields)) = (agents.get(number), fields(agents, number)) else {
        return;
    };
    let by = unraw(&decl.name);
    for (tool, _) in fields
        .tools
        .list
        .iter()
        .zip(closing)
        .filter(|(_, closes)| **closes)
    {
        let (name, span) = last_segment(&tool.path)
            .map_or((String::new(), Span::call_site()), |name| {
                (unraw(name), name.span())
            });
        let fact = if name == by {
            format!(
                "agent `{by}` is a tool of itself; help: remove `agent({by})` from its tools, and \
                 repeat it in a loop, as in `loop(max = 5) < {by} >`"
            )
        } else {
            format!(
                "`{name}` is a tool of agent `{by}`, and has `{by}` inside of it; help: remove one \
                 of the two"
            )
        };
        report.add(Check::AgentReused, span, fact);
    }
}
