//! The check `loop-max`, for limits that name a key of the workflow. Const evaluation checks limits
//! that are constants.

use super::super::ast::{Limit, LimitKind, Node, Workflow};
use super::super::names::unraw;
use crate::diag::Diagnostics;
use adk_spec::Check;
use std::collections::HashSet;
use syn::Expr;
use syn::spanned::Spanned;

pub(super) fn workflow(tree: &mut Workflow, report: &mut Diagnostics) {
    let keys: HashSet<String> = super::declared_keys(tree)
        .map(|typed| unraw(&typed.key.name))
        .collect();
    super::visit_nodes(&mut tree.body, &mut |node| {
        if let Node::Block(block) = node {
            block
                .kind
                .limits_mut()
                .for_each(|limit| check_limit(limit, &keys, report));
        }
    });
}

fn check_limit(limit: &mut Limit, keys: &HashSet<String>, report: &mut Diagnostics) {
    let (name, is_loop) = (limit.kind.argument(), limit.kind == LimitKind::Rounds);
    let check = if is_loop {
        Check::LoopMax
    } else {
        Check::Syntax
    };
    if let Expr::Path(path) = &*limit.expr
        && path
            .path
            .get_ident()
            .is_some_and(|name| keys.contains(&unraw(name)))
    {
        let fact = format!("`{name}` is fixed when the workflow is compiled, but this reads a key");
        let help = if is_loop {
            "write the largest number that you want to allow, and lower it before a run with \
             `set_max` on the field of the loop"
        } else {
            "write a number"
        };
        report.add(check, path.span(), format!("{fact}; help: {help}"));
        limit.literal = Some(1);
    }
}
