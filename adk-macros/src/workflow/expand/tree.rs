//! The tree in the rustdoc page, in the form of `Spec`'s own text.

use super::super::ast::{Block, BlockKind, Decl, DeclKind, Key, KeyDecl, Node, Run, Workflow};
use super::super::names;
use super::super::plan::{Plan, Target};

pub(super) fn text(workflow: &Workflow, plan: &Plan<'_>) -> String {
    let inputs: Vec<_> = workflow
        .inputs
        .iter()
        .map(|input| typed(&input.typed))
        .collect();
    let outputs: Vec<_> = workflow.outputs.iter().map(typed).collect();
    let outputs = match outputs.as_slice() {
        [] => String::new(),
        [one] => format!(" -> {one}"),
        all => format!(" -> ({})", all.join(", ")),
    };
    let mut out = format!("{}({}){outputs}\n", plan.name, inputs.join(", "));
    draw(&Tree { workflow, plan }.nodes(&workflow.body), "", &mut out);
    out
}

/// A line, and the lines that are drawn below it.
struct Line {
    text: String,
    below: Vec<Line>,
}

fn draw(lines: &[Line], indent: &str, out: &mut String) {
    for (i, line) in lines.iter().enumerate() {
        let is_last = i + 1 == lines.len();
        let (branch, below) = if is_last {
            ("└─ ", "   ")
        } else {
            ("├─ ", "│  ")
        };
        out.push_str(&format!("{indent}{branch}{}\n", line.text));
        draw(&line.below, &format!("{indent}{below}"), out);
    }
}

struct Tree<'a> {
    workflow: &'a Workflow,
    plan: &'a Plan<'a>,
}

impl Tree<'_> {
    fn nodes(&self, all: &[Node]) -> Vec<Line> {
        all.iter().map(|node| self.node(node)).collect()
    }

    fn node(&self, node: &Node) -> Line {
        match node {
            Node::Run(run) => self.run(run),
            Node::Break(one) => {
                let target = one
                    .target
                    .as_ref()
                    .map(|target| format!(" {target}"))
                    .unwrap_or_default();
                Line {
                    text: format!("break{target}"),
                    below: Vec::new(),
                }
            }
            Node::Await(wait) => {
                let name = wait
                    .name
                    .as_ref()
                    .map(|name| format!("{name}: "))
                    .unwrap_or_default();
                Line {
                    text: format!("{name}await {}", wait.typed.key.text()),
                    below: Vec::new(),
                }
            }
            Node::Block(block) => Line {
                text: head(block),
                below: self.inside(block),
            },
        }
    }

    fn inside(&self, block: &Block) -> Vec<Line> {
        let BlockKind::Match(choice) = &block.kind else {
            let mut lines = self.nodes(&block.nodes);
            if let BlockKind::Try(tried) = &block.kind
                && let Some(nodes) = &tried.otherwise
            {
                lines.push(Line {
                    text: "else".to_owned(),
                    below: self.nodes(nodes),
                });
            }
            return lines;
        };
        let arms = choice.arms.iter().map(|arm| {
            let step = arm.node.as_ref().map(|node| self.node(node));
            let Line { text, below } = step.unwrap_or(Line {
                text: "()".into(),
                below: Vec::new(),
            });
            Line {
                text: format!("{} => {text}", arm.text()),
                below,
            }
        });
        arms.collect()
    }

    fn run(&self, run: &Run) -> Line {
        let path = names::path_text(&run.path);
        let number = self
            .workflow
            .items
            .agents
            .iter()
            .position(|decl| run.path.is_ident(&decl.name));
        let reads: Vec<_> = run
            .reads
            .iter()
            .map(|(from, to)| format!("{} = {}", from.text(), to.text()))
            .collect();
        let reads = bracketed("(", &reads, ")");
        let alias = run
            .alias
            .as_ref()
            .map(|alias| format!(" as {alias}"))
            .unwrap_or_default();
        let renamed: Vec<_> = run.writes.iter().map(Key::text).collect();
        let writes = if renamed.is_empty() {
            number
                .and_then(|number| self.decl(number))
                .map(output)
                .unwrap_or_default()
        } else {
            bracketed(" -> ", &renamed, "")
        };
        let below = number
            .map(|number| self.targets(number))
            .unwrap_or_default();
        Line {
            text: format!("{path}{reads}{alias}{writes}"),
            below,
        }
    }

    /// Returns the targets of an agent's transfers, and their targets.
    fn targets(&self, number: usize) -> Vec<Line> {
        let targets = self.plan.transfers.get(&number).into_iter().flatten();
        let line = |target: &Target<'_>| {
            let (text, below) = match *target {
                Target::Declared(number) => {
                    let decl = self.decl(number)?;
                    let text = format!("{}{}", decl.name, output(decl));
                    (text, self.targets(number))
                }
                Target::Path(path) => (names::path_text(path), Vec::new()),
            };
            Some(Line {
                text: format!("transfer to {text}"),
                below,
            })
        };
        targets.filter_map(line).collect()
    }

    fn decl(&self, number: usize) -> Option<&Decl> {
        self.workflow.items.agents.get(number)
    }
}

fn typed(typed: &KeyDecl) -> String {
    format!("{}: {}", typed.key.text(), names::type_text(&typed.ty))
}

/// Returns ` -> KEY`.
fn output(decl: &Decl) -> String {
    let (DeclKind::Llm {
        output: Some(typed),
        ..
    }
    | DeclKind::Described {
        output: Some(typed),
        ..
    }) = &decl.kind
    else {
        return String::new();
    };
    format!(" -> {}", typed.key.text())
}

/// Returns a list between two marks, or an empty string for an empty list.
fn bracketed(open: &str, all: &[String], close: &str) -> String {
    if all.is_empty() {
        String::new()
    } else {
        format!("{open}{}{close}", all.join(", "))
    }
}

fn head(block: &Block) -> String {
    let subject = match &block.kind {
        BlockKind::Match(choice) => format!(" {}", choice.key.text()),
        BlockKind::Each { item, list, .. } => format!(" {item} in {}", list.text()),
        _ => String::new(),
    };
    let name = block
        .name
        .as_ref()
        .map(|name| format!("{name}: "))
        .unwrap_or_default();
    let arguments = match block.arguments.as_str() {
        "" => String::new(),
        arguments => format!("({arguments})"),
    };
    format!("{name}{}{arguments}{subject}", block.kind.word())
}

#[cfg(test)]
mod tests;
