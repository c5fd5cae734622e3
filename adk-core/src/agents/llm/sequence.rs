//! The order of the calls of one model reply: beside each other, unless they have to see what earlier ones wrote.
//!
//! A call whose tool reads and writes a key sees what the calls before it have written there. So a key that some tool of the
//! reply both reads and writes is written by one call after the other, in the order of the calls. Keys are compared as they are
//! stored: an instance may read and write one key under two names.

use super::toolbox::Toolbox;
use crate::Name;
use crate::content::FunctionCall;
use crate::runtime::run::{Context, KeyScope, stored_key};
use crate::runtime::tool::DynTool;
use crate::spec::Renames;
use crate::store::event::StateDelta;
use adk_spec::effects::Effects;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The calls of a reply in waves: those of one run beside each other, after all of the wave before.
pub(super) struct Sequence {
    /// The wave of each call.
    waves: Vec<usize>,
    /// The stored keys that each call writes after others.
    keys: Vec<BTreeSet<String>>,
}

impl Sequence {
    pub(super) fn of(tools: &Toolbox<'_>, calls: &[Arc<FunctionCall>], cx: &Context) -> Self {
        let free = Self { waves: vec![0; calls.len()], keys: Vec::new() };
        if calls.len() < 2 {
            return free;
        }
        let scope = cx.scope.as_deref();
        let of = |call: &Arc<FunctionCall>| {
            tools.get(&call.name).map(|tool| Touched::of(tool, scope)).unwrap_or_default()
        };
        let touched: Vec<_> = calls.iter().map(of).collect();
        let both = touched.iter().flat_map(|keys| keys.writes.intersection(&keys.reads));
        let shared: BTreeSet<_> = both.cloned().collect();
        if shared.is_empty() {
            return free;
        }
        let keys: Vec<BTreeSet<_>> =
            touched.into_iter().map(|keys| keys.writes.intersection(&shared).cloned().collect()).collect();
        let mut waves: Vec<usize> = Vec::new();
        for own in &keys {
            let before = waves.iter().zip(&keys).filter(|(_, other)| !own.is_disjoint(other));
            waves.push(before.map(|(wave, _)| wave + 1).max().unwrap_or_default());
        }
        Self { waves, keys }
    }

    /// Whether there is more than one wave.
    pub(super) fn is_needed(&self) -> bool {
        self.waves.iter().any(|wave| *wave > 0)
    }

    /// The calls of each wave, by their numbers.
    pub(super) fn waves(&self) -> impl Iterator<Item = Vec<usize>> {
        let last = self.waves.iter().copied().max().unwrap_or_default();
        (0..=last).map(|wave| (0..self.waves.len()).filter(|at| self.waves[*at] == wave).collect())
    }

    /// What a call sees of what `written` says that the calls before it have written.
    pub(super) fn seen(&self, at: usize, written: &StateDelta) -> StateDelta {
        let keys = self.keys.get(at).into_iter().flatten();
        keys.filter_map(|key| Some((Name::shared(key), written.get(key.as_str())?.clone()))).collect()
    }
}

/// The stored keys that a tool reads and writes.
#[derive(Default)]
struct Touched {
    reads: BTreeSet<String>,
    writes: BTreeSet<String>,
}

impl Touched {
    /// Those of a function, or all of an agent and of what is below it.
    fn of(tool: &Arc<dyn DynTool>, scope: Option<&KeyScope>) -> Self {
        let (meta, mut touched) = (tool.meta(), Self::default());
        meta.reads.iter().for_each(|key| touched.read(key.name, scope));
        meta.writes.iter().for_each(|key| touched.write(key.name, scope));
        let renames = Renames::default();
        for effect in meta.agent.into_iter().flat_map(|agent| Effects::of(agent, &renames)) {
            // What is inside of a workflow is a key of the session, which no instance renames.
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

    /// What has been written under a name is found by a read of it, wherever the read began.
    fn read(&mut self, key: &str, scope: Option<&KeyScope>) {
        self.reads.insert(stored_key(scope, key).into_owned());
        self.reads.extend(scope.map(|scope| scope.source_key(key).into_owned()));
    }
}
