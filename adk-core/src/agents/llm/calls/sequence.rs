//! [`Sequence`]: the order of the calls of one model reply. Calls run concurrently, unless they
//! must see writes of earlier calls.
//!
//! A call whose tool reads and writes a key sees the writes of the calls before it. So calls that
//! write a key run one after the other, in the order of the reply, if some tool of the reply both
//! reads and writes the key. Keys are compared by their stored names, because an instance may read
//! and write one key under two names.

use crate::FunctionCall;
use crate::Name;
use crate::agents::llm::toolbox::Toolbox;
use crate::runtime::run::{Context, KeyScope, stored_key};
use crate::runtime::tool::DynTool;
use crate::spec::Renames;
use crate::store::event::StateDelta;
use adk_spec::effects::Effects;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The calls of a reply in waves. The calls of a wave run concurrently, after all calls of the
/// previous wave.
pub(super) struct Sequence {
    /// The wave of each call.
    waves: Vec<usize>,
    /// For each call, the stored keys that it writes and that some tool of the reply both reads and
    /// writes.
    keys: Vec<BTreeSet<String>>,
}

impl Sequence {
    pub(super) fn new(tools: &Toolbox<'_>, calls: &[Arc<FunctionCall>], cx: &Context) -> Self {
        let free = Self {
            waves: vec![0; calls.len()],
            keys: Vec::new(),
        };
        if calls.len() < 2 {
            return free;
        }
        let scope = cx.around.scope.as_deref();
        let touched_keys = |call: &Arc<FunctionCall>| {
            tools
                .get(&call.name)
                .map(|tool| TouchedKeys::from_tool(tool, scope))
                .unwrap_or_default()
        };
        let touched: Vec<_> = calls.iter().map(touched_keys).collect();
        let both = touched
            .iter()
            .flat_map(|keys| keys.writes.intersection(&keys.reads));
        let shared: BTreeSet<_> = both.cloned().collect();
        if shared.is_empty() {
            return free;
        }
        let keys: Vec<BTreeSet<_>> = touched
            .into_iter()
            .map(|keys| keys.writes.intersection(&shared).cloned().collect())
            .collect();
        let mut waves: Vec<usize> = Vec::new();
        for own in &keys {
            let before = waves
                .iter()
                .zip(&keys)
                .filter(|(_, other)| !own.is_disjoint(other));
            waves.push(before.map(|(wave, _)| wave + 1).max().unwrap_or_default());
        }
        Self { waves, keys }
    }

    /// Reports whether there is more than one wave.
    pub(super) fn is_needed(&self) -> bool {
        self.waves.iter().any(|wave| *wave > 0)
    }

    /// Returns the indices of the calls of each wave.
    pub(super) fn waves(&self) -> impl Iterator<Item = Vec<usize>> {
        let last = self.waves.iter().copied().max().unwrap_or_default();
        (0..=last).map(|wave| {
            (0..self.waves.len())
                .filter(|at| self.waves[*at] == wave)
                .collect()
        })
    }

    /// Returns the part of `written`, the writes of earlier calls, that a call sees.
    pub(super) fn visible_writes(&self, at: usize, written: &StateDelta) -> StateDelta {
        let keys = self.keys.get(at).into_iter().flatten();
        keys.filter_map(|key| Some((Name::shared(key), written.get(key.as_str())?.clone())))
            .collect()
    }
}

/// The stored keys that a tool reads and writes.
#[derive(Default)]
struct TouchedKeys {
    reads: BTreeSet<String>,
    writes: BTreeSet<String>,
}

impl TouchedKeys {
    /// Returns the keys of a function, or all keys of an agent and of the agents below it.
    fn from_tool(tool: &Arc<dyn DynTool>, scope: Option<&KeyScope>) -> Self {
        let (meta, mut touched) = (tool.meta(), Self::default());
        meta.reads
            .iter()
            .for_each(|key| touched.read(key.name, scope));
        meta.writes
            .iter()
            .for_each(|key| touched.write(key.name, scope));
        let renames = Renames::default();
        for effect in meta
            .agent
            .into_iter()
            .flat_map(|agent| Effects::of(agent, &renames))
        {
            // A key that is declared inside of a workflow is a key of the session here, and an
            // instance does not rename such keys.
            let scope = scope.filter(|_| !effect.is_inside);
            if effect.act.is_write() {
                touched.write(effect.key, scope)
            } else {
                touched.read(effect.key, scope)
            }
        }
        touched
    }

    fn write(&mut self, key: &str, scope: Option<&KeyScope>) {
        self.writes.insert(stored_key(scope, key).into_owned());
    }

    /// Adds both stored keys of a name: the key to which the name is written, and the key from
    /// which it is read until it is written.
    fn read(&mut self, key: &str, scope: Option<&KeyScope>) {
        self.reads.insert(stored_key(scope, key).into_owned());
        self.reads
            .extend(scope.map(|scope| scope.source_key(key).into_owned()));
    }
}
