//! The mistake `writer -> critic`, where `critic` is the next step: a key has to follow `->`.

use super::super::ast::{Node, Workflow};
use super::super::names::{path_text, unraw};
use crate::diag::Diagnostics;
use adk_spec::Check;
use std::collections::HashSet;

/// Reports agents that are written as keys, and removes them.
pub(super) fn workflow(tree: &mut Workflow, report: &mut Diagnostics) {
    let keys: HashSet<String> = super::declared_keys(tree)
        .map(|typed| unraw(&typed.key.name))
        .collect();
    let agents = tree.items.agents.iter().map(|decl| unraw(&decl.name));
    let agents: HashSet<String> = agents.filter(|name| !keys.contains(name)).collect();
    super::visit_nodes(&mut tree.body, &mut |node| {
        let Node::Run(run) = node else { return };
        let is_agent = |key: &&super::super::ast::Key| {
            key.prefix.is_none() && agents.contains(&unraw(&key.name))
        };
        if let Some(key) = run.writes.iter().find(is_agent) {
            let (name, first) = (unraw(&key.name), path_text(&run.path));
            report.add(Check::Syntax, key.name.span(), format!(
                "`{name}` is an agent, and after `->` follows the key that `{first}` writes; help: \
                 write a `;` between two steps, as in `{first}; {name}`"
            ));
            run.writes.clear();
        }
    });
}
