//! [`Plan`]: the flat list of steps, each with a name and a field, for checks and for the
//! expansion.

use super::ast::{Arm, Await, Block, BlockKind, Break, Decl, DeclKind, Node, Run, Workflow};
use super::names;
use adk_spec::nearest::nearest;
use proc_macro2::{Ident, Span};
use std::collections::{BTreeMap, HashMap};
use syn::Path;

/// The steps in the order of the spec.
pub(super) struct Plan<'a> {
    /// The name of the workflow as an agent.
    pub(super) name: String,
    pub(super) steps: Vec<Step<'a>>,
    /// Targets of transfers: agents that are parts of the workflow, but not steps. The checks fill
    /// them in.
    pub(super) targets: Vec<Step<'a>>,
    /// Numbers of the declared agents, with their targets of transfers.
    pub(super) transfers: HashMap<usize, Vec<Target<'a>>>,
    /// Whether two paths lead to steps of the same name. Only const evaluation can decide whether
    /// they are the same agent.
    pub(super) alike: bool,
}

/// A target of transfers.
#[derive(Clone, Copy)]
pub(super) enum Target<'a> {
    /// An agent of the workflow, by its number.
    Declared(usize),
    /// An agent of another module or crate.
    Path(&'a Path),
}

pub(super) struct Step<'a> {
    /// The name that models and events show; empty for markers.
    pub(super) name: String,
    /// The span for errors of the step.
    pub(super) span: Span,
    pub(super) kind: StepKind<'a>,
    /// The index of the end of a block; for other steps, the index of the step.
    pub(super) end: usize,
    /// The field of the step in the struct.
    pub(super) field: Option<Ident>,
    /// Whether the user wrote the name. Other names are of the form `kind_N`.
    pub(super) named: bool,
    /// The number of a declared agent with a similar name, for a step that the workflow does not
    /// declare.
    pub(super) near: Option<usize>,
}

impl<'a> Step<'a> {
    fn new(name: String, span: Span, kind: StepKind<'a>, end: usize) -> Self {
        Self {
            name,
            span,
            kind,
            end,
            field: None,
            named: true,
            near: None,
        }
    }

    /// Creates the entry of a target of transfers that a path leads to. Like a step, it has the
    /// name of the path.
    pub(super) fn target_path(path: &'a Path) -> Self {
        let (name, span, field) = names::name_of_path(path);
        Self {
            field,
            ..Self::new(name, span, StepKind::TargetPath(path), 0)
        }
    }

    /// Creates the entry of a declared target of transfers.
    pub(super) fn target(decl: &'a Decl, number: usize) -> Self {
        let name = name_field(decl).unwrap_or_else(|| names::unraw(&decl.name));
        let field = Some(decl.name.clone());
        Self {
            field,
            ..Self::new(name, decl.name.span(), StepKind::Target(number), 0)
        }
    }

    pub(super) fn is_agent(&self) -> bool {
        matches!(self.kind, StepKind::Declared(..) | StepKind::Path(_))
    }

    /// Returns the number of the agent, if the workflow declares it.
    pub(super) fn declared_number(&self) -> Option<usize> {
        match self.kind {
            StepKind::Declared(_, number) | StepKind::Target(number) => Some(number),
            _ => None,
        }
    }
}

/// Returns the `name` field of an agent.
fn name_field(decl: &Decl) -> Option<String> {
    match &decl.kind {
        DeclKind::Llm { fields, .. } => fields.name.as_ref().map(syn::LitStr::value),
        _ => None,
    }
}

#[derive(Clone, Copy)]
pub(super) enum StepKind<'a> {
    /// A declared agent, by its number.
    Declared(&'a Run, usize),
    Path(&'a Run),
    Block(&'a Block),
    Branch,
    Arm(&'a Arm),
    Else,
    /// A target of transfers, by the number of the agent.
    Target(usize),
    /// A target of transfers in another module or crate.
    TargetPath(&'a Path),
    Break(&'a Break),
    Await(&'a Await),
    End,
}

pub(super) fn flatten(tree: &Workflow) -> Plan<'_> {
    let name = tree
        .name
        .as_ref()
        .map(|name| names::snake_case(&names::unraw(name)))
        .unwrap_or_default();
    let mut decls = BTreeMap::new();
    for (number, decl) in tree.items.agents.iter().enumerate() {
        decls.entry(decl.name.to_string()).or_insert(number);
    }
    let mut planner = Planner {
        tree,
        decls,
        steps: Vec::new(),
        unnamed: HashMap::new(),
    };
    planner.nodes(&tree.body);
    Plan {
        name,
        steps: planner.steps,
        targets: Vec::new(),
        transfers: HashMap::new(),
        alike: false,
    }
}

impl<'a> Plan<'a> {
    /// Returns all entries with a field in the struct: the steps in the order of the spec, then the
    /// targets.
    pub(super) fn entries(&self) -> impl Iterator<Item = (usize, &Step<'a>)> {
        self.steps.iter().chain(&self.targets).enumerate()
    }
}

struct Planner<'a> {
    tree: &'a Workflow,
    decls: BTreeMap<String, usize>,
    steps: Vec<Step<'a>>,
    unnamed: HashMap<&'static str, usize>,
}

impl<'a> Planner<'a> {
    fn push(&mut self, name: String, span: Span, kind: StepKind<'a>) -> usize {
        let end = self.steps.len();
        self.steps.push(Step::new(name, span, kind, end));
        end
    }

    fn close(&mut self, open: usize) {
        let end = self.push(String::new(), Span::call_site(), StepKind::End);
        if let Some(step) = self.steps.get_mut(open) {
            step.end = end;
        }
    }

    fn nodes(&mut self, nodes: &'a [Node]) {
        for node in nodes {
            self.node(node);
        }
    }

    fn node(&mut self, node: &'a Node) {
        match node {
            Node::Run(run) => self.run(run),
            Node::Break(one) => {
                self.push(String::new(), one.span, StepKind::Break(one));
            }
            Node::Block(block) => self.block(block),
            Node::Await(wait) => {
                let name = wait.name.as_ref().unwrap_or(&wait.typed.key.name);
                self.push(names::unraw(name), name.span(), StepKind::Await(wait));
            }
        }
    }

    fn run(&mut self, run: &'a Run) {
        let Some(last) = names::last_segment(&run.path) else {
            return;
        };
        let number = run
            .path
            .get_ident()
            .and_then(|name| self.decls.get(&name.to_string()))
            .copied();
        let (name, span, field) = match (&run.alias, number) {
            (Some(alias), _) => (names::unraw(alias), alias.span(), Some(alias.clone())),
            (None, Some(_)) => (names::unraw(last), last.span(), Some(last.clone())),
            (None, None) => names::name_of_path(&run.path),
        };
        let own = number
            .and_then(|number| self.tree.items.agents.get(number))
            .and_then(name_field);
        let name = own.filter(|_| run.alias.is_none()).unwrap_or(name);
        let kind = match number {
            Some(number) => StepKind::Declared(run, number),
            None => StepKind::Path(run),
        };
        let near = run
            .path
            .get_ident()
            .filter(|_| number.is_none())
            .and_then(|name| self.near(name));
        let at = self.push(name, span, kind);
        if let Some(step) = self.steps.get_mut(at) {
            (step.field, step.near) = (field, near);
        }
    }

    /// Returns a declared agent with a similar name, by the rules of rustc, so that rustc can
    /// suggest it.
    fn near(&self, name: &Ident) -> Option<usize> {
        let name = names::unraw(name);
        let known = self.decls.keys().map(String::as_str);
        let near = nearest(&name, known)?;
        self.decls.get(near).copied()
    }

    fn block(&mut self, block: &'a Block) {
        let word = block.kind.word();
        let (name, span) = match &block.name {
            Some(name) => (names::unraw(name), name.span()),
            None => {
                let count = self.unnamed.entry(word).or_default();
                *count += 1;
                (format!("{word}_{count}"), block.span)
            }
        };
        let open = self.push(name, span, StepKind::Block(block));
        if let Some(step) = self.steps.get_mut(open) {
            step.named = block.name.is_some();
            step.field = block.name.clone();
        }
        match &block.kind {
            BlockKind::Parallel { .. } => {
                for node in &block.nodes {
                    let branch = self.push(String::new(), Span::call_site(), StepKind::Branch);
                    self.node(node);
                    self.close(branch);
                }
            }
            BlockKind::Match(choice) => {
                for arm in &choice.arms {
                    let open = self.push(String::new(), Span::call_site(), StepKind::Arm(arm));
                    arm.node.iter().for_each(|node| self.node(node));
                    self.close(open);
                }
            }
            _ => self.nodes(&block.nodes),
        }
        if let BlockKind::Try(tried) = &block.kind
            && let Some(nodes) = &tried.otherwise
        {
            let open = self.push(String::new(), Span::call_site(), StepKind::Else);
            self.nodes(nodes);
            self.close(open);
        }
        self.close(open);
    }
}

impl Step<'_> {
    /// Returns the field for a read access. The token has the user's span only for a step that has
    /// the name of its declaration: there an editor takes it for a use of the declaration. The
    /// names of blocks and instances define their fields, so their uses have no such span.
    pub(super) fn field_use(&self) -> Option<Ident> {
        let field = self.field.as_ref()?;
        Some(match self.kind {
            StepKind::Declared(run, _) if run.alias.is_none() => field.clone(),
            _ => names::without_span(field),
        })
    }
}
