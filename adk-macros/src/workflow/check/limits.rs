//! `loop-max`: a key of the workflow as a limit. Numbers are looked at by the parser and in const evaluation.

use super::super::ast::{BlockKind, Workflow};
use super::super::names::plain;
use super::super::plan::{Plan, What};
use super::super::report::Report;
use std::collections::HashSet;
use syn::Expr;
use syn::spanned::Spanned;

/// Looks at every block.
pub(super) fn workflow(tree: &Workflow, plan: &Plan<'_>, report: &mut Report) {
    let keys: HashSet<String> = super::declared(tree).map(|typed| plain(&typed.key.name)).collect();
    for step in &plan.steps {
        let What::Block(block) = step.what else { continue };
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
        if let Expr::Path(path) = &limit.expr
            && path.path.get_ident().is_some_and(|name| keys.contains(&plain(name)))
        {
            report.at(path.span(), text);
        }
    }
}
