//! A step that is written as the type of an agent that the caller supplies, which no step runs by its name.

use super::super::ast::{Decl, DeclKind, Workflow};
use super::super::names::plain;
use super::super::plan::{Plan, Step, What};
use super::super::report::Report;
use quote::ToTokens as _;
use std::collections::HashSet;
use syn::Type;

/// Reports such steps, and takes them for what was meant.
pub(super) fn steps(tree: &Workflow, plan: &mut Plan<'_>, report: &mut Report) {
    let placed: HashSet<usize> = plan.steps.iter().filter_map(Step::declared).collect();
    let agents = tree.items.agents.iter().enumerate();
    let unplaced = agents.filter(|(number, decl)| type_of(decl).is_some() && !placed.contains(number));
    for (number, decl) in unplaced {
        let Some(step) = plan.steps.iter_mut().find(|step| is_its_type(decl, step)) else { continue };
        let What::Path(run) = step.what else { continue };
        let (name, ty) = (plain(&decl.name), super::super::names::path_text(&run.path));
        let text =
            format!("syntax: `{ty}` is the type of the agent `{name}`; help: run it by its name, `{name}`");
        report.at(step.span, text);
        step.what = What::Declared(run, number);
        (step.near, step.astray) = (None, false);
        if run.alias.is_none() {
            (step.name, step.field) = (name, Some(decl.name.clone()));
        }
    }
}

/// That of one that the caller supplies.
fn type_of(decl: &Decl) -> Option<&Type> {
    match &decl.kind {
        DeclKind::Given { ty } | DeclKind::Described { ty, .. } => Some(ty),
        DeclKind::Llm { .. } => None,
    }
}

fn is_its_type(decl: &Decl, step: &Step<'_>) -> bool {
    let (Some(ty), What::Path(run)) = (type_of(decl), step.what) else { return false };
    ty.to_token_stream().to_string() == run.path.to_token_stream().to_string()
}
