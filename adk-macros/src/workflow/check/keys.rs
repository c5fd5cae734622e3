//! The check `key-duplicate`: keys that are declared twice.

use super::super::ast::{BlockKind, DeclKind, Key, KeyDecl, Workflow};
use super::super::names::unraw;
use super::super::plan::{Plan, StepKind};
use crate::diag::Diagnostics;
use adk_spec::Check;
use proc_macro2::Ident;
use std::collections::{HashMap, HashSet};

/// Reports keys that are declared twice.
pub(super) fn workflow(tree: &Workflow, plan: &Plan<'_>, report: &mut Diagnostics) {
    declared_keys(tree, plan, report);
    if let Some(name) = &tree.name {
        structs(tree, name, report);
    }
    for decl in &tree.items.agents {
        if let DeclKind::Described { reads, .. } = &decl.kind {
            let reads = reads
                .iter()
                .map(|typed| (&typed.key, "a key that the agent reads"));
            unique(reads, &mut HashMap::new(), report);
        }
    }
}

/// Checks inputs, `let`, `state`, and the items of `each`.
fn declared_keys(tree: &Workflow, plan: &Plan<'_>, report: &mut Diagnostics) {
    let inputs = tree
        .inputs
        .iter()
        .map(|input| (&input.typed.key, "an input"));
    let lets = tree
        .items
        .lets
        .iter()
        .map(|one| (&one.typed.key, "a `let`"));
    let states = tree
        .items
        .states
        .iter()
        .map(|typed| (&typed.key, "a `state`"));
    let mut seen = HashMap::new();
    unique(inputs.chain(lets).chain(states), &mut seen, report);
    for step in &plan.steps {
        if let StepKind::Block(block) = step.kind
            && let BlockKind::Each { item, .. } = &block.kind
        {
            let item = Key {
                prefix: None,
                name: item.clone(),
            };
            unique([(&item, "the item of an `each`")], &mut seen, report);
        }
    }
}

/// Checks the names that are derived from keys for the input and output structs.
fn structs(tree: &Workflow, name: &Ident, report: &mut Diagnostics) {
    let inputs = tree.inputs.iter().map(|input| &input.typed);
    one_field_each(inputs, &format!("{name}Input"), report);
    one_field_each(tree.outputs.iter(), &format!("{name}Output"), report);
    let mut seen = HashSet::new();
    for output in &tree.outputs {
        let key = output.key.text();
        if !seen.insert(key.clone()) {
            let text = format!(
                "`{key}` is declared twice as an output; help: remove one of them, or choose \
                 another name"
            );
            report.add(Check::KeyDuplicate, output.key.name.span(), text);
        }
    }
}

/// Checks that no two keys, such as `name` and `user:name`, become the same field of a struct.
fn one_field_each<'a>(
    keys: impl Iterator<Item = &'a KeyDecl>,
    holder: &str,
    report: &mut Diagnostics,
) {
    let mut seen: HashMap<String, String> = HashMap::new();
    for typed in keys {
        let (field, key) = (unraw(&typed.key.name), typed.key.text());
        match seen.get(&field) {
            Some(first) if *first != key => report.add(
                Check::KeyDuplicate,
                typed.key.name.span(),
                format!(
                    "`{first}` and `{key}` are both the field `{field}` of `{holder}`; help: \
                     choose another name for one of them"
                ),
            ),
            Some(_) => {}
            None => drop(seen.insert(field, key)),
        }
    }
}

fn unique<'a>(
    keys: impl IntoIterator<Item = (&'a Key, &'static str)>,
    seen: &mut HashMap<String, &'static str>,
    report: &mut Diagnostics,
) {
    for (declared, what) in keys {
        let key = declared.text();
        match seen.get(&key) {
            None => drop(seen.insert(key, what)),
            Some(first) => {
                let help = match (*first, what) {
                    ("an input", "a `let`") => {
                        "remove one of them; a default of the input is written `KEY: TYPE = VALUE`"
                    }
                    _ => "remove one of them, or choose another name",
                };
                let text =
                    format!("`{key}` is declared twice: as {first} and as {what}; help: {help}");
                let text = if *first == what {
                    format!("`{key}` is declared twice as {what}; help: {help}")
                } else {
                    text
                };
                report.add(Check::KeyDuplicate, declared.name.span(), text);
            }
        }
    }
}
