//! The agents below an agent, and the keys inside a workflow.

use super::scope::KeyScope;
use crate::spec::{AgentKind, AgentMeta, KeySpec, StepKind, ToolMeta, has_prefix};
use crate::text::same;

/// Returns whether an agent is not a workflow and has neither tools nor transfer targets. Such an
/// agent writes exactly the keys of its description.
pub(crate) const fn is_alone(meta: &AgentMeta<'_>) -> bool {
    matches!(meta.transfer, [])
        && matches!(meta.tools, [])
        && !matches!(meta.kind, AgentKind::Workflow)
}

/// Returns an agent below another one: first the transfer targets, then the agents that are its
/// tools.
pub(super) const fn agent_below<'a>(
    meta: &AgentMeta<'a>,
    number: usize,
) -> Option<&'a AgentMeta<'a>> {
    if number < meta.transfer.len() {
        return Some(meta.transfer[number]);
    }
    let mut left = number - meta.transfer.len();
    each!(tool in meta.tools => {
        if let Some(agent) = tool.agent {
            if left == 0 {
                return Some(agent);
            }
            left -= 1;
        }
    });
    None
}

pub(crate) const fn find_tool<'a>(meta: &AgentMeta<'a>, name: &str) -> Option<&'a ToolMeta<'a>> {
    first!(tool in meta.tools => if same(tool.name, name) { Some(tool) } else { None })
}

/// Returns whether an agent or one of its transfer targets may end a loop.
pub(crate) const fn may_exit(meta: &AgentMeta<'_>, deepest: usize) -> bool {
    meta.may_exit || deepest > 0 && any!(target in meta.transfer => may_exit(target, deepest - 1))
}

pub(crate) const fn contains(keys: &[KeySpec<'_>], key: &str) -> bool {
    any!(known in keys => same(known.name, key))
}

/// Returns whether a key inside a workflow is a key of the session.
pub(crate) const fn is_session_key(workflow: &AgentMeta<'_>, key: &str) -> bool {
    contains(workflow.states, key) || (has_prefix(key) && !contains(workflow.writes, key))
}

/// Returns the number of keys that a workflow may set when it starts.
pub(super) const fn start_count(workflow: &AgentMeta<'_>) -> usize {
    workflow.lets.len() + workflow.reads.len()
}

/// Returns a key of the session that a workflow sets when it starts: a `let`, or an input that has
/// a default, is renamed, or has the name of an output of the enclosing workflow, because that
/// output may be renamed too.
pub(super) const fn start_key<'a>(
    workflow: &AgentMeta<'a>,
    scope: &KeyScope<'a>,
    i: usize,
) -> Option<&'a str> {
    let (key, sets) = if i < workflow.lets.len() {
        (workflow.lets[i].name, true)
    } else {
        let input = &workflow.reads[i - workflow.lets.len()];
        (
            input.name,
            input.optional || scope.is_output(input.name) || scope.is_renamed(input.name),
        )
    };
    if sets && is_session_key(workflow, key) {
        Some(key)
    } else {
        None
    }
}

/// Returns whether any steps of a workflow run concurrently.
pub(crate) const fn runs_together(workflow: &AgentMeta<'_>) -> bool {
    any!(step in workflow.steps => match step.kind {
        StepKind::Parallel { .. } | StepKind::Each { .. } => true,
        StepKind::Agent { meta, .. } => runs_together(meta),
        _ => false,
    })
}
