//! The scopes of keys that steps make: a workflow inside another, an instance with other keys, an element of an `each`.

use crate::Name;
use crate::runtime::run::KeyScope;
use crate::spec::{AgentKind, AgentMeta, ERROR_KEY, KeySpec, Renames, Spec, Step, StepKind};
use crate::store::session::Scope;
use adk_spec::effects::{Act, Effects};
use std::sync::Arc;

/// The keys of a workflow that is the step `name` of another: its outputs are keys of the other, the session's own
/// keys stay what they are, and every other key is stored as `STEP/key`.
pub(super) fn workflow_scope(spec: &Spec<'_>, name: Name, outer: Option<Arc<KeyScope>>) -> KeyScope {
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

/// The keys of an instance that has others than its definition: `critic(draft = essay) -> essay_criticism`.
///
/// A key that it reads from one and writes to another is the one until it has been written, and then the other, so
/// that an agent sees what it has set.
pub(super) fn instance_scope(
    meta: &AgentMeta<'_>,
    renames: &Renames<'_>,
    outer: Option<Arc<KeyScope>>,
) -> KeyScope {
    let mut scope = KeyScope::renames(outer);
    for (own, read) in renames.reads {
        scope.map(Name::shared(own), Name::shared(read), &Name::shared(written_key(meta, renames, own)));
    }
    for (key, written) in meta.writes.iter().zip(renames.writes) {
        if renames.reads.iter().any(|(own, _)| *own == key.name) {
            continue;
        }
        // A workflow takes its inputs from the keys around; what is an output alone is one key inside and outside.
        let taken = meta.kind != AgentKind::Workflow || meta.reads.iter().any(|read| read.name == key.name);
        let read = if taken { key.name } else { written };
        scope.map(Name::shared(key.name), Name::shared(read), &Name::shared(written));
    }
    scope
}

/// The keys of one element of the `each` of that name: `own` are stored as `each_1[3]/note`.
///
/// What an element of an earlier round or run has left there is not seen: its own keys, and those of workflows inside,
/// hold nothing at its start.
pub(super) fn element_scope(each: &Name, index: u32, own: &[Name], outer: Option<Arc<KeyScope>>) -> KeyScope {
    let mut scope = KeyScope::element(outer, each.clone(), index);
    for name in own {
        scope.map_to_own(name.clone());
    }
    scope
}

/// The keys of the `else` of the try of that name: its error is stored as `try_1/error`.
pub(super) fn else_scope(name: &Name, outer: Option<Arc<KeyScope>>) -> KeyScope {
    KeyScope::with_own(outer, name, Name::literal(ERROR_KEY))
}

/// How an instance calls the key that its definition writes as `key`.
fn written_key<'a>(meta: &AgentMeta<'_>, renames: &Renames<'a>, key: &'a str) -> &'a str {
    let mut all = meta.writes.iter().zip(renames.writes);
    all.find(|(own, _)| own.name == key).map_or(key, |(_, written)| written)
}

/// The keys that something which belongs to a step can write, by their names at its place; those of a workflow inside are
/// its outputs. Keys of the session are not among them.
pub(super) fn written_keys<'a>(step: &'a Step<'_>) -> impl Iterator<Item = &'a str> {
    let effects = match step.kind {
        StepKind::Agent { meta, .. } => Some(Effects::writes(meta, &step.renames).outside()),
        _ => None,
    };
    let writes = effects.into_iter().flatten().filter(|effect| effect.act.is_write());
    writes.map(|effect| effect.key).filter(|key| Scope::of(key) == Scope::Session)
}

/// Whether a workflow that belongs to a step takes an input that has a default.
pub(super) fn has_defaults(step: &Step<'_>) -> bool {
    let StepKind::Agent { meta, .. } = step.kind else { return false };
    // Each start of a workflow asks this of all its steps, and most of them need no walk.
    if meta.transfer.is_empty() && meta.tools.is_empty() && !meta.reads.iter().any(|key| key.optional) {
        return false;
    }
    let mut effects = Effects::of(meta, &step.renames).outside();
    while let Some(effect) = effects.next() {
        if effects.agent().kind == AgentKind::Workflow
            && matches!(effect.act, Act::Read { spec: KeySpec { optional: true, .. }, .. })
        {
            return true;
        }
    }
    false
}
