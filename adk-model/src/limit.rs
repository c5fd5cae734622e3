//! [`RateLimit`]: calls and tokens per minute and concurrent calls of a provider, shared by all
//! runs of a runner.

mod gate;

pub use gate::{Gate, Permit};

/// Rate limit of a provider. Calls that exceed the limit wait, and runs take turns. The agent's
/// `timeout` does not include this wait.
///
/// When a provider rejects a call because of load (429, 503) and names a time to wait, no run calls
/// the provider in that time.
///
/// ```
/// # use adk_build as adk;
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
    /// Creates a value without limits.
    pub const fn new() -> Self {
        Self {
            calls: None,
            tokens: None,
            concurrency: None,
        }
    }

    /// Sets the maximum number of calls in any 60 seconds; 0 counts as 1.
    #[must_use]
    pub const fn calls_per_minute(mut self, calls: u32) -> Self {
        self.calls = Some(if calls == 0 { 1 } else { calls });
        self
    }

    /// Sets the maximum number of tokens in any 60 seconds, in requests and replies together.
    ///
    /// The tokens of a call are estimated before it starts: 4 bytes of the request per token, plus
    /// the agent's `max_output_tokens`. The actual number replaces the estimate when the call ends.
    /// A call that needs more than the limit starts when the last minute has no other calls.
    #[must_use]
    pub const fn tokens_per_minute(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Sets the maximum number of concurrent calls; 0 counts as 1.
    #[must_use]
    pub const fn concurrency(mut self, calls: u32) -> Self {
        self.concurrency = Some(if calls == 0 { 1 } else { calls });
        self
    }

    /// Reports whether the limit counts tokens.
    pub const fn counts_tokens(&self) -> bool {
        self.tokens.is_some()
    }
}
