//! The checks of a workflow: `const fn` over slices, so that the compiler and the run time share
//! each rule.
//!
//! `workflow!` calls `facts` in const evaluation and raises each diagnostic at the token of its
//! step. For a tree that is built at run time, [`faults`] returns the same diagnostics as values.

pub(crate) mod bounds;
pub(crate) mod facts;
pub(crate) mod flow;
pub(crate) mod keys;
pub(crate) mod labels;
pub(crate) mod limits;
pub(crate) mod live;
mod names;
pub(crate) mod tool_file;
pub(crate) mod tools;

pub use crate::audit::{Audit, AuditCleaner, AuditSink, AuditSource, Unseen};
pub use crate::bounds::Bounds;
pub use crate::lints::Lint;
pub use crate::table::Check;
pub use live::is_live;

use crate::message::Message;
use crate::spec::{AgentKind, AgentMeta, Attempts, Spec, Step, StepKind};
use std::fmt;

impl serde::Serialize for Check {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// An error that a check finds in a workflow.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The check, such as `name-duplicate`.
    pub check: Check,
    /// The step, agent or block; empty for the workflow itself.
    pub node: String,
    /// The fact, with its names, and the remedy. Begins with the name of the check.
    pub message: String,
    /// The place in the document that the tree was read from, such as
    /// `sub_agents[1].max_iterations`; empty for a tree that was not read from a document.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// The index of the step in the spec.
    #[serde(skip)]
    pub step: Option<usize>,
}

impl Diagnostic {
    /// Creates a diagnostic that a builder finds itself.
    pub fn new(check: Check, node: impl Into<String>, message: impl fmt::Display) -> Self {
        let message = format!("{check}: {message}");
        Self {
            check,
            node: node.into(),
            message,
            place: String::new(),
            step: None,
        }
    }

    fn from_message(node: &str, message: &Message) -> Self {
        let (check, message) = (
            message.check().unwrap_or(Check::Syntax),
            message.as_str().to_owned(),
        );
        Self {
            check,
            node: node.to_owned(),
            message,
            place: String::new(),
            step: None,
        }
    }

    /// Sets the place in the document that the tree was read from.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = place.into();
        self
    }

    /// Returns whether the diagnostic is about text that strangers wrote. `.guards(false)` turns
    /// these checks off for a tree that is built at run time.
    pub fn is_of_guards(&self) -> bool {
        matches!(self.check, Check::UntrustedAction | Check::LethalTrifecta)
    }

    /// Returns whether the diagnostic is about the flow of keys and exits. `.flow_checks(false)`
    /// turns these checks off for a tree that is built at run time.
    pub fn is_of_flow(&self) -> bool {
        matches!(
            self.check,
            Check::KeyMissing
                | Check::KeyMaybeMissing
                | Check::KeyRace
                | Check::KeyType
                | Check::KeyDuplicate
                | Check::OutputMissing
                | Check::LoopEndless
                | Check::ExitOutsideLoop
        )
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.place, self.message)
        }
    }
}

/// Returns all diagnostics of a workflow, in the order of its steps, as the compiler reports them.
///
/// An error of a key is reported once, at the first step where it matters. A wrong type of a key is
/// reported at each step with a different type.
///
/// ```
/// # use adk_spec as adk;
/// use adk::spec::{Spec, Step, StepKind};
/// let steps = [
///     Step::new("again", StepKind::Loop { max: Some(0), until: None }, 1),
///     Step::new("", StepKind::End, 1),
/// ];
/// let diagnostics = adk::check::faults(&Spec::new("writing", "", &steps));
/// let checks: Vec<_> = diagnostics.iter().map(|diagnostic| diagnostic.check.name()).collect();
/// assert_eq!(checks, ["loop-max", "block-empty"]);
/// ```
pub fn faults(spec: &Spec<'_>) -> Vec<Diagnostic> {
    if !is_tree(spec.steps) {
        let fact = [
            "the steps of `",
            spec.name,
            "` do not form a tree: a block does not end at its recorded end",
        ];
        return vec![Diagnostic::from_message(
            "",
            &Message::of(Check::Syntax, &fact),
        )];
    }
    let mut table = vec![None; names::slots(spec)];
    let mut name_diagnostics = vec![names::NameDiagnostic::None; spec.steps.len()];
    names::find(spec, &mut table, &mut name_diagnostics, false);
    let mut diagnostics = Vec::new();
    if let Some(message) = names::describe_workflow_name(spec) {
        diagnostics.push(Diagnostic::from_message("", &message));
    }
    keys::declared_twice(spec, &mut diagnostics);
    // `workflow!` reports these keys itself.
    if let Some(guards) = spec.guards.filter(|_| spec.built) {
        let keys = guards.untrusted.iter().chain(guards.private);
        let faults = keys.filter(|key| **key != "user");
        let faults = faults.filter_map(|key| labels::guard_fault(spec, key));
        diagnostics.extend(faults.map(|message| Diagnostic::from_message("", &message)));
    }
    let mut flow = flow::diagnostics(spec);
    flow.extend(labels::diagnostics(spec));
    // The sort is stable: diagnostics of one step keep their order.
    flow.sort_by_key(|(at, _)| *at);
    let mut flow = flow.into_iter().peekable();
    for (at, (step, name_diagnostic)) in spec.steps.iter().zip(&name_diagnostics).enumerate() {
        let first = diagnostics.len();
        if let Some(message) =
            names::describe(spec, step, name_diagnostic).or_else(|| names::describe_step_name(step))
        {
            diagnostics.push(Diagnostic::from_message(step.name, &message));
        }
        check_step(spec, step, spec.steps, &mut diagnostics);
        while let Some((_, message)) = flow.next_if(|(step, _)| *step == at) {
            let found = Diagnostic::from_message(step.name, &message);
            // An empty loop is reported as empty, and not also as endless.
            if found.check != Check::LoopEndless || !is_empty(step, spec.steps) {
                diagnostics.push(found);
            }
        }
        for diagnostic in diagnostics.iter_mut().skip(first) {
            diagnostic.step = Some(at);
        }
    }
    diagnostics.extend(flow.map(|(_, message)| Diagnostic::from_message("", &message)));
    // The worst case depends on the answer types of agents, so bounds are checked only when all
    // types agree.
    if !diagnostics
        .iter()
        .any(|diagnostic| diagnostic.check == Check::KeyType)
    {
        diagnostics
            .extend(bounds::describe(spec).map(|message| Diagnostic::from_message("", &message)));
    }
    diagnostics
}

/// Returns whether every block ends at its recorded end, inside the block around it.
fn is_tree(steps: &[Step<'_>]) -> bool {
    let mut open = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        match step.kind {
            StepKind::Agent { .. } | StepKind::Break { .. } => {}
            StepKind::End if open.pop() == Some(at) => {}
            StepKind::End => return false,
            _ => open.push(step.end),
        }
    }
    open.is_empty()
}

/// Adds the diagnostics of one step that do not depend on other steps, and those of the steps
/// inside it.
fn check_step(
    spec: &Spec<'_>,
    step: &Step<'_>,
    steps: &[Step<'_>],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let max = if spec.built { "max_iterations" } else { "max" };
    let limit = match &step.kind {
        StepKind::Agent { meta, .. } => return check_agent(spec, step.name, meta, diagnostics),
        StepKind::Loop { max: Some(0), .. } => Some(max),
        StepKind::Parallel {
            max_concurrency: Some(0),
            ..
        } => Some("max_concurrency"),
        StepKind::Each { max: Some(0), .. } => Some("max_elements"),
        StepKind::Try(Attempts { most: 0, .. }) => Some("attempts"),
        _ => None,
    };
    diagnostics
        .extend(limit.map(|word| {
            Diagnostic::from_message(step.name, &limits::describe(word, step.name, 0))
        }));
    if is_empty(step, steps) {
        let step_or_agent = if spec.built {
            "an agent into it"
        } else {
            "a step into it"
        };
        let fact = [
            "block `",
            step.name,
            "` has no steps; help: remove it, or put ",
            step_or_agent,
        ];
        diagnostics.push(Diagnostic::from_message(
            step.name,
            &Message::of(Check::BlockEmpty, &fact),
        ));
    }
}

/// Returns whether a step is a block without steps.
fn is_empty(step: &Step<'_>, steps: &[Step<'_>]) -> bool {
    let block = matches!(
        step.kind,
        StepKind::Sequence | StepKind::Parallel { .. } | StepKind::Loop { .. }
    );
    let next = steps.get(step.end.saturating_sub(1));
    block && next.is_none_or(|last| std::ptr::eq(last, step))
}

/// Adds the diagnostics of an agent, and of the agents that it may transfer to.
fn check_agent(
    spec: &Spec<'_>,
    name: &str,
    meta: &AgentMeta<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let answer = meta
        .writes
        .iter()
        .find(|key| !key.optional && !meta.own_code && meta.kind == AgentKind::Llm);
    let answer = answer.map_or("", |key| key.name);
    for at in 0..meta.tools.len() {
        let found = tools::describe(name, answer, meta.tools, at);
        let found =
            found.or_else(|| tools::undocumented(name, &meta.tools[at]).filter(|_| spec.built));
        diagnostics.extend(found.map(|message| Diagnostic::from_message(name, &message)));
    }
    for inner in meta.steps {
        check_step(spec, inner, meta.steps, diagnostics);
    }
    for target in meta.transfer {
        let target_step = Step::new(
            target.name,
            StepKind::Agent {
                meta: target,
                instance: false,
            },
            0,
        );
        if spec.built {
            diagnostics.extend(
                names::describe_step_name(&target_step)
                    .map(|message| Diagnostic::from_message(target.name, &message)),
            );
        }
        check_agent(spec, target.name, target, diagnostics);
    }
}

#[cfg(test)]
mod tests;
