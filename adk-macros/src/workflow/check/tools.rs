//! Agents as tools: they are written `agent(NAME)`, and a workflow makes them itself, so none can be what a caller supplies.

use super::super::ast::{Decl, DeclKind};
use super::super::names::{nearest, plain};
use super::super::report::Report;
use crate::source::{Plain, Scope};
use crate::twice::ours;
use syn::{Ident, Path};

/// Reports the agents of this workflow that stand among the tools by their names alone, and takes them away: rustc would say that
/// there is no such type. What they may do to the flow is not known.
pub(in super::super) fn agents(agents: &mut [Decl], report: &mut Report) {
    let is_llm = |decl: &Decl| matches!(decl.kind, DeclKind::Llm { .. });
    let declared: Vec<_> = agents.iter().map(|decl| (plain(&decl.name), is_llm(decl))).collect();
    for decl in agents {
        let by = plain(&decl.name);
        let DeclKind::Llm { fields, .. } = &mut decl.kind else { continue };
        let before = fields.tools.len();
        fields.tools.retain_mut(|tool| {
            let Some(ident) = own(&tool.path).filter(|_| !tool.is_agent) else { return true };
            let name = plain(ident);
            let Some((_, is_llm)) = declared.iter().find(|(own, _)| *own == name) else { return true };
            if !is_free(&name) {
                return true;
            }
            if !is_llm {
                // It is told that the caller adds it.
                tool.path = ident.clone().into();
                tool.is_agent = true;
                return true;
            }
            let text = if name == by { format!("agent-reused: agent `{name}` is a tool of its own; help: remove it from its tools") } else { format!("syntax: `{name}` is an agent of this workflow, and no `#[tool]`; help: an agent as a tool is written `agent({name})`") };
            report.at(ident.span(), text);
            false
        });
        fields.vague |= fields.tools.len() < before;
    }
}

/// Reports the tools `agent(NAME)` of which nothing has the name and an agent of this workflow nearly has it, and takes them away. What
/// they may do to the flow is not known.
pub(in super::super) fn misspelt(agents: &mut [Decl], report: &mut Report) {
    let declared: Vec<_> = agents.iter().map(|decl| plain(&decl.name)).collect();
    for decl in agents {
        let by = plain(&decl.name);
        let DeclKind::Llm { fields, .. } = &mut decl.kind else { continue };
        let before = fields.tools.len();
        fields.tools.retain(|tool| {
            let Some(ident) = tool.path.get_ident().filter(|_| tool.is_agent) else { return true };
            let name = plain(ident);
            let others = declared.iter().map(String::as_str).filter(|other| *other != by);
            let is_nothing = !declared.contains(&name) && ours().is_some_and(|call| call.is_nothing(&name));
            let Some(near) = nearest(&name, others).filter(|_| is_nothing) else { return true };
            report.at(
                ident.span(),
                format!("syntax: there is no agent `{name}`; help: did you mean `{near}`?"),
            );
            false
        });
        fields.vague |= fields.tools.len() < before;
    }
}

/// The name of what stands in this module, or in the workflow.
fn own(path: &Path) -> Option<&Ident> {
    let mut segments = path.segments.iter().map(|segment| &segment.ident).peekable();
    segments.next_if(|first| *first == "self");
    segments.next().filter(|_| segments.next().is_none() && path.leading_colon.is_none())
}

/// Whether certainly nothing around the workflow has that name, such as a tool that is called like an agent.
fn is_free(name: &str) -> bool {
    ours().is_some_and(|call| {
        // A `use` with `*` may bring anything.
        let is_none = |name: &str| call.plain(name) == Plain::default();
        call.around.scope == Scope::Module && call.given == (0, 0) && is_none(name) && is_none("*")
    })
}

/// Reports the agents among the tools that the caller supplies. Lowering leaves them out.
pub(super) fn workflow(agents: &[Decl], report: &mut Report) {
    let is_supplied = |name: &str| {
        let decl = agents.iter().find(|decl| plain(&decl.name) == name);
        decl.is_some_and(|decl| !matches!(decl.kind, DeclKind::Llm { .. }))
    };
    for decl in agents {
        let DeclKind::Llm { fields, .. } = &decl.kind else {
            continue;
        };
        for tool in fields.tools.iter().filter(|tool| tool.is_agent) {
            if let Some(ident) = tool.path.get_ident().filter(|ident| is_supplied(&plain(ident))) {
                let (by, name) = (plain(&decl.name), plain(ident));
                report.at(ident.span(), format!(
                    "syntax: `{name}` is supplied by the caller, and the tools that `{by}` declares are made by the workflow; help: let the caller add it, with `workflow.{by}.add_tool(AgentTool::new(...))`"
                ));
            }
        }
    }
}
