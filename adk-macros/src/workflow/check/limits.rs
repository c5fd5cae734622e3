//! `loop-max`: limits that are no number, or a key of the workflow. Constants are looked at in const evaluation.

use super::super::ast::{BlockKind, Limit, Workflow};
use super::super::names::plain;
use super::super::plan::{self, Plan};
use crate::diag::Diagnostics;
use adk_spec::check::Check;
use proc_macro2::Span;
use quote::ToTokens;
use std::collections::HashSet;
use syn::spanned::Spanned;
use syn::{Expr, Lit, UnOp};

/// Looks at every block.
pub(super) fn workflow(tree: &Workflow, plan: &Plan<'_>, report: &mut Diagnostics) {
    let keys: HashSet<String> = super::declared(tree).map(|typed| plain(&typed.key.name)).collect();
    for step in &plan.steps {
        let plan::What::Block(block) = step.what else { continue };
        let limits = match &block.kind {
            BlockKind::Loop { max, .. } => [(max, ROUNDS), (&None, ROUNDS)],
            BlockKind::Parallel { max_concurrency, .. } => [(max_concurrency, BRANCHES), (&None, BRANCHES)],
            BlockKind::Each { max, max_concurrency, .. } => [(max, ELEMENTS), (max_concurrency, BRANCHES)],
            BlockKind::Try(tried) => [(&tried.attempts, ATTEMPTS), (&None, ATTEMPTS)],
            _ => continue,
        };
        for (limit, what) in limits {
            if let Some(limit) = limit {
                look_at(limit, what, &keys, report);
            }
        }
    }
}

/// The check that a limit belongs to, its name, what it is, and what is wrong when it reads a key.
type What = (Check, &'static str, &'static str, &'static str);

const ROUNDS: What = (
    Check::LoopMax,
    "max",
    "the largest number of rounds, 1 or more, as in `max = 5`",
    "`max` is fixed when the workflow is compiled, but this reads a key; help: write the largest number that you want to allow, and lower it before a run with `set_max` on the field of the loop",
);
const BRANCHES: What = (
    Check::Syntax,
    "max_concurrency",
    "the largest number of branches at a time, 1 or more, as in `max_concurrency = 4`",
    "`max_concurrency` is fixed when the workflow is compiled, but this reads a key; help: write a number",
);
const ELEMENTS: What = (
    Check::Syntax,
    "max",
    "the largest number of elements, 1 or more, as in `max = 20`",
    "`max` is fixed when the workflow is compiled, but this reads a key; help: write a number",
);
const ATTEMPTS: What = (
    Check::Syntax,
    "attempts",
    "the largest number of attempts, 1 or more, as in `attempts = 3`",
    "`attempts` is fixed when the workflow is compiled, but this reads a key; help: write a number",
);

fn look_at(limit: &Limit, what: What, keys: &HashSet<String>, report: &mut Diagnostics) {
    let (check, name, what, reads) = what;
    if let Some(found) = fault(&limit.expr) {
        let start = limit.expr.to_token_stream().into_iter().next();
        let span = start.map_or_else(Span::call_site, |token| token.span());
        report.at(check, span, format!("`{name}` is {found}; help: it is {what}"));
    }
    if let Expr::Path(path) = &*limit.expr
        && path.path.get_ident().is_some_and(|name| keys.contains(&plain(name)))
    {
        report.at(check, path.span(), reads);
    }
}

/// What an expression is that can be no limit.
fn fault(limit: &Expr) -> Option<&'static str> {
    match limit {
        Expr::Range(_) => Some("a range"),
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) if !number.suffix().starts_with('f') => match number.base10_parse::<u32>() {
                Ok(0) => Some("0"),
                Ok(_) => None,
                Err(_) => Some("too large"),
            },
            _ => Some("not a whole number"),
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) && matches!(*unary.expr, Expr::Lit(_)) => {
            Some("negative")
        }
        _ => None,
    }
}
