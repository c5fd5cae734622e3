//! Limits of a provider, shared by all runs of a runner: calls and tokens in a minute, and calls at the same time.

mod gate;

pub(crate) use gate::{Gate, Permit};

/// What a provider may be asked. Calls beyond it wait, each run in its turn; the agent's `timeout` does not count that time.
///
/// A provider that refuses a call for load (429, 503) and says how long to wait is asked nothing in that time, by no run.
///
/// ```
/// # use adk_core as adk;
/// use adk::model::RateLimit;
///
/// let limit = RateLimit::new().calls_per_minute(500).tokens_per_minute(200_000).concurrency(8);
/// # let _ = limit;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimit {
    calls: Option<u32>,
    tokens: Option<u64>,
    concurrency: Option<u32>,
}

impl RateLimit {
    /// No limit yet.
    pub const fn new() -> Self {
        Self { calls: None, tokens: None, concurrency: None }
    }

    /// The most calls in any 60 seconds; 0 counts as 1.
    #[must_use]
    pub const fn calls_per_minute(mut self, calls: u32) -> Self {
        self.calls = Some(if calls == 0 { 1 } else { calls });
        self
    }

    /// The most tokens in any 60 seconds, of requests and answers together.
    ///
    /// What a call needs is estimated before it is made: a token for 4 bytes of the request, and the agent's `max_output_tokens`.
    /// Afterwards its true number counts. A call that is larger than the limit is made when nothing else was in a minute.
    #[must_use]
    pub const fn tokens_per_minute(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// The most calls at the same time; 0 counts as 1.
    #[must_use]
    pub const fn concurrency(mut self, calls: u32) -> Self {
        self.concurrency = Some(if calls == 0 { 1 } else { calls });
        self
    }

    /// Whether tokens are counted.
    pub(crate) const fn counts_tokens(&self) -> bool {
        self.tokens.is_some()
    }
}
