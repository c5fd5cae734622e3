//! Declared keys: `agent-attribute` for an agent by hand that declares its keys in two places,
//! `key-duplicate` for a tree that is built at run time.

use super::Check;
use super::Diagnostic;
use crate::message::Message;
use crate::spec::{AgentMeta, Spec};
use std::collections::HashMap;

/// Reports keys that are declared twice in a tree that is built at run time. In `workflow!`, the
/// macro reports them from its tokens.
pub(super) fn declared_twice(spec: &Spec<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if !spec.built {
        return;
    }
    let lets = spec.lets.iter().map(|key| (key.name, "`.initial_state`"));
    let states = spec.states.iter().map(|key| (key.name, "`.state_key`"));
    let mut declared = HashMap::new();
    for (key, by) in lets.chain(states) {
        let Some(first) = declared.insert(key, by) else {
            continue;
        };
        let mut m = Message::of(Check::KeyDuplicate, &["`", key, "` is declared twice"]);
        if first == by {
            m.all(&[" by ", by])
        } else {
            m.all(&[": by ", first, " and by ", by])
        }
        m.push("; help: remove one of them, or choose another name");
        diagnostics.push(Diagnostic::from_message("", &m));
    }
}

/// Ends const evaluation when the const `META` of an agent declares keys although `#[agent(...)]`
/// is on the agent's `impl`.
#[track_caller]
pub const fn raise_keys(meta: &AgentMeta<'_>) {
    let (word, keys) = match (meta.reads, meta.writes) {
        ([first, ..], _) => ("reads", first.name),
        ([], [first, ..]) => ("writes", first.name),
        ([], []) => return,
    };
    let fact = [
        "`META` of agent `",
        meta.name,
        "` declares that it ",
        word,
        " `",
        keys,
    ];
    let mut m = Message::of(Check::AgentAttribute, &fact);
    m.all(&[
        "`, and `#[agent]` is on its `impl`; help: move it from `META` to `#[agent(",
        word,
        "(",
    ]);
    m.all(&[keys, ": TYPE))]`"]);
    m.raise();
}
