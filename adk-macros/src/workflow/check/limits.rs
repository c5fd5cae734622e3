//! `loop-max`: limits that are no number, or a key of the workflow. Constants are looked at in const evaluation.

use super::super::ast::{Counted, Limit, Workflow};
use super::super::names::plain;
use super::super::plan::{Plan, What};
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
        let What::Block(block) = step.what else { continue };
        block.kind.limits().for_each(|limit| look_at(limit, &keys, report));
    }
}

fn look_at(limit: &Limit, keys: &HashSet<String>, report: &mut Diagnostics) {
    let (name, is_loop) = (limit.of.argument(), limit.of == Counted::Rounds);
    let check = if is_loop { Check::LoopMax } else { Check::Syntax };
    if let Some(found) = fault(&limit.expr) {
        let start = limit.expr.to_token_stream().into_iter().next();
        let span = start.map_or_else(Span::call_site, |token| token.span());
        report.at(check, span, format!("`{name}` is {found}; help: it is {}", limit.of.what()));
    }
    if let Expr::Path(path) = &*limit.expr
        && path.path.get_ident().is_some_and(|name| keys.contains(&plain(name)))
    {
        let fact = format!("`{name}` is fixed when the workflow is compiled, but this reads a key");
        let help = if is_loop {
            "write the largest number that you want to allow, and lower it before a run with `set_max` on the field of the loop"
        } else {
            "write a number"
        };
        report.at(check, path.span(), format!("{fact}; help: {help}"));
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
