//! The checks `name-reserved`, `name-invalid`, `name-duplicate` and `agent-reused`.

use super::super::ast::{Decl, DeclKind, Workflow};
use super::super::names::{is_identifier, last_segment, path_text, unraw};
use super::super::plan::{Plan, Step, StepKind};
use super::name_owner::{NameOwner, name_fields};
use crate::diag::Diagnostics;
use adk_spec::Check;
use proc_macro2::Span;
use std::collections::{HashMap, HashSet};

/// Returns why a name is reserved: the protocol uses it, or it opens a block.
fn reserved_reason(name: &str) -> Option<&'static str> {
    match name {
        "user" | "model" => Some("events of the user and of models carry it"),
        "sequence" | "parallel" | "each" => Some("it is a word of `workflow!`"),
        _ => None,
    }
}

fn check_reserved(name: &str, span: Span, help: &str, report: &mut Diagnostics) -> bool {
    match reserved_reason(name) {
        Some(why) => {
            report.add(
                Check::NameReserved,
                span,
                format!("`{name}` cannot be a name here: {why}; help: {help}"),
            );
            true
        }
        None => false,
    }
}

/// Checks the name of the workflow.
pub(super) fn workflow(tree: &Workflow, report: &mut Diagnostics) {
    if let Some(name) = &tree.name {
        let step = super::super::names::snake_case(&unraw(name));
        check_reserved(&step, name.span(), "choose another name", report);
    }
}

pub(super) fn agents(agents: &[Decl], report: &mut Diagnostics) {
    let mut seen: Vec<String> = Vec::new();
    for decl in agents {
        let name = unraw(&decl.name);
        if seen.contains(&name) {
            report.add(
                Check::NameDuplicate,
                decl.name.span(),
                format!(
                    "an agent `{name}` is declared above; help: choose another name for this one"
                ),
            );
        } else {
            check_reserved(
                &name,
                decl.name.span(),
                "choose another name for the agent",
                report,
            );
        }
        seen.push(name);
        let DeclKind::Llm { fields, .. } = &decl.kind else {
            continue;
        };
        if let Some(literal) = &fields.name {
            let name = literal.value();
            if !is_identifier(&name) {
                let text = format!(
                    "{name:?} is no name; help: use letters, digits and `_`, not beginning with a \
                     digit, as in `\"critic\"`"
                );
                report.add(Check::NameInvalid, literal.span(), text);
            } else {
                check_reserved(&name, literal.span(), "choose another name", report);
            }
        }
    }
}

/// Checks the names of steps. Const evaluation checks names that come from other modules.
pub(super) fn steps(tree: &Workflow, plan: &mut Plan<'_>, report: &mut Diagnostics) {
    let mut paths: HashSet<String> = HashSet::new();
    let mut names: HashMap<String, NameOwner> = HashMap::new();
    names.insert(plan.name.clone(), NameOwner::Workflow);
    // Generated names come first: if a name of the user is equal to one, the user can change it.
    for step in plan.steps.iter().filter(|step| !step.named) {
        names.insert(step.name.clone(), NameOwner::Unnamed);
    }
    // A target of transfers cannot be renamed with `as`, so the other step has to get a new name.
    for target in &plan.targets {
        let help = match target.kind {
            StepKind::TargetPath(path) => {
                let (name, path) = (&target.name, path_text(path));
                format!("declare this one under another name, as in `agent second_{name}: {path};`")
            }
            _ => "give this agent another name".to_owned(),
        };
        match names.get(&target.name) {
            Some(taken) if !matches!(taken, NameOwner::Unnamed) => {
                let fact = taken.describe(&target.name);
                report.add(
                    Check::NameDuplicate,
                    target.span,
                    format!("{fact}; help: {help}"),
                );
            }
            _ if matches!(target.kind, StepKind::TargetPath(_))
                && check_reserved(&target.name, target.span, &help, report) => {}
            _ => drop(names.insert(target.name.clone(), NameOwner::Agent)),
        }
    }
    let written = name_fields(&tree.items.agents);
    for step in plan
        .steps
        .iter_mut()
        .filter(|step| !step.name.is_empty() && step.named)
    {
        if is_own_step(tree, step, report) {
            // The struct would contain itself.
            step.field = None;
            continue;
        }
        if has_invalid_name(step, report) || is_reused(step, &mut paths, report) {
            continue;
        }
        let now = NameOwner::from_step(step);
        match names.get(&step.name) {
            None => drop(names.insert(step.name.clone(), now)),
            // Only const evaluation knows whether the paths lead to the same agent.
            Some(NameOwner::Path) if matches!(now, NameOwner::Path) => {
                (step.field, plan.alike) = (None, true)
            }
            Some(taken) => {
                let name = &step.name;
                // If one of two agents has a `name` field, that field is the name to change.
                let field = written
                    .get(name)
                    .filter(|_| taken.is_agent() && now.is_agent());
                let (span, help) = match field {
                    Some(span) => (*span, "write another `name`".to_owned()),
                    None if matches!(taken, NameOwner::Workflow) => {
                        (step.span, "rename one of them".to_owned())
                    }
                    None => (step.span, now.remedy(name)),
                };
                report.add(
                    Check::NameDuplicate,
                    span,
                    format!("{}; help: {help}", taken.describe(name)),
                );
            }
        }
    }
    if report.is_empty() {
        fields(plan, report);
    }
}

/// Checks the fields: an agent with a `name` still has the field of its declaration.
fn fields(plan: &Plan<'_>, report: &mut Diagnostics) {
    let mut seen: HashMap<String, &str> = HashMap::new();
    for step in plan.targets.iter().chain(&plan.steps) {
        let Some(field) = step.field.as_ref().map(unraw) else {
            continue;
        };
        match seen.get(&field) {
            None => drop(seen.insert(field, &step.name)),
            Some(first) => {
                // The step with the name of the field is the step to rename.
                let help = NameOwner::from_step(step).remedy(&field);
                let fact = if *first == field {
                    format!(
                        "step `{first}` is the field `{field}` already, which this step would be \
                         too"
                    )
                } else {
                    format!("step `{first}` was declared as `{field}`, which is its field")
                };
                report.add(
                    Check::NameDuplicate,
                    step.span,
                    format!("{fact}; help: {help}"),
                );
            }
        }
    }
}

/// Reports a workflow that is its own step, and returns whether it did.
fn is_own_step(tree: &Workflow, step: &Step<'_>, report: &mut Diagnostics) -> bool {
    let (StepKind::Path(run), Some(name)) = (step.kind, &tree.name) else {
        return false;
    };
    let is_itself = run.path.is_ident(name);
    if is_itself {
        let text = format!(
            "`{name}` is this workflow itself, which cannot be a step of its own; help: to repeat \
             steps, put them into `loop(max = 5) < ... >`"
        );
        report.add(Check::AgentReused, step.span, text);
    }
    is_itself
}

/// Reports a name that a step cannot have, and returns whether it did.
fn has_invalid_name(step: &Step<'_>, report: &mut Diagnostics) -> bool {
    if let StepKind::Declared(run, _) = step.kind
        && run.alias.is_none()
    {
        // The declaration reports the error.
        return reserved_reason(&step.name).is_some() || !is_identifier(&step.name);
    }
    let help = match step.kind {
        StepKind::Path(run) if run.alias.is_none() => {
            let path = path_text(&run.path);
            if step.field.is_none() {
                let text = format!(
                    "`{path}` gives the step the name `{}`, which is a keyword of Rust; help: name \
                     it with `as`",
                    step.name
                );
                report.add(Check::NameInvalid, step.span, text);
                return true;
            }
            format!(
                "name the step with `as`, as in `{path} as first_{}`",
                step.name
            )
        }
        _ => "choose another name".into(),
    };
    check_reserved(&step.name, step.span, &help, report)
}

/// Reports a path that occurs twice without `as`, and returns whether it did.
fn is_reused(step: &Step<'_>, seen: &mut HashSet<String>, report: &mut Diagnostics) -> bool {
    let (StepKind::Path(run) | StepKind::Declared(run, _)) = step.kind else {
        return false;
    };
    if run.alias.is_some() {
        return false;
    }
    let path = path_text(&run.path);
    if seen.insert(path.clone()) {
        return false;
    }
    let name = last_segment(&run.path).map(unraw).unwrap_or_default();
    report.add(
        Check::AgentReused,
        step.span,
        format!(
            "`{path}` is a step of this workflow already; help: a second instance needs a name of \
             its own, as in `{path} as second_{}`",
            super::super::names::snake_case(&name)
        ),
    );
    true
}
