//! Agents as tools: they are written `agent(NAME)`, and a workflow makes them itself, so none can be what a caller supplies.

use super::super::ast::{Decl, DeclKind};
use super::super::names::plain;
use crate::diag::Diagnostics;
use adk_spec::check::Check;

/// Reports the agents among the tools that the caller supplies.
pub(super) fn workflow(agents: &[Decl], report: &mut Diagnostics) {
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
                report.at(Check::Syntax, ident.span(), format!(
                    "`{name}` is supplied by the caller, and the tools that `{by}` declares are made by the workflow; help: write `tools: [..]`, and let the caller add it, with `workflow.{by}.add_tool(AgentTool::new(...))`"
                ));
            }
        }
    }
}
