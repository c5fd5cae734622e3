//! Agents that are tools of each other in a circle: rustc would speak of a cycle among the consts that describe them.

use super::super::ast::{Decl, DeclKind, Fields, Tool};
use super::super::names::{path_text, plain};
use super::super::report::Report;
use std::collections::HashSet;
use syn::{Ident, Path};

/// Reports what closes a circle, and takes it from the tools. `workflow` is the name of the one that declares the agents.
pub(in super::super) fn circles(agents: &mut [Decl], workflow: Option<&Ident>, report: &mut Report) {
    let names: Vec<String> = agents.iter().map(|decl| plain(&decl.name)).collect();
    let number = |path: &Path| {
        let name = plain(path.get_ident()?);
        names.iter().position(|declared| *declared == name)
    };
    // Whom each agent has below it: its targets, then, one by one, the agents that are its tools.
    let mut below: Vec<HashSet<usize>> = agents
        .iter()
        .map(|decl| fields(decl).iter().flat_map(|all| &all.transfer).filter_map(number).collect())
        .collect();
    for (by, decl) in agents.iter_mut().enumerate() {
        let own = workflow.map_or_else(|| plain(&decl.name), plain);
        let paths: Vec<Path> = tools(decl).cloned().collect();
        let back = crate::calls::back(&own, &paths);
        let leads_to_itself =
            |tool: &Tool| back.get(&crate::calls::names(&tool.path)).is_some_and(Vec::is_empty);
        let agent = plain(&decl.name);
        let DeclKind::Llm { fields, .. } = &mut decl.kind else { continue };
        fields.tools.retain(|tool| {
            // It has the name of a type that is none of ours, which is told where ours is.
            if tool.path.get_ident().is_some_and(crate::twice::is_taken) {
                return false;
            }
            let text = match number(&tool.path).filter(|_| tool.is_agent) {
                Some(tool) if reaches(&below, tool, by) => told(&names, by, tool),
                Some(tool) => {
                    below.get_mut(by).map(|all| all.insert(tool));
                    return true;
                }
                None if tool.is_agent && (is_itself(&tool.path, workflow) || workflow.is_some() && leads_to_itself(tool)) => format!(
                    "agent-reused: `{}` is this workflow itself, which cannot be a tool of its own agents; help: remove it, or declare a workflow of its own for what the tool does",
                    path_text(&tool.path)
                ),
                None if tool.is_agent && leads_to_itself(tool) => told(&names, by, by),
                None => match back.get(&crate::calls::names(&tool.path)) {
                    Some(way) if tool.is_agent => format!(
                        "{}, so it cannot be a tool of agent `{agent}`; help: take one of these tools or steps away, or declare a second agent for it",
                        crate::calls::told(way, &own)
                    ),
                    _ => return true,
                },
            };
            let span = super::super::names::last(&tool.path).map_or_else(proc_macro2::Span::call_site, Ident::span);
            report.at(span, text);
            false
        });
        if workflow.is_none() {
            crate::calls::know(&own, tools(decl));
        }
    }
}

/// The agents that are tools of an agent, by their paths.
pub(super) fn tools(decl: &Decl) -> impl Iterator<Item = &Path> {
    let tools = fields(decl).into_iter().flat_map(|fields| &fields.tools);
    tools.filter(|tool| tool.is_agent).map(|tool| &tool.path)
}

fn fields(decl: &Decl) -> Option<&Fields> {
    match &decl.kind {
        DeclKind::Llm { fields, .. } => Some(fields),
        _ => None,
    }
}

fn told(names: &[String], by: usize, tool: usize) -> String {
    let name = |number: usize| names.get(number).map(String::as_str).unwrap_or_default();
    let (by, tool) = (name(by), name(tool));
    if by == tool {
        format!("agent-reused: agent `{by}` is a tool of its own; help: remove `agent({by})` from its tools")
    } else {
        format!(
            "agent-reused: agent `{by}` has `{tool}` as a tool, from which it is reached itself; help: remove one of the two, or declare a second agent for it"
        )
    }
}

/// Whether one agent is another, or has it below it.
fn reaches(below: &[HashSet<usize>], from: usize, to: usize) -> bool {
    let (mut open, mut seen) = (vec![from], HashSet::new());
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        if seen.insert(at) {
            open.extend(below.get(at).into_iter().flatten());
        }
    }
    false
}

/// Whether a path leads to the workflow in which it stands.
pub(super) fn is_itself(path: &Path, workflow: Option<&Ident>) -> bool {
    let mut parts = path.segments.iter().map(|part| &part.ident).peekable();
    parts.next_if(|first| *first == "self");
    workflow.is_some() && path.leading_colon.is_none() && parts.next() == workflow && parts.next().is_none()
}
