//! `writer -> critic`, as others draw what follows: behind `->` stands a key, and where it is an agent that runs nowhere else, it
//! was to run next.

use super::super::ast::{Block, BlockKind, Decl, DeclKind, Node, Run, Workflow};
use super::super::names::{last, path_text, plain};
use super::super::report::Report;
use proc_macro2::Ident;
use std::collections::HashSet;
use syn::Path;

/// Tells of them, and has both run.
pub(in super::super) fn tell(tree: &mut Workflow, report: &mut Report) {
    let mut agents: HashSet<String> = tree.items.agents.iter().map(|decl| plain(&decl.name)).collect();
    for typed in super::declared(tree) {
        agents.remove(&plain(&typed.key.name));
    }
    for name in tree.items.agents.iter().flat_map(used) {
        agents.remove(&name);
    }
    each(&mut tree.body, &mut |node| {
        if let Node::Run(Run { path, .. }) = node
            && let Some(name) = path.get_ident()
        {
            agents.remove(&plain(name));
        }
    });
    if !agents.is_empty() {
        each(&mut tree.body, &mut |node| {
            if let Some(both) = next(node, &agents, report) {
                *node = both;
            }
        });
    }
}

/// The agents that another one may call or hand over to.
fn used(decl: &Decl) -> Vec<String> {
    let DeclKind::Llm { fields, .. } = &decl.kind else { return Vec::new() };
    let tools = fields.tools.iter().map(|tool| &tool.path);
    tools.chain(&fields.transfer).filter_map(Path::get_ident).map(plain).collect()
}

/// What runs both, where that is what is meant.
fn next(node: &mut Node, agents: &HashSet<String>, report: &mut Report) -> Option<Node> {
    let Node::Run(run) = node else { return None };
    let [key] = run.writes.as_slice() else { return None };
    if key.prefix.is_some() || !agents.contains(&plain(&key.name)) {
        return None;
    }
    let (first, second) = (path_text(&run.path), key.name.clone());
    let text = format!(
        "syntax: behind `->` stands the key that an agent writes, and `{second}` is an agent; help: write `{first}; {second}` for one behind the other"
    );
    report.at(second.span(), text);
    run.writes.clear();
    let (span, runs) = (last(&run.path).map_or(second.span(), Ident::span), step(second));
    let first = std::mem::replace(node, Node::Unread(span));
    Some(Node::Block(Box::new(Block { nodes: vec![first, runs], ..Block::new(BlockKind::Sequence, span) })))
}

fn step(name: Ident) -> Node {
    let (reads, writes) = (Vec::new(), Vec::new());
    Node::Run(Run { path: name.into(), reads, alias: None, writes, vague: false })
}

/// Every step, those of a block behind the block.
fn each(nodes: &mut [Node], look: &mut dyn FnMut(&mut Node)) {
    for node in nodes {
        look(node);
        if let Node::Block(block) = node {
            if let BlockKind::Match(choice) = &mut block.kind {
                for node in choice.arms.iter_mut().filter_map(|arm| arm.node.as_mut()) {
                    each(std::slice::from_mut(node), look);
                }
            }
            each(&mut block.nodes, look);
        }
    }
}
