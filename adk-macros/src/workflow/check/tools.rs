//! Agents as tools: they are written `agent(NAME)`, and a workflow makes them itself, so none can be what a caller supplies.

use super::super::ast::{Decl, DeclKind};
use super::super::names::plain;
use crate::diag::Diagnostics;
use adk_spec::Check;

/// Reports the agents among the tools that the caller supplies.
pub(super) fn workflow(agents: &[Decl], report: &mut Diagnostics) {
    let is_supplied = |name: &str| {
        let decl = agents.iter().find(|decl| plain(&decl.name) == name)?;
        match &decl.kind {
            DeclKind::Llm { fields, .. } => (!fields.toolsets.is_empty()).then_some("has a toolset that is"),
            _ => Some("is"),
        }
    };
    for decl in agents {
        let DeclKind::Llm { fields, .. } = &decl.kind else {
            continue;
        };
        for tool in fields.tools.iter().filter(|tool| tool.is_agent) {
            let supplied = tool.path.get_ident().and_then(|ident| Some((ident, is_supplied(&plain(ident))?)));
            if let Some((ident, is)) = supplied {
                let (by, name) = (plain(&decl.name), plain(ident));
                report.at(Check::Syntax, ident.span(), format!(
                    "`{name}` {is} supplied by the caller, and the tools that `{by}` declares are made by the workflow; help: write `tools: [..]`, and let the caller add it, with `workflow.{by}.add_tool(AgentTool::new(...))`"
                ));
            }
        }
    }
}
