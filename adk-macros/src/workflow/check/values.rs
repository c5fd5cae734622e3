//! First values and defaults that read keys: each is computed before anything is written, so no key is a name in it.

use super::super::ast::{Typed, Workflow};
use super::super::bare::{self, binds};
use super::super::report::Report;
use crate::twice;
use quote::ToTokens as _;
use std::collections::HashSet;
use syn::{Ident, parse_quote};

/// Tells of them, and takes the value: rustc would say once or twice that there is no such name.
pub(in super::super) fn tell(tree: &mut Workflow, report: &mut Report) {
    if tree.items.lets.is_empty() && tree.inputs.iter().all(|input| input.default.is_none()) {
        return;
    }
    let inputs = tree.inputs.iter().map(|input| &input.typed);
    let lets = tree.items.lets.iter().map(|one| &one.typed);
    let keys: HashSet<String> = inputs.chain(lets).chain(&tree.items.states).map(name).collect();
    let defaults = tree.inputs.iter_mut().filter_map(|input| Some((&input.typed, input.default.as_mut()?)));
    let defaults = defaults.map(|(typed, value)| (typed, value, "the default of an input"));
    let lets = tree.items.lets.iter_mut().map(|one| (&one.typed, &mut one.value, "the first value of a key"));
    for (typed, value, what) in defaults.chain(lets) {
        let tokens = value.to_token_stream();
        if binds(tokens.clone()) {
            continue;
        }
        // A function may be called like a key.
        let is_key = |name: &Ident| keys.contains(&name.to_string()) && !twice::may_be_value(name);
        let Some(read) = bare::find(tokens, &is_key) else { continue };
        let text = format!(
            "syntax: {what} reads no other key, and this reads `{read}`; help: let a function with `#[agent(writes = {})]` compute it as the first step",
            name(typed)
        );
        report.at(read.span(), text);
        let ty = &typed.ty;
        *value = parse_quote!(::core::option::Option::<#ty>::None.unwrap());
    }
}

fn name(typed: &Typed) -> String {
    typed.key.name.to_string()
}
