//! `transfer-target`: the agents that an agent may hand over to.

use super::super::ast::{Decl, DeclKind, Workflow};
use super::super::names::{last_segment, name_of_path, path_text, unraw};
use super::super::plan::{Plan, Step, StepKind, Target};
use crate::diag::Diagnostics;
use adk_spec::Check;
use adk_spec::nearest::nearest;
use proc_macro2::Span;
use std::collections::{HashMap, HashSet};
use syn::Path;

/// Determines the targets of all agents of a workflow, and reports invalid targets.
pub(super) fn workflow<'a>(tree: &'a Workflow, plan: &mut Plan<'a>, report: &mut Diagnostics) {
    let mut targets = Targets::new(tree, plan);
    let (mut found, mut paths, mut transfers) = (Vec::new(), Vec::new(), HashMap::new());
    for (number, decl) in tree.items.agents.iter().enumerate() {
        let mut own = Vec::new();
        for path in transfer(decl) {
            if path.get_ident().is_none() {
                match targets.find_path(number, path) {
                    Ok(()) => {
                        own.push(Target::Path(path));
                        paths.push(path);
                    }
                    Err(text) => report.add(Check::TransferTarget, span(path), text),
                }
                continue;
            }
            match targets.find(number, path) {
                Ok(target) => {
                    targets.parents.insert(target, number);
                    own.push(Target::Declared(target));
                    found.push(target);
                }
                Err(text) => report.add(Check::TransferTarget, span(path), text),
            }
        }
        if !own.is_empty() {
            transfers.insert(number, own);
        }
    }
    found.sort_unstable();
    let decl = |number| {
        tree.items
            .agents
            .get(number)
            .map(|decl| Step::target(decl, number))
    };
    let declared = found.into_iter().filter_map(decl);
    plan.targets = declared
        .chain(paths.into_iter().map(Step::target_path))
        .collect();
    plan.transfers = transfers;
}

/// Reports invalid targets of agents outside a workflow. Their targets are paths, of which only the
/// agents of the same macro call are known here.
pub(super) fn single_agents(agents: &[Decl], report: &mut Diagnostics) {
    for decl in agents {
        let by = unraw(&decl.name);
        let mut seen: HashMap<String, String> = HashMap::new();
        for path in transfer(decl) {
            let (text, (name, ..)) = (path_text(path), name_of_path(path));
            let fault = match seen.insert(name.clone(), text.clone()) {
                _ if path.is_ident(&decl.name) => Some(own_target(&by, &by)),
                Some(first) if first == text => Some(twice(&text, &by)),
                Some(first) => Some(format!(
                    "`{first}` and `{text}` are targets of `{by}`, and both are called `{name}`; \
                     help: give one of them another name"
                )),
                None if leads_to(agents, path, decl) => Some(circle(&text, &by)),
                None => None,
            };
            if let Some(text) = fault {
                report.add(Check::TransferTarget, span(path), text);
            }
        }
    }
}

/// Returns whether transfers lead from the agent of a path to another agent of the macro call.
fn leads_to(agents: &[Decl], from: &Path, to: &Decl) -> bool {
    let (mut open, mut seen) = (vec![from], HashSet::new());
    while let Some(path) = open.pop() {
        let next = agents.iter().find(|decl| path.is_ident(&decl.name));
        let Some(decl) = next.filter(|decl| seen.insert(unraw(&decl.name))) else {
            continue;
        };
        if decl.name == to.name {
            return true;
        }
        open.extend(transfer(decl));
    }
    false
}

fn span(path: &Path) -> Span {
    last_segment(path).map_or_else(Span::call_site, proc_macro2::Ident::span)
}

fn own_target(name: &str, by: &str) -> String {
    format!("agent `{by}` transfers to itself; help: remove `{name}` from its targets")
}

fn twice(name: &str, by: &str) -> String {
    format!("`{name}` is twice among the targets of `{by}`; help: remove one of them")
}

fn circle(name: &str, by: &str) -> String {
    format!(
        "agent `{by}` transfers to `{name}`, from which it is reached itself; help: remove \
         `{name}` from its targets: an agent may hand back to its parent anyway"
    )
}

fn transfer(decl: &Decl) -> &[Path] {
    match &decl.kind {
        DeclKind::Llm { fields, .. } => &fields.transfer,
        _ => &[],
    }
}

struct Targets {
    names: Vec<String>,
    /// The number of the first agent with each name.
    numbers: HashMap<String, usize>,
    /// Numbers of the agents that are steps under their own names.
    steps: HashSet<usize>,
    /// The agent that may transfer to each target found up to now.
    parents: HashMap<usize, usize>,
    /// The agent that may transfer to each path found up to now.
    paths: HashMap<String, usize>,
}

impl Targets {
    fn new(tree: &Workflow, plan: &Plan<'_>) -> Self {
        let names: Vec<_> = tree
            .items
            .agents
            .iter()
            .map(|decl| unraw(&decl.name))
            .collect();
        let mut numbers = HashMap::new();
        for (number, name) in names.iter().enumerate() {
            numbers.entry(name.clone()).or_insert(number);
        }
        let steps = plan.steps.iter().filter_map(|step| match step.kind {
            StepKind::Declared(run, declared) if run.alias.is_none() => Some(declared),
            _ => None,
        });
        Self {
            names,
            numbers,
            steps: steps.collect(),
            parents: HashMap::new(),
            paths: HashMap::new(),
        }
    }

    fn name(&self, number: usize) -> &str {
        self.names.get(number).map_or("", String::as_str)
    }

    /// Returns the agent that a path names, or the reason why it is not a target.
    fn find(&self, owner: usize, path: &Path) -> Result<usize, String> {
        let (name, by) = (path_text(path), self.name(owner));
        let Some(&number) = self.numbers.get(&name) else {
            let others = self
                .names
                .iter()
                .map(String::as_str)
                .filter(|other| *other != by);
            let help = match nearest(&name, others) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "declare it, as in `agent {name} {{ ... }}`, or write the path of an agent \
                     that is declared elsewhere, as in `self::{name}`"
                ),
            };
            return Err(format!(
                "agent `{by}` may transfer to `{name}`, which this workflow does not declare; \
                 help: {help}"
            ));
        };
        if number == owner {
            return Err(own_target(&name, by));
        }
        match self.parents.get(&number) {
            Some(first) if *first == owner => {
                return Err(twice(&name, by));
            }
            Some(first) => {
                return Err(format!(
                    "`{name}` is a target of agent `{}` already, and an agent has one parent; \
                     help: declare a second agent for `{by}`",
                    self.name(*first)
                ));
            }
            None => {}
        }
        if self.steps.contains(&number) {
            return Err(format!(
                "`{name}` is a target of agent `{by}` and a step of this workflow; help: remove \
                 the step, or declare a second agent for one of the two"
            ));
        }
        if self.is_ancestor(number, owner) {
            return Err(circle(&name, by));
        }
        Ok(number)
    }

    /// Returns the reason why the agent of a path is not a target. Const evaluation checks the
    /// agent itself.
    fn find_path(&mut self, owner: usize, path: &Path) -> Result<(), String> {
        let (text, (name, _, field)) = (path_text(path), name_of_path(path));
        let by = self.name(owner);
        if field.is_none() {
            return Err(format!(
                "`{text}` gives the target the name `{name}`, which is a keyword of Rust; help: \
                 declare it under another name, as in `agent first_{name}: {text};`"
            ));
        }
        let fault = match self.paths.get(&text) {
            Some(first) if *first == owner => Some(twice(&text, by)),
            Some(first) => Some(format!(
                "`{text}` is a target of agent `{}` already, and an agent has one parent; help: \
                 declare a second instance for `{by}`, as `agent second_{name}: {text};`",
                self.name(*first)
            )),
            None => None,
        };
        self.paths.entry(text).or_insert(owner);
        fault.map_or(Ok(()), Err)
    }

    /// Returns whether agent `upper` is a direct or indirect parent of agent `lower`.
    fn is_ancestor(&self, upper: usize, lower: usize) -> bool {
        let mut at = lower;
        while let Some(parent) = self.parents.get(&at) {
            if *parent == upper {
                return true;
            }
            at = *parent;
        }
        false
    }
}
