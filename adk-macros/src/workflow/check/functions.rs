//! Functions without an attribute of ours, as steps and as tools. rustc would say that it expects a type, and propose another.

use super::super::ast::{Decl, DeclKind};
use super::super::names::plain;
use super::super::plan::Plan;
use super::super::report::Report;
use crate::source::{Call, Place};
use crate::twice::ours;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use syn::{Ident, Path};

/// Reports those among the steps.
pub(super) fn steps(plan: &mut Plan<'_>, report: &mut Report) {
    let call = ours();
    for step in plan.steps.iter_mut().filter(|step| step.named) {
        let name = super::names::path(step).and_then(Path::get_ident);
        if let Some(name) = name.filter(|name| is_function(call.as_ref(), name)) {
            let help = "put `#[agent]` on it, with `writes = KEY` for what it returns";
            tell(call.as_ref(), name, ("agent", help), report);
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
            let missing = match tool.is_agent {
                true => ("agent", "put `#[agent]` on it"),
                false => ("tool", "put `#[tool]` on it, below a doc comment that says when to use it"),
            };
            tell(call.as_ref(), name, missing, report);
            false
        });
        fields.vague |= fields.tools.len() < before;
    }
}

fn is_function(call: Option<&Call>, name: &Ident) -> bool {
    call.is_some_and(|call| call.is_function(&plain(name)))
}

/// Tells what a function has not, where it is used first.
fn tell(call: Option<&Call>, name: &Ident, (what, help): (&str, &str), report: &mut Report) {
    static TOLD: Mutex<BTreeSet<(PathBuf, Place, String)>> = Mutex::new(BTreeSet::new());
    let place = call.map(|call| (call.file.clone(), call.around.bracket, plain(name)));
    let is_new = place.is_none_or(|place| TOLD.lock().map_or(true, |mut told| told.insert(place)));
    if is_new {
        let text = format!(
            "{what}-attribute: `{name}` is a function without `#[{what}]`, so it is no {what}; help: {help}"
        );
        report.at(name.span(), text);
    }
}
