//! `loop-max`: a key of the workflow as `max`. Numbers are looked at by the parser and in const evaluation.

use super::super::ast::{BlockKind, Limit, Workflow};
use super::super::bare;
use super::super::names::plain;
use super::super::plan::{Plan, What};
use super::super::report::Report;
use crate::twice::ours;
use quote::ToTokens;
use syn::Expr;
use syn::spanned::Spanned;

/// Looks at every block.
pub(super) fn workflow(tree: &Workflow, plan: &mut Plan<'_>, report: &mut Report) {
    let mut keys: Vec<String> = super::declared(tree).map(|typed| typed.key.name.to_string()).collect();
    keys.extend(plan.steps.iter().filter_map(|step| match step.what {
        What::Block(block) => match &block.kind {
            BlockKind::Each { item, .. } => Some(item.to_string()),
            _ => None,
        },
        What::Await(wait) => Some(wait.typed.key.name.to_string()),
        _ => None,
    }));
    for step in &mut plan.steps {
        let What::Block(block) = step.what else {
            continue;
        };
        let (limit, text) = match &block.kind {
            BlockKind::Loop { max: Some(limit), .. } => (
                limit,
                "loop-max: `max` is fixed when the workflow is compiled, but this reads a key; help: write the largest number that you want to allow, and lower it before a run with `set_max` on the field of the loop",
            ),
            BlockKind::Parallel { max_concurrency: Some(limit) }
            | BlockKind::Each { max_concurrency: Some(limit), .. } => (
                limit,
                "syntax: `max_concurrency` is fixed when the workflow is compiled, but this reads a key; help: write a number",
            ),
            _ => continue,
        };
        if is_key(limit, &keys) || is_nothing(limit) {
            report.at(limit.expr.span(), text);
            step.without_limit = true;
        }
    }
}

/// Whether it is a name that nothing in sight has, and that is spelled like a key: a function may write that.
fn is_nothing(limit: &Limit) -> bool {
    let Expr::Path(path) = &limit.expr else { return false };
    let name = path.path.get_ident().map(plain).filter(|name| name.starts_with(char::is_lowercase));
    name.is_some_and(|name| ours().is_some_and(|call| !call.may_have_value(&name)))
}

/// Whether the expression reads a key, which no const evaluation can know.
fn is_key(limit: &Limit, keys: &[String]) -> bool {
    bare::find(limit.expr.to_token_stream(), &|name| keys.iter().any(|key| name == key)).is_some()
}
