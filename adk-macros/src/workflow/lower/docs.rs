//! Descriptions, and the tree that rustdoc shows.

use super::super::ast::{Block, BlockKind, DeclKind, Key, Node, Typed, Workflow};
use super::super::names;
use super::super::plan::Plan;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Expr};

/// The description in doc comments, an expression; empty without any.
pub(super) fn description(attrs: &[Attribute]) -> TokenStream {
    crate::docs::description(attrs).unwrap_or_else(|| quote!(""))
}

/// The workflow as text.
pub(super) fn tree(workflow: &Workflow, plan: &Plan<'_>) -> String {
    let inputs: Vec<_> = workflow.inputs.iter().map(|input| typed(&input.typed)).collect();
    let outputs: Vec<_> = workflow.outputs.iter().map(typed).collect();
    let outputs = match outputs.as_slice() {
        [] => String::new(),
        [one] => format!(" -> {one}"),
        all => format!(" -> ({})", all.join(", ")),
    };
    let mut out = format!("{}({}){outputs}\n", plan.name, inputs.join(", "));
    nodes(workflow, &workflow.body, "", &mut out);
    out
}

fn typed(typed: &Typed) -> String {
    format!("{}: {}", typed.key.text(), names::type_text(&typed.ty))
}

fn nodes(workflow: &Workflow, all: &[Node], indent: &str, out: &mut String) {
    for (i, node) in all.iter().enumerate() {
        let is_last = i + 1 == all.len();
        let (branch, below) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        out.push_str(indent);
        out.push_str(branch);
        out.push_str(&line(workflow, node));
        out.push('\n');
        if let Node::Block(block) = node {
            nodes(workflow, &block.nodes, &format!("{indent}{below}"), out);
        }
    }
}

fn line(workflow: &Workflow, node: &Node) -> String {
    match node {
        Node::Run(run) => {
            let path = names::path_text(&run.path);
            let decl = workflow.items.agents.iter().find(|decl| run.path.is_ident(&decl.name));
            let output = decl.and_then(|decl| match &decl.kind {
                DeclKind::Llm { output, .. } | DeclKind::Described { output, .. } => output.as_deref(),
                DeclKind::Given { .. } => None,
            });
            let output = output.map(|typed| format!(" -> {}", typed.key.text())).unwrap_or_default();
            match &run.alias {
                Some(alias) => format!("{alias} ({path}){output}"),
                None => format!("{path}{output}"),
            }
        }
        Node::Break(one) => match &one.target {
            Some(target) => format!("break {target}"),
            None => "break".into(),
        },
        Node::Block(block) => head(block),
    }
}

fn head(block: &Block) -> String {
    let mut arguments = Vec::new();
    match &block.kind {
        BlockKind::Sequence => {}
        BlockKind::Parallel { max_concurrency } => {
            arguments.extend(
                max_concurrency.as_ref().map(|limit| format!("max_concurrency = {}", shown(&limit.expr))),
            );
        }
        BlockKind::Loop { max, until } => {
            arguments.extend(max.as_ref().map(|limit| format!("max = {}", shown(&limit.expr))));
            arguments.extend(until.as_ref().map(|key| format!("until = {}", Key::text(key))));
        }
    }
    let name = block.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
    let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
    format!("{name}{}{arguments}", block.kind.word())
}

fn shown(expr: &Expr) -> String {
    expr.to_token_stream().to_string()
}
