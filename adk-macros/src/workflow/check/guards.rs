//! Keys of `#[guards(...)]` that the workflow does not declare.

use super::super::ast::{Guards, Workflow};
use crate::diag::{Diagnostic, Diagnostics};
use adk_spec::Check;
use adk_spec::nearest::nearest;

/// Reports each guarded key that is neither an input nor a `state`. Const evaluation checks keys
/// with a prefix, because a step of another crate may access them.
pub(super) fn workflow(tree: &Workflow, guards: &Guards, report: &mut Diagnostics) {
    let inputs = tree.inputs.iter().map(|input| &input.typed);
    let known: Vec<_> = inputs
        .chain(&tree.items.states)
        .map(|typed| typed.key.text())
        .collect();
    let all = guards.untrusted.iter().map(|key| (key, true));
    let all = all.chain(guards.private.iter().map(|key| (key, false)));
    for (key, may_be_message) in all.filter(|(key, _)| key.prefix.is_none()) {
        let text = key.text();
        if known.contains(&text) || may_be_message && text == "user" {
            continue;
        }
        let fact = format!("`guards` names `{text}`, which is neither an input nor a `state`");
        let help = match nearest(&text, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if text == "user" => "the message of the run cannot be `private`".to_owned(),
            None => "name an input, a `state` or a key with a prefix; a label such as \
                 `#[tool(untrusted)]` marks what a function returns"
                .to_owned(),
        };
        report.push(
            Diagnostic::new(Check::KeyMissing, key.name.span(), fact)
                .help(help)
                .with_known_flow(),
        );
    }
}
