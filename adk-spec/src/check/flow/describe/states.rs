//! `key-duplicate`, for a session key that a workflow inside a step declares as `state`.

use super::super::FlowDiagnostic;
use super::push_clause;
use crate::check::Check;
use crate::effects::{Act, Effects};
use crate::message::Message;
use crate::spec::{KeySpec, Spec, StepKind};
use crate::text::same;
use crate::type_names::is_option;

/// Returns the workflow inside a step that declares a key as `state`, and that key.
const fn keeper<'a>(spec: &Spec<'a>, at: usize, key: &str) -> Option<(&'a str, KeySpec<'a>)> {
    let StepKind::Agent { meta, .. } = spec.steps[at].kind else {
        return None;
    };
    let mut all = Effects::writes(meta, &spec.steps[at].renames);
    while let Some(effect) = all.next() {
        if let Act::State(state) = effect.act
            && same(state.name, key)
        {
            return Some((all.agent().name, state));
        }
    }
    None
}

/// Returns whether a workflow inside any step declares a key as `state`.
pub(in super::super) const fn is_kept(spec: &Spec<'_>, key: &str) -> bool {
    find!(at in 0, spec.steps.len() => keeper(spec, at, key).is_some()).is_some()
}

/// Describes a key of this workflow that has the name of a session key of a workflow inside it.
pub(super) const fn own_state(m: &mut Message, spec: &Spec<'_>, diagnostic: &FlowDiagnostic<'_>) {
    let (at, key) = (diagnostic.at, diagnostic.key);
    m.begin(Check::KeyDuplicate);
    let mut state = None;
    if at < spec.steps.len() {
        state = keeper(spec, at, key);
    }
    let is_here = state.is_some();
    let mut i = 0;
    while state.is_none() && i < spec.steps.len() {
        state = keeper(spec, i, key);
        i += 1;
    }
    let Some((workflow, state)) = state else {
        return;
    };
    if is_here {
        m.all(&[
            "workflow `",
            workflow,
            "` keeps `",
            key,
            "` in the session, and `",
            spec.name,
        ]);
        m.all(&["` has a key `", key, "` of its own"]);
    } else if at < spec.steps.len() {
        push_clause(
            m,
            spec,
            at,
            &[" reads `", key, "`, which is not a key of `", spec.name],
        );
        m.all(&["`: workflow `", workflow, "` keeps it in the session"]);
    } else {
        m.all(&[
            "output `",
            key,
            "` is not a key of `",
            spec.name,
            "`: workflow `",
            workflow,
        ]);
        m.push("` keeps it in the session");
    }
    m.push("; help: if both are one key, declare it here as well, ");
    if spec.built {
        m.all(&["`.state_key::<", state.ty, ">(\"", key, "\")`"]);
    } else {
        let is_inside = state.optional && !is_option(state.ty);
        let (open, close) = if is_inside {
            ("Option<", ">")
        } else {
            ("", "")
        };
        m.all(&["`state ", key, ": ", open, state.ty, close, ";`"]);
    }
    m.push(if is_here {
        ", and otherwise give this one another name"
    } else {
        ""
    });
}
