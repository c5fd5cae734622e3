//! Runs of agents that are used as tools.

use super::kind::NestedRun;
use super::{CallStep, CallerPlace, Run, RunIdentity, RunKind, RunLimits};
use crate::Name;
use crate::store::engine::{Engine, MemoryEngine, NestedEngine};
use crate::store::event::StateDelta;
use crate::store::session::Scope;
use crate::sync::{read, write};
use std::sync::Arc;

impl Run {
    /// Creates the run of an agent that is used as a tool. The run works on a copy of the state
    /// with `delta` on top, and on the artifacts of the session itself. Events of the run are not
    /// stored. Its steps are recorded under `call_name`; without a name, the engine records the
    /// tool call as a whole.
    pub(crate) fn nested(
        outer: &Arc<Run>,
        delta: &StateDelta,
        call_name: Option<Name>,
        (by, step): (CallerPlace, Arc<CallStep>),
    ) -> Self {
        let session = Arc::new(outer.session().copy_with(delta));
        let mut config = outer.limits.config.clone();
        config.streaming = false;
        let nested = call_name.map(|name| {
            let (engine, claim) = (outer.engine.clone(), outer.identity.claim);
            Arc::new(NestedEngine::new(engine, claim, name))
        });
        let engine: Arc<dyn Engine> = match &nested {
            Some(nested) => nested.clone(),
            None => Arc::new(MemoryEngine),
        };
        let kind = RunKind::Nested(Box::new(NestedRun {
            outer: outer.clone(),
            engine: nested,
            by,
            step,
            set: delta.iter().map(|(key, _)| key.clone()).collect(),
        }));
        let run = Self::new(
            kind,
            RunIdentity::first(None),
            session,
            engine,
            outer.services.clone(),
            RunLimits::new(config),
        );
        outer.share_guards(&run);
        *write(&run.delivery.temp) = read(&outer.delivery.temp).clone();
        if let Some(own) = outer.own_keys() {
            let own = own.copy();
            own.record(delta);
            run.set_own_keys(own);
        }
        for (key, value) in delta
            .iter()
            .filter(|(key, _)| Scope::of(key) == Scope::Temp)
        {
            run.delivery.set_temp(key.clone(), value.clone());
        }
        run
    }
}
