//! `name-reserved`, `name-invalid`, `name-duplicate`, `agent-reused`.

use super::super::ast::{Decl, DeclKind, Workflow};
use super::super::names::{is_identifier, last, path_text, plain};
use super::super::plan::{Plan, Step, What};
use super::super::report::Report;
use super::taken::{Taken, written};
use crate::calls;
use proc_macro2::Span;
use std::collections::{HashMap, HashSet};
use syn::Path;

/// Names of the protocol, and words that open a block.
fn reserved(name: &str) -> Option<&'static str> {
    match name {
        "user" | "model" => Some("events of the user and of models carry it"),
        "sequence" | "parallel" | "each" => Some("it is a word of `workflow!`"),
        _ => None,
    }
}

fn check_reserved(name: &str, span: Span, help: &str, report: &mut Report) -> bool {
    match reserved(name) {
        Some(why) => {
            report.at(span, format!("name-reserved: `{name}` cannot be a name here: {why}; help: {help}"));
            true
        }
        None => false,
    }
}

/// The name of the workflow itself.
pub(super) fn workflow(tree: &Workflow, report: &mut Report) {
    if let Some(name) = &tree.name {
        let step = super::super::names::snake(&plain(name));
        check_reserved(&step, name.span(), "choose another name", report);
    }
}

/// The names of declared agents.
pub(super) fn declared(agents: &[Decl], report: &mut Report) {
    let mut seen: Vec<String> = Vec::new();
    for decl in agents {
        let name = plain(&decl.name);
        if seen.contains(&name) {
            report.at(
                decl.name.span(),
                format!("name-duplicate: an agent `{name}` is declared above; help: choose another name for this one"),
            );
        } else {
            check_reserved(&name, decl.name.span(), "choose another name for the agent", report);
        }
        seen.push(name);
        let DeclKind::Llm { fields, .. } = &decl.kind else {
            continue;
        };
        if let Some(literal) = &fields.name {
            let name = literal.value();
            if !is_identifier(&name) {
                let text = format!(
                    "name-invalid: {name:?} is no name; help: use letters, digits and `_`, not beginning with a digit, as in `\"critic\"`"
                );
                report.at(literal.span(), text);
            } else {
                check_reserved(&name, literal.span(), "choose another name", report);
            }
        }
    }
}

/// The names of steps. Names that stand in other modules are looked at in const evaluation.
pub(super) fn steps(tree: &Workflow, plan: &mut Plan<'_>, report: &mut Report) {
    let mut paths: HashMap<String, ()> = HashMap::new();
    let mut names: HashMap<String, Taken> = HashMap::new();
    names.insert(plan.name.clone(), Taken::Workflow);
    // Names that nobody wrote come first: of two that are equal, the user's is the one to change.
    for step in plan.steps.iter().filter(|step| !step.named) {
        names.insert(step.name.clone(), Taken::Unnamed);
    }
    // Agents that are transferred to have no `as`: the other one is to be named anew.
    for target in &mut plan.targets {
        match names.get(&target.name) {
            Some(taken) if !matches!(taken, Taken::Unnamed) => {
                let text = format!(
                    "name-duplicate: {}; help: give this agent another name",
                    taken.describe(&target.name)
                );
                report.at(target.span, text);
                (target.told, target.field) = (true, None);
            }
            _ => drop(names.insert(target.name.clone(), Taken::Agent)),
        }
    }
    let (back, fields_of) = (back(tree, plan), written(&tree.items.agents));
    let mut used: HashSet<String> = HashSet::new();
    for step in &mut plan.steps {
        if step.name.is_empty() || !step.named {
            continue;
        }
        if itself(tree, step, report)
            || path(step).and_then(Path::get_ident).is_some_and(crate::twice::is_taken)
        {
            step.told = true;
            continue;
        }
        if runs_it(tree, step, &back, report) {
            // Nor has it a name, which may be that of a workflow that runs this one.
            (step.told, step.named) = (true, false);
            continue;
        }
        let is_wrong = step_name(step, report);
        let is_reused = !is_wrong && reused(step, &mut paths, report);
        plan.repeats |= is_reused;
        if is_wrong || is_reused {
            nameless(step);
            continue;
        }
        let now = Taken::by(step);
        let is_new = step.field.as_ref().is_none_or(|field| used.insert(plain(field)));
        match names.get(&step.name) {
            None => {
                names.insert(step.name.clone(), now);
            }
            // The same agent by another path, or another agent: const evaluation knows.
            Some(Taken::Path) if matches!(now, Taken::Path) => {
                (step.field, plan.alike) = (None, true);
            }
            Some(taken) => {
                let name = &step.name;
                let other = taken.describe(name);
                // Of two agents, the one whose `name` is a field is to be named anew.
                let field = fields_of.get(name).filter(|_| taken.is_agent() && now.is_agent());
                let (span, help) = match field {
                    Some(span) => (*span, "write another `name`".to_owned()),
                    None => (step.span, now.remedy(name)),
                };
                report.at(span, format!("name-duplicate: {other}; help: {help}"));
                plan.torn |= matches!(taken, Taken::Workflow | Taken::Unnamed);
                // It has the field by which it was declared all the same.
                let kept = step.field.take().filter(|_| field.is_some() && is_new);
                nameless(step);
                step.field = kept;
            }
        }
    }
    for step in &mut plan.steps {
        if step.told {
            step.field = None;
        }
    }
    fields(plan, report);
}

/// An agent with a `name` of its own is still the field by which it was declared.
fn fields(plan: &mut Plan<'_>, report: &mut Report) {
    let mut seen: HashMap<String, String> = HashMap::new();
    for step in plan.targets.iter_mut().chain(&mut plan.steps) {
        let Some(field) = step.field.as_ref().map(plain) else {
            continue;
        };
        match seen.get(&field) {
            None => drop(seen.insert(field, step.name.clone())),
            Some(first) => {
                // The one that is called like the field is the one to rename.
                let help = Taken::by(step).remedy(&field);
                let text = if *first == field {
                    format!(
                        "name-duplicate: step `{first}` is the field `{field}` already, which this one would be as well; help: {help}"
                    )
                } else {
                    format!(
                        "name-duplicate: step `{first}` was declared as `{field}`, which is its field; help: {help}"
                    )
                };
                report.at(step.span, text);
                nameless(step);
            }
        }
    }
}

/// Takes its name from a step, since what is wrong with it is told. What an agent reads and writes is known all the same, so
/// that what is wrong with its keys and with those of the steps behind it is told in the same compile.
fn nameless(step: &mut Step<'_>) {
    (step.field, step.named) = (None, false);
    step.told |= !step.is_agent();
}

/// A workflow that is a step of its own.
fn itself(tree: &Workflow, step: &Step<'_>, report: &mut Report) -> bool {
    let (What::Path(run), Some(name)) = (step.what, &tree.name) else {
        return false;
    };
    let is_itself = super::circles::is_itself(&run.path, Some(name));
    if is_itself {
        tell_itself(&run.path, name, step, report);
    }
    is_itself
}

fn tell_itself(path: &Path, name: &syn::Ident, step: &Step<'_>, report: &mut Report) {
    let text = format!(
        "agent-reused: `{name}` is this workflow itself, which cannot be a step of its own; help: to repeat steps, put them into `loop(max = 5) < ... >`"
    );
    report.at(last(path).map_or(step.span, |name| name.span()), text);
}

/// The steps that run this workflow in turn, by their paths.
fn back(tree: &Workflow, plan: &Plan<'_>) -> calls::Back {
    let Some(name) = &tree.name else { return calls::Back::new() };
    calls::back(&plain(name), plan.steps.iter().filter_map(path))
}

/// The path of a step that is not declared here.
pub(super) fn path<'t>(step: &Step<'t>) -> Option<&'t Path> {
    match step.what {
        What::Path(run) => Some(&run.path),
        _ => None,
    }
}

/// A workflow that runs this one.
fn runs_it(tree: &Workflow, step: &Step<'_>, back: &calls::Back, report: &mut Report) -> bool {
    let (Some(path), Some(own)) = (path(step), &tree.name) else { return false };
    let Some(way) = back.get(&calls::names(path)) else { return false };
    if way.is_empty() {
        tell_itself(path, own, step, report);
        return true;
    }
    let fact = calls::told(way, &plain(own));
    let help = "take one of these steps away, or repeat steps with `loop(max = 5) < ... >`";
    let span = last(path).map_or(step.span, |name| name.span());
    report.at(span, format!("{fact}, so it cannot be a step of it; help: {help}"));
    true
}

/// A name that cannot be one.
fn step_name(step: &Step<'_>, report: &mut Report) -> bool {
    if let What::Declared(run, _) = step.what
        && run.alias.is_none()
    {
        // Reported where it is declared.
        return reserved(&step.name).is_some() || !is_identifier(&step.name);
    }
    let help = match step.what {
        What::Path(run) if run.alias.is_none() => {
            let path = path_text(&run.path);
            if step.field.is_none() {
                let text = format!(
                    "name-invalid: `{path}` gives the step the name `{}`, which is a keyword of Rust; help: name it with `as`",
                    step.name
                );
                report.at(step.span, text);
                return true;
            }
            match run.path.get_ident().filter(|_| matches!(&*step.name, "sequence" | "parallel" | "each")) {
                Some(word) if *word == "each" => {
                    "a block has its steps in `< >`, as in `each item in items < step >`".into()
                }
                Some(word) => format!("a block has its steps in `< >`, as in `{word} < step; step >`"),
                None => format!("name the step with `as`, as in `{path} as first_{}`", step.name),
            }
        }
        _ => "choose another name".into(),
    };
    check_reserved(&step.name, step.span, &help, report)
}

/// The same path twice without `as`.
fn reused(step: &Step<'_>, seen: &mut HashMap<String, ()>, report: &mut Report) -> bool {
    let (What::Path(run) | What::Declared(run, _)) = step.what else {
        return false;
    };
    if run.alias.is_some() {
        return false;
    }
    let path = path_text(&run.path);
    if seen.insert(path.clone(), ()).is_none() {
        return false;
    }
    let name = last(&run.path).map(plain).unwrap_or_default();
    report.at(
        step.span,
        format!(
            "agent-reused: `{path}` is a step of this workflow already; help: a second instance needs a name of its own, as in `{path} as second_{}`",
            super::super::names::snake(&name)
        ),
    );
    true
}
