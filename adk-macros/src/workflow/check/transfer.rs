//! `transfer-target`: the agents that an agent may hand over to.

use super::super::ast::{Decl, DeclKind, Workflow};
use super::super::names::{last_segment, path_text, unraw};
use super::super::plan::{Plan, Step, StepKind};
use crate::diag::Diagnostics;
use adk_spec::Check;
use adk_spec::nearest::nearest;
use proc_macro2::Span;
use std::collections::{HashMap, HashSet};
use syn::Path;

/// Determines the targets of all agents of a workflow, and reports invalid targets.
pub(super) fn workflow<'a>(tree: &'a Workflow, plan: &mut Plan<'a>, report: &mut Diagnostics) {
    let mut targets = Targets::new(tree, plan);
    let (mut found, mut transfers) = (Vec::new(), HashMap::new());
    for (number, decl) in tree.items.agents.iter().enumerate() {
        let mut own = Vec::new();
        for path in transfer(decl) {
            let span = last_segment(path).map_or_else(Span::call_site, proc_macro2::Ident::span);
            match targets.find(number, path) {
                Ok(target) => {
                    targets.parents.insert(target, number);
                    own.push(target);
                }
                Err(text) => report.add(Check::TransferTarget, span, text),
            }
        }
        found.extend(own.iter().copied());
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
    plan.targets = found.into_iter().filter_map(decl).collect();
    plan.transfers = transfers;
}

/// Reports targets of agents outside a workflow, which have no other agents.
pub(super) fn single_agents(agents: &[Decl], report: &mut Diagnostics) {
    for decl in agents {
        if let Some(path) = transfer(decl).first() {
            let (name, target) = (unraw(&decl.name), path_text(path));
            let span = last_segment(path).map_or_else(Span::call_site, proc_macro2::Ident::span);
            let text = format!(
                "`{target}` is not an agent of the same workflow, since `{name}` is outside a \
                 workflow; help: declare both in the workflow, as `agent {name} {{ ... }}` and \
                 `agent {target} {{ ... }}`"
            );
            report.add(Check::TransferTarget, span, text);
        }
    }
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
        }
    }

    fn name(&self, number: usize) -> &str {
        self.names.get(number).map_or("", String::as_str)
    }

    /// Returns the agent that a path names, or the reason why it is not a target.
    fn find(&self, owner: usize, path: &Path) -> Result<usize, String> {
        let (text, by) = (path_text(path), self.name(owner));
        let Some(name) = path.get_ident().map(unraw) else {
            let name = last_segment(path).map(unraw).unwrap_or_default();
            return Err(format!(
                "`{text}` is a path, and a target is an agent of this workflow; help: declare it \
                 here, as `agent {name} {{ ... }}`, and write `{name}`"
            ));
        };
        let Some(&number) = self.numbers.get(&name) else {
            let others = self
                .names
                .iter()
                .map(String::as_str)
                .filter(|other| *other != by);
            let help = match nearest(&name, others) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("declare it, as in `agent {name} {{ ... }}`"),
            };
            return Err(format!(
                "agent `{by}` may transfer to `{name}`, which this workflow does not declare; \
                 help: {help}"
            ));
        };
        if number == owner {
            return Err(format!(
                "agent `{by}` transfers to itself; help: remove `{name}` from its targets"
            ));
        }
        match self.parents.get(&number) {
            Some(first) if *first == owner => {
                return Err(format!(
                    "`{name}` is twice among the targets of `{by}`; help: remove one of them"
                ));
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
            return Err(format!(
                "agent `{by}` transfers to `{name}`, from which it is reached itself; help: remove \
                 `{name}` from its targets: an agent may hand back to its parent anyway"
            ));
        }
        Ok(number)
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
