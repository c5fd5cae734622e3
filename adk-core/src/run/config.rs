//! Settings of a run.

/// Settings of a run; those of the runner unless `.config(...)` replaces them.
///
/// ```
/// # use adk_core as adk;
/// use adk::RunConfig;
/// let config = RunConfig::new().max_llm_calls(20).streaming(true);
/// assert_eq!(config.max_llm_calls, 20);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunConfig {
    /// The most model calls of the whole run, over all agents and branches; 0 is no limit. Default 500, as in ADK.
    pub max_llm_calls: u32,
    /// Whether replies of models come in pieces, as partial events, before they come as a whole. Default `false`.
    pub streaming: bool,
    /// Whether a failed tool call ends the run, as in ADK for Python. Otherwise the model is told of it, as it is of a
    /// transfer to an agent that is not there. Default `false`.
    pub tool_errors_end_run: bool,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self { max_llm_calls: 500, streaming: false, tool_errors_end_run: false }
    }
}

impl RunConfig {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// The most model calls of the whole run; 0 is no limit.
    #[must_use]
    pub fn max_llm_calls(mut self, calls: u32) -> Self {
        self.max_llm_calls = calls;
        self
    }

    /// Whether replies of models come in pieces first.
    #[must_use]
    pub fn streaming(mut self, yes: bool) -> Self {
        self.streaming = yes;
        self
    }

    /// Whether a failed tool call ends the run.
    #[must_use]
    pub fn tool_errors_end_run(mut self, yes: bool) -> Self {
        self.tool_errors_end_run = yes;
        self
    }

    /// Whether the run does what ADK for Python does.
    pub(crate) fn follows_adk(&self) -> bool {
        self.tool_errors_end_run
    }
}
