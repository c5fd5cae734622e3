//! Pauses and time limits of a run, by the clock of this process or by an engine with timers.

use super::Run;
use crate::store::engine::{StepKey, TimerKind};
use futures_util::future::{Either, select};
use std::pin::pin;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

impl Run {
    /// Waits for a pause of `time`; `left` is the part of it that this process would wait. An
    /// engine with timers is always asked, because it knows the rest of the pause.
    pub(crate) async fn pause(&self, key: StepKey, time: Duration, left: Duration) {
        match self.engine.timers() {
            Some(timers) => timers.sleep(key, time, TimerKind::Pause).await,
            None => sleep(left).await,
        }
    }

    /// Does the work until a deadline; `None` when the deadline comes first. A deadline in the past
    /// leaves no time for waits.
    pub(crate) async fn run_until<T>(
        &self,
        key: StepKey,
        deadline: Instant,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let left = deadline.saturating_duration_since(Instant::now());
        let Some(timers) = self.engine.timers() else {
            return if left.is_zero() {
                None
            } else {
                timeout_at(deadline, work).await.ok()
            };
        };
        match select(pin!(work), timers.sleep(key, left, TimerKind::Limit)).await {
            Either::Left((done, _)) => Some(done),
            Either::Right(_) => None,
        }
    }
}
