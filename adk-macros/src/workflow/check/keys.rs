//! `key-duplicate`.

use super::super::ast::{Typed, Workflow};
use super::super::names::plain;
use super::super::report::Report;
use std::collections::HashMap;

/// A key that is declared twice among inputs, `let` and `state`, or among the outputs.
pub(super) fn workflow(tree: &Workflow, report: &mut Report) {
    let inputs = tree.inputs.iter().map(|input| (&input.typed, "an input"));
    let lets = tree.items.lets.iter().map(|one| (&one.typed, "a `let`"));
    let states = tree.items.states.iter().map(|typed| (typed, "a `state`"));
    unique(inputs.chain(lets).chain(states), report);
    unique(tree.outputs.iter().map(|typed| (typed, "an output")), report);
    if let Some(name) = &tree.name {
        let inputs = tree.inputs.iter().map(|input| &input.typed);
        one_field_each(inputs, &format!("{name}Input"), report);
        one_field_each(tree.outputs.iter(), &format!("{name}Output"), report);
    }
    for decl in &tree.items.agents {
        if let super::super::ast::DeclKind::Described { reads, .. } = &decl.kind {
            unique(reads.iter().map(|typed| (typed, "what it reads")), report);
        }
    }
}

/// `name` and `user:name` are two keys, and one field of the struct that holds them.
fn one_field_each<'a>(keys: impl Iterator<Item = &'a Typed>, holder: &str, report: &mut Report) {
    let mut seen: HashMap<String, String> = HashMap::new();
    for typed in keys {
        let (field, key) = (plain(&typed.key.name), typed.key.text());
        match seen.get(&field) {
            Some(first) if *first != key => report.at(
                typed.key.name.span(),
                format!("key-duplicate: `{first}` and `{key}` are both the field `{field}` of `{holder}`; help: choose another name for one of them"),
            ),
            Some(_) => {}
            None => drop(seen.insert(field, key)),
        }
    }
}

fn unique<'a>(keys: impl Iterator<Item = (&'a Typed, &'static str)>, report: &mut Report) {
    let mut seen: HashMap<String, &str> = HashMap::new();
    for (typed, what) in keys {
        let key = typed.key.text();
        match seen.get(&key) {
            None => {
                seen.insert(key, what);
            }
            Some(first) => {
                let help = match (*first, what) {
                    ("an input", "a `let`") => {
                        "remove one of them; a default of the input is written `KEY: TYPE = VALUE`"
                    }
                    _ => "remove one of them, or choose another name",
                };
                let text = format!(
                    "key-duplicate: `{key}` is declared twice: as {first} and as {what}; help: {help}"
                );
                let text = match *first == what {
                    true => format!("key-duplicate: `{key}` is declared twice as {what}; help: {help}"),
                    false => text,
                };
                report.at(typed.key.name.span(), text);
            }
        }
    }
}
