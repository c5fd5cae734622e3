//! Functions without an attribute of ours, as steps and as tools. rustc would say that it expects a type, and propose another.

use super::super::ast::{Decl, DeclKind};
use super::super::names::plain;
use super::super::plan::Plan;
use super::super::report::Report;
use crate::source::Call;
use crate::twice::ours;
use syn::{Ident, Path};

/// Reports those among the steps.
pub(super) fn steps(plan: &mut Plan<'_>, report: &mut Report) {
    let call = ours();
    for step in plan.steps.iter_mut().filter(|step| step.named) {
        let name = super::names::path(step).and_then(Path::get_ident);
        if let Some(name) = name.filter(|name| is_function(call.as_ref(), name)) {
            let help = "put `#[agent]` on it, with `writes = KEY` for what it returns";
            report.at(name.span(), told(name, "agent", help));
            (step.told, step.named) = (true, false);
        }
    }
}

/// Reports those among the tools, and takes them away. What they may do to the flow is not known.
pub(in super::super) fn tools(agents: &mut [Decl], report: &mut Report) {
    let call = ours();
    let declared: Vec<String> = agents.iter().map(|decl| plain(&decl.name)).collect();
    for decl in agents {
        let DeclKind::Llm { fields, .. } = &mut decl.kind else { continue };
        let before = fields.tools.len();
        fields.tools.retain(|tool| {
            let name = tool.path.get_ident().filter(|name| is_function(call.as_ref(), name));
            let Some(name) = name.filter(|name| !declared.contains(&plain(name))) else { return true };
            let (what, help) = match tool.is_agent {
                true => ("agent", "put `#[agent]` on it"),
                false => ("tool", "put `#[tool]` on it, below a doc comment that says when to use it"),
            };
            report.at(name.span(), told(name, what, help));
            false
        });
        fields.vague |= fields.tools.len() < before;
    }
}

fn is_function(call: Option<&Call>, name: &Ident) -> bool {
    call.is_some_and(|call| call.is_function(&plain(name)))
}

fn told(name: &Ident, what: &str, help: &str) -> String {
    format!("{what}-attribute: `{name}` is a function without `#[{what}]`, so it is no {what}; help: {help}")
}
