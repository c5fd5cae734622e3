//! Agents as tools: they are written `agent(NAME)`, and a workflow makes them itself, so none can be what a caller supplies.

use super::super::ast::{Decl, DeclKind};
use super::super::names::plain;
use super::super::report::Report;

/// Reports the agents among the tools that the caller supplies.
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
