//! Functions without an attribute of ours, as steps and as tools. rustc would say that it expects a type, and propose another.

use super::super::ast::{Decl, DeclKind};
use super::super::names::{nearest, plain};
use super::super::plan::Plan;
use super::super::report::Report;
use crate::source::{Call, Definition};
use crate::twice::ours;
use std::collections::BTreeSet;
use std::sync::Mutex;
use syn::Path;

/// Reports those among the steps, and marks the paths that lead nowhere.
pub(super) fn steps(plan: &mut Plan<'_>, report: &mut Report) {
    let call = ours();
    for step in &mut plan.steps {
        let Some((names, call)) = super::names::path(step).map(names).zip(call.as_ref()) else { continue };
        match names.as_slice() {
            [name] if step.near.is_none() && step.name == *name && call.is_nothing(name) => {
                step.meant = nearest(name, call.names()).map(str::to_owned);
                step.astray = step.meant.is_some();
            }
            [_] => {}
            names => step.astray = call.may_be_proposed(names) || call.leads_out(names),
        }
    }
    for step in plan.steps.iter_mut().filter(|step| step.named) {
        if let Some((path, function)) =
            super::names::path(step).and_then(|path| function(call.as_ref(), path))
        {
            let help = "put `#[agent]` on it, with `writes = KEY` for what it returns";
            tell(path, function, ("agent", help), report);
            (step.told, step.named) = (true, false);
        } else if let Some(path) = super::names::path(step).filter(|path| is_lost(call.as_ref(), path)) {
            tell_last(path, "agent", report);
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
            if tool.path.get_ident().is_some_and(|name| declared.contains(&plain(name))) {
                return true;
            }
            if is_lost(call.as_ref(), &tool.path) {
                tell_last(&tool.path, if tool.is_agent { "agent" } else { "tool" }, report);
                return false;
            }
            let Some((path, function)) = function(call.as_ref(), &tool.path) else { return true };
            let missing = if tool.is_agent {
                ("agent", "put `#[agent]` on it")
            } else {
                ("tool", "put `#[tool]` on it, below a doc comment that says when to use it")
            };
            tell(path, function, missing, report);
            false
        });
        fields.vague |= fields.tools.len() < before;
    }
}

/// Whether a path leads to a function without an attribute.
pub(in super::super) fn is_one(path: &Path) -> bool {
    let call = ours();
    function(call.as_ref(), path).is_some() || is_lost(call.as_ref(), path)
}

/// Whether a path leads to a function with an attribute that rustc does not find, and says so.
fn is_lost(call: Option<&Call>, path: &Path) -> bool {
    path.leading_colon.is_none()
        && path.segments.iter().all(|segment| segment.arguments.is_empty())
        && call.is_some_and(|call| call.is_lost_function(&names(path)))
}

/// Says so itself, where rustc says nothing.
fn tell_last(path: &Path, what: &str, report: &mut Report) {
    let Some(name) = path.segments.last().map(|last| &last.ident) else { return };
    report.last(name.span(), format!(
        "{what}-attribute: the attribute of `{name}` is none of ours, so it is no {what}; help: write `#[{what}]`, and import it, as by `use adk::prelude::*`"
    ));
}

/// The function to which a path leads, with the path.
fn function<'p>(call: Option<&Call>, path: &'p Path) -> Option<(&'p Path, Definition)> {
    if path.leading_colon.is_some() || path.segments.iter().any(|segment| !segment.arguments.is_empty()) {
        return None;
    }
    call?.function(&names(path)).map(|function| (path, function))
}

fn names(path: &Path) -> Vec<String> {
    path.segments.iter().map(|segment| plain(&segment.ident)).collect()
}

/// Tells what a function has not, where it is used first.
fn tell(path: &Path, function: Definition, (what, help): (&str, &str), report: &mut Report) {
    static TOLD: Mutex<BTreeSet<Definition>> = Mutex::new(BTreeSet::new());
    let Some(name) = path.segments.last().map(|last| &last.ident) else { return };
    if TOLD.lock().map_or(true, |mut told| told.insert(function)) {
        let text = format!(
            "{what}-attribute: `{name}` is a function without `#[{what}]`, so it is no {what}; help: {help}"
        );
        report.late(name.span(), text);
    }
}
