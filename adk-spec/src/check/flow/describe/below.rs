//! What a step has below it: tools, and agents that it may transfer to.

use super::super::effects::{self, DEEPEST, tool};
use super::who;
use crate::check::message::Message;
use crate::check::text::same;
use crate::spec::{AgentMeta, Spec, StepKind, ToolMeta};

/// What a step has below it, by its name: agent `billing`, to which agent `desk` may transfer. Only what writes may be a function.
pub(super) const fn below(m: &mut Message, spec: &Spec<'_>, at: usize, name: &str, writes: bool) {
    let StepKind::Agent { meta, .. } = spec.steps[at].kind else { return who(m, spec, at) };
    let owner = owner(meta, name, DEEPEST);
    let found = match owner {
        Some(owner) => tool(owner, name),
        None => tool(meta, name),
    };
    let (word, of, end) = match found {
        Some(ToolMeta { agent: Some(_), .. }) => ("agent `", "`, a tool of ", ","),
        Some(_) if writes => ("tool `", "` of ", ""),
        _ => ("agent `", "`, to which ", " may transfer,"),
    };
    m.all(&[word, name, of]);
    match owner {
        Some(owner) => m.all(&["agent `", owner.name, "`"]),
        None => who(m, spec, at),
    }
    m.push(end);
}

/// Whose tool or transfer target something below an agent is, when it is not that agent's.
const fn owner<'a>(meta: &AgentMeta<'a>, name: &str, deepest: usize) -> Option<&'a AgentMeta<'a>> {
    let mut i = 0;
    while deepest > 0
        && !has(meta, name)
        && let Some(inner) = effects::below(meta, i)
    {
        if has(inner, name) {
            return Some(inner);
        }
        if let Some(found) = owner(inner, name, deepest - 1) {
            return Some(found);
        }
        i += 1;
    }
    None
}

/// Whether an agent has a tool of that name, or may transfer to an agent of it.
const fn has(meta: &AgentMeta<'_>, name: &str) -> bool {
    let mut i = 0;
    while i < meta.transfer.len() {
        if same(meta.transfer[i].name, name) {
            return true;
        }
        i += 1;
    }
    tool(meta, name).is_some()
}
