//! [`RunLimits`]: the settings of a run, and what ends it before its agents do.

use super::RunConfig;
use crate::{Error, ErrorKind, Result};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// The settings of a run with the model calls that it has made, its deadline and its cancellation.
pub(crate) struct RunLimits {
    pub(crate) config: RunConfig,
    /// The number of model calls. The outermost run counts the calls of its nested runs.
    llm_calls: AtomicU32,
    /// The time by which the run must end, and the configured deadline as a duration.
    pub(crate) deadline: Option<(Instant, Duration)>,
    /// Whether this process cancelled the run.
    is_cancelled: AtomicBool,
}

impl RunLimits {
    /// Creates the limits of a run without a deadline of its own.
    pub(crate) fn new(config: RunConfig) -> Self {
        Self {
            config,
            llm_calls: AtomicU32::new(0),
            deadline: None,
            is_cancelled: AtomicBool::new(false),
        }
    }

    /// Creates the limits of a run that has already taken some time of its deadline.
    pub(crate) fn after(taken: Duration, config: RunConfig) -> Self {
        let deadline = config.deadline.and_then(|longest| {
            // A deadline that overflows the clock counts as no deadline.
            let deadline = Instant::now().checked_add(longest.saturating_sub(taken))?;
            Some((deadline, longest))
        });
        Self {
            deadline,
            ..Self::new(config)
        }
    }

    /// Returns the number of model calls up to now.
    pub(crate) fn llm_calls(&self) -> u32 {
        self.llm_calls.load(Ordering::Relaxed)
    }

    /// Counts a model call before the call is made or read from its record.
    pub(crate) fn count_llm_call(&self, is_recorded: bool) -> Result<()> {
        let max = self.config.max_llm_calls;
        let made = self.llm_calls.fetch_add(1, Ordering::Relaxed);
        if max > 0 && made >= max && !is_recorded {
            let message =
                format!("this run has made {max} model calls, which is its `max_llm_calls`");
            return Err(Error::new(ErrorKind::LlmCallsExceeded, message)
                .with_help("raise it with `RunConfig::max_llm_calls(n)`, 0 for no limit"));
        }
        Ok(())
    }

    /// Counts model calls of an earlier execution, or of a part of the run that this process did
    /// not execute.
    pub(crate) fn count_earlier_calls(&self, calls: u32) {
        self.llm_calls.fetch_add(calls, Ordering::Relaxed);
    }

    pub(super) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::SeqCst)
    }
}
