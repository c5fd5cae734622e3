//! `agent-attribute`: the keys of an agent that is written by hand stand in one place.

use super::message::Message;
use crate::spec::AgentMeta;

/// Ends const evaluation when a description says keys itself that `#[agent(...)]` says.
#[doc(hidden)]
#[track_caller]
pub const fn raise_keys(meta: &AgentMeta<'_>) {
    let (word, keys) = match (meta.reads, meta.writes) {
        ([first, ..], _) => ("reads", first.name),
        ([], [first, ..]) => ("writes", first.name),
        ([], []) => return,
    };
    let mut m = Message::new();
    m.all(&["agent-attribute: `META` of agent `", meta.name, "` says by itself that it ", word, " `", keys]);
    m.all(&["`, and `#[agent]` stands on its `impl`; help: move it from `META` to `#[agent(", word, "("]);
    m.all(&[keys, ": TYPE))]`"]);
    panic!("{}", m.as_str());
}
