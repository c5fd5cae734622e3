//! [`Consumption`]: the measured usage of a part of a run.

use super::{Context, Meter, Run};
use crate::model::UsageByAgent;
use crate::sync::lock;
use crate::{Name, Path};
use adk_spec::__private::Cost;
use serde::{Deserialize, Serialize};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex};

/// Usage of a part of a run that is not executed again when the run is resumed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Consumption {
    pub(crate) usage: UsageByAgent,
    /// Model calls, including failed calls.
    pub(crate) calls: u32,
    /// Rounds of loops. Counted only inside a workflow with `#[bounds(...)]`.
    #[serde(default)]
    pub(crate) rounds: u64,
}

/// Executes a part of a run, and adds its usage to `spent`. The usage is measured around each poll,
/// because no other part of the run is polled at the same time.
pub(crate) async fn measure<F: Future>(
    run: Arc<Run>,
    meter: Option<Arc<Meter>>,
    spent: Arc<Mutex<Consumption>>,
    part: F,
) -> F::Output {
    let mut part = pin!(part);
    poll_fn(|task| {
        let before = run.counts(meter.as_deref());
        let enclosing = run.progress.begin_part();
        let polled = part.as_mut().poll(task);
        let usage = run.progress.end_part(enclosing);
        let after = run.counts(meter.as_deref());
        let mut spent = lock(&spent);
        if let Some(usage) = usage {
            spent.usage += &*usage;
        }
        spent.calls = spent.calls.saturating_add(after.0.saturating_sub(before.0));
        spent.rounds = spent
            .rounds
            .saturating_add(after.1.saturating_sub(before.1));
        polled
    })
    .await
}

impl Run {
    /// Returns the number of model calls, including failed ones, and of rounds so far.
    fn counts(&self, meter: Option<&Meter>) -> (u32, u64) {
        let rounds = meter.map_or(0, |meter| meter.used(Cost::Rounds));
        (self.outermost().limits.llm_calls(), rounds)
    }
}

impl Context {
    /// Skips recorded work at the matching paths that is not executed again, and counts its usage.
    /// Returns the keys that it wrote.
    pub(crate) fn skip_recorded(
        &self,
        spent: &Consumption,
        is_match: impl Fn(&Path) -> bool,
    ) -> Vec<Name> {
        self.run.add_usages(&spent.usage);
        self.run.outermost().limits.count_earlier_calls(spent.calls);
        self.count_replayed(&spent.usage.total(), spent.rounds);
        let replay = self.run.kind.replay();
        replay
            .map(|replay| replay.skip(&self.run, is_match))
            .unwrap_or_default()
    }
}

impl Consumption {
    /// Returns the sum of `self` and `other`.
    pub(crate) fn plus(mut self, other: &Self) -> Self {
        self.usage += &other.usage;
        self.calls = self.calls.saturating_add(other.calls);
        self.rounds = self.rounds.saturating_add(other.rounds);
        self
    }
}
