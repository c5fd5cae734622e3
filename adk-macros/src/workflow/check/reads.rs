//! Guards and fields of agents that read keys, which neither of them sees: rustc would say that there is no such name.

use super::super::ast::{Block, BlockKind, DeclKind, Fields, Match, Node, Timeout, Typed, Workflow};
use super::super::bare::{self, binds};
use super::super::report::Report;
use crate::twice;
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use std::collections::HashSet;
use syn::Expr;
use syn::spanned::Spanned as _;

type Keys = HashSet<String>;

/// Tells of them, and takes them away.
pub(in super::super) fn tell(tree: &mut Workflow, report: &mut Report) {
    let keys = keys(tree);
    for decl in &mut tree.items.agents {
        if let DeclKind::Llm { fields, .. } = &mut decl.kind {
            agent(fields, &keys, report);
        }
    }
    guards(&mut tree.body, &keys, report);
}

/// The keys that the workflow names.
fn keys(tree: &Workflow) -> Keys {
    let mut keys: Keys = super::declared(tree).map(name).collect();
    named(&tree.body, &mut keys);
    keys
}

/// Those that steps name.
fn named(nodes: &[Node], keys: &mut Keys) {
    for node in nodes {
        match node {
            Node::Run(run) => keys.extend(run.writes.iter().map(|key| key.name.to_string())),
            Node::Await(wait) => drop(keys.insert(name(&wait.typed))),
            Node::Block(block) => {
                match &block.kind {
                    BlockKind::Each { item, .. } => drop(keys.insert(item.to_string())),
                    BlockKind::Match(choice) => {
                        choice.arms.iter().filter_map(|arm| arm.node.as_ref()).for_each(|node| {
                            named(std::slice::from_ref(node), keys);
                        });
                    }
                    _ => {}
                }
                named(&block.nodes, keys);
            }
            Node::Break(_) | Node::Unread(_) => {}
        }
    }
}

fn name(typed: &Typed) -> String {
    typed.key.name.to_string()
}

/// The first key that stands in there by itself, where nothing of Rust has its name.
fn read(tokens: TokenStream, keys: &Keys) -> Option<Ident> {
    if binds(tokens.clone()) {
        return None;
    }
    let is_key = |name: &Ident| keys.contains(&name.to_string());
    let found = bare::find(tokens, &is_key)?;
    let is_lower = found.to_string().starts_with(char::is_lowercase);
    (is_lower && !twice::may_be_value(&found)).then_some(found)
}

/// The fields of an agent whose values are made before the run.
fn agent(fields: &mut Fields, keys: &Keys, report: &mut Report) {
    for (word, value) in
        [("instruction", &mut fields.instruction), ("global_instruction", &mut fields.global_instruction)]
    {
        let whole = value.as_ref().filter(|value| matches!(value, Expr::Path(_)));
        let Some(key) = whole.and_then(|value| read(value.to_token_stream(), keys)) else { continue };
        let text = format!(
            "syntax: an instruction is a text, and `{key}` a key; help: write `{word}: \"{{{key}}}\"`, in which the key is filled in"
        );
        report.at(key.span(), text);
        (*value, fields.unprompted) = (None, true);
    }
    let mut timeout = match fields.timeout.take() {
        Some(Timeout::Value(value)) => Some(value),
        other => {
            fields.timeout = other;
            None
        }
    };
    let limited = fields.max_turns.is_some();
    for (word, value) in [
        ("model", &mut fields.model),
        ("temperature", &mut fields.temperature),
        ("top_p", &mut fields.top_p),
        ("max_output_tokens", &mut fields.max_output_tokens),
        ("seed", &mut fields.seed),
        ("timeout", &mut timeout),
        ("retry", &mut fields.retry),
        ("max_turns", &mut fields.max_turns),
    ] {
        let Some(key) = value.as_ref().and_then(|value| read(value.to_token_stream(), keys)) else {
            continue;
        };
        let text = format!(
            "syntax: `{word}` is fixed before a run, and `{key}` is a key, which a run writes; help: write a value, which `set_{word}` on the field of the agent changes before a run"
        );
        report.at(value.span(), text);
        *value = None;
    }
    fields.unlimited |= limited && fields.max_turns.is_none();
    fields.timeout = timeout.map(Timeout::Value).or(fields.timeout.take());
}

/// The guards of all arms.
fn guards(nodes: &mut [Node], keys: &Keys, report: &mut Report) {
    for node in nodes {
        let Node::Block(block) = node else { continue };
        let Block { kind, nodes, .. } = &mut **block;
        if let BlockKind::Match(choice) = kind {
            arms(choice, keys, report);
        }
        guards(nodes, keys, report);
    }
}

fn arms(choice: &mut Match, keys: &Keys, report: &mut Report) {
    // The value that is looked at has the name of its key.
    let own = choice.key.name.to_string();
    for arm in &mut choice.arms {
        let guard = arm.guard.as_ref().map(ToTokens::to_token_stream);
        let pattern = arm.pattern.to_token_stream();
        let is_bound =
            |key: &Ident| *key == own || bare::find(pattern.clone(), &|name| name == key).is_some();
        if let Some(key) = guard.and_then(|guard| read(guard, keys)).filter(|key| !is_bound(key)) {
            let text = format!(
                "syntax: a guard sees what its pattern binds, and `{key}` is another key; help: look at it in the arm, as in `PATTERN => match {key} < ... >`, or let a function with `#[agent(writes = KEY)]` say by both what to `match`"
            );
            report.at(key.span(), text);
            choice.whole = false;
        }
        if let Some(node) = &mut arm.node {
            guards(std::slice::from_mut(node), keys, report);
        }
    }
}
