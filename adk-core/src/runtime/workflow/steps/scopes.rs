//! The key scopes of nested workflows, of instances with other keys, of elements of an `each`, and
//! of an `else`.

use crate::Name;
use crate::runtime::run::KeyScope;
use crate::spec::{AgentKind, AgentMeta, ERROR_KEY, KeySpec, Renames, Spec, Step, StepKind};
use crate::store::session::Scope;
use adk_spec::effects::{Act, Effects};
use std::sync::Arc;

/// Returns the scope of a workflow that is the step `name` of another workflow. Its outputs are
/// keys of the outer workflow, session keys keep their names, and every other key is stored as
/// `STEP/key`.
pub(crate) fn workflow_scope(
    spec: &Spec<'_>,
    name: Name,
    outer: Option<Arc<KeyScope>>,
) -> KeyScope {
    let mut scope = KeyScope::closed(outer, name);
    for output in spec.outputs {
        let name = Name::shared(output.name);
        scope.map(name.clone(), name.clone(), &name);
    }
    for state in spec.states {
        scope.map_to_session(Name::shared(state.name));
    }
    scope
}

/// Returns the scope of an instance whose keys differ from its definition: `critic(draft = essay)
/// -> essay_criticism`.
///
/// A key may be read from one stored key and written to another. Reads use the first until the
/// agent has written the key, and then the second, so that the agent sees its own writes.
pub(crate) fn instance_scope(
    meta: &AgentMeta<'_>,
    renames: &Renames<'_>,
    outer: Option<Arc<KeyScope>>,
) -> KeyScope {
    let mut scope = KeyScope::renames(outer);
    for (own, read) in renames.reads {
        scope.map(
            Name::shared(own),
            Name::shared(read),
            &Name::shared(written_key(meta, renames, own)),
        );
    }
    for (key, written) in meta.writes.iter().zip(renames.writes) {
        if renames.reads.iter().any(|(own, _)| *own == key.name) {
            continue;
        }
        // Until the instance writes a key, it reads the outer key that has the name of its
        // definition. An output of a workflow that is not an input is read from the key that it is
        // written to.
        let taken =
            meta.kind != AgentKind::Workflow || meta.reads.iter().any(|read| read.name == key.name);
        let read = if taken { key.name } else { written };
        scope.map(
            Name::shared(key.name),
            Name::shared(read),
            &Name::shared(written),
        );
    }
    scope
}

/// Returns the scope of one element of the `each` with the name `each`. The keys `own` are stored
/// as `each_1[3]/note`.
///
/// An element does not see values of an element of an earlier round or run: its own keys, and the
/// keys of workflows inside it, hold no values at its start.
pub(crate) fn element_scope(
    each: &Name,
    index: u32,
    own: &[Name],
    outer: Option<Arc<KeyScope>>,
) -> KeyScope {
    let mut scope = KeyScope::element(outer, each.clone(), index);
    for name in own {
        scope.map_to_own(name.clone());
    }
    scope
}

/// Returns the scope of the `else` of the `try` with this name. Its error is stored as
/// `try_1/error`.
pub(crate) fn else_scope(name: &Name, outer: Option<Arc<KeyScope>>) -> KeyScope {
    KeyScope::with_own(outer, name, Name::literal(ERROR_KEY))
}

/// Returns the name in the instance of the key that its definition writes as `key`.
fn written_key<'a>(meta: &AgentMeta<'_>, renames: &Renames<'a>, key: &'a str) -> &'a str {
    let mut all = meta.writes.iter().zip(renames.writes);
    all.find(|(own, _)| own.name == key)
        .map_or(key, |(_, written)| written)
}

/// Returns the keys that a step can write, including its tools and transfer targets, by their names
/// outside of the step. For a nested workflow these are its outputs. Session keys with a prefix are
/// not included.
pub(crate) fn written_keys<'a>(step: &'a Step<'_>) -> impl Iterator<Item = &'a str> {
    let effects = match step.kind {
        StepKind::Agent { meta, .. } => Some(Effects::writes(meta, &step.renames).outside()),
        _ => None,
    };
    let writes = effects
        .into_iter()
        .flatten()
        .filter(|effect| effect.act.is_write());
    writes
        .map(|effect| effect.key)
        .filter(|key| Scope::of(key) == Scope::Session)
}

/// Returns `true` if a workflow that belongs to the step has an input with a default.
pub(crate) fn has_defaults(step: &Step<'_>) -> bool {
    let StepKind::Agent { meta, .. } = step.kind else {
        return false;
    };
    // Each start of a workflow makes this check for all its steps, and most steps need no walk over
    // their effects.
    if meta.transfer.is_empty()
        && meta.tools.is_empty()
        && !meta.reads.iter().any(|key| key.optional)
    {
        return false;
    }
    let mut effects = Effects::of(meta, &step.renames).outside();
    while let Some(effect) = effects.next() {
        if effects.agent().kind == AgentKind::Workflow
            && matches!(
                effect.act,
                Act::Read {
                    spec: KeySpec { optional: true, .. },
                    ..
                }
            )
        {
            return true;
        }
    }
    false
}
