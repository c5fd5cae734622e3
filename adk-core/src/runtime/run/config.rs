//! [`RunConfig`]: the settings of a run.

use crate::spec::Budget;
use adk_spec::setters;
use std::time::Duration;

/// The behavior of a run while another run of its session is unfinished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionTurns {
    /// The run waits until the other run has ended or waits for an answer. Runs begin in the order
    /// of their requests.
    #[default]
    Queue,
    /// The run fails with [`ErrorKind::SessionBusy`](crate::ErrorKind::SessionBusy).
    Refuse,
    /// Both runs execute at the same time, as in ADK. Each sees the events and state of the other.
    Share,
}

/// Settings of a run. They are those of the runner unless `.config(...)` replaces them.
///
/// ```
/// # use adk_core as adk;
/// use adk::RunConfig;
/// let config = RunConfig::new().max_llm_calls(20).streaming(true);
/// assert_eq!(config.max_llm_calls, 20);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RunConfig {
    /// The highest number of model calls of the whole run, over all agents and branches; 0
    /// disables the limit. Default 500, as in ADK.
    pub max_llm_calls: u32,
    /// The longest time from the first start of the run to its end. Resumes, the time of the
    /// consumer, and the time of waits count. `None` disables the limit. Default `None`.
    pub deadline: Option<Duration>,
    /// Whether replies of models arrive in pieces, as partial events, before the whole reply.
    /// Default `false`.
    pub streaming: bool,
    /// Whether the stream has events for the start and end of agents and blocks, and for the
    /// progress of an `each`, see [`Lifecycle`](crate::Lifecycle). Default `false`.
    pub lifecycle_events: bool,
    /// Whether spans hold contents: prompts, answers, arguments and results of tools, and texts of
    /// errors. Default `false`: spans hold names of agents, models and tools, counts, and kinds of
    /// errors.
    pub trace_contents: bool,
    /// Whether an escalate ends every enclosing loop, as in ADK. The sequences between the agent
    /// and the outermost loop continue. An escalate by a direct child of a parallel block cancels
    /// its siblings. Default `false`: an escalate ends the innermost loop, like a `break`. The
    /// checker assumes the default. With this setting, keys that the checker knows after an outer
    /// loop may be missing, which is an error of the run.
    pub escalate_ends_all_loops: bool,
    /// Whether a tool's error ends the run. Default `false`: the model receives it as an error
    /// result.
    pub tool_errors_end_run: bool,
    /// Whether a transfer to an unknown agent ends the run. Default `false`: the model receives an
    /// error result with the known names.
    pub transfer_errors_end_run: bool,
    /// Whether the model calls of a handover target are counted over all its turns at one path,
    /// against its `max_turns` and its part of [`Bounds`](crate::check::Bounds). An agent without
    /// remaining calls is no longer a target. Default `true`. In ADK each turn begins anew.
    pub limit_handovers: bool,
    /// Whether an answer that does not fit its agent's type is returned to the model, up to the
    /// agent's `answer_attempts`. Default `true`. In ADK such an answer ends the run.
    pub repair_answers: bool,
    /// Whether an agent that ends without having written its declared key fails the run. Default
    /// `true`.
    pub require_keys: bool,
    /// Whether an agent or a block that ends a loop without having announced it fails the run.
    /// Default `true`.
    pub require_announced_exits: bool,
    /// Whether a write of an unannounced state key, or of another type, is an error. Default
    /// `true`.
    pub require_announced_writes: bool,
    /// Whether the log contains ADK's checkpoint events: `agent_state` before each step of a
    /// sequence or loop, and `end_of_agent`. Default `false`. The ability to resume a run depends
    /// on the engine, and not on this setting.
    pub resumable: bool,
    /// Whether hand-written agents, including functions, count as finished after their end, under
    /// [`resumable`](Self::resumable). Default `true`. In ADK they never report their end: a
    /// parallel block with such an agent has no `end_of_agent`, and when the block is resumed
    /// before its end, the branch is executed again, as another turn.
    pub custom_agents_finish: bool,
    /// The behavior while another run of the session is unfinished in this process. Default
    /// [`SessionTurns::Queue`].
    pub turns: SessionTurns,
    /// The highest number of bytes that a model reads of a tool result, as JSON; `None` disables
    /// the limit. Default `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tool_result: Option<u32>,
    /// The limit of the run in money or in tokens. A run that exceeds it ends with an error of
    /// kind [`BudgetExceeded`](crate::ErrorKind::BudgetExceeded), and its committed events
    /// stay. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// The highest number of bytes of an artifact version that an agent, a tool or a callback
    /// saves. Default `None`: the limit of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_artifact_bytes: Option<u64>,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            max_llm_calls: 500,
            deadline: None,
            streaming: false,
            lifecycle_events: false,
            trace_contents: false,
            escalate_ends_all_loops: false,
            tool_errors_end_run: false,
            transfer_errors_end_run: false,
            limit_handovers: true,
            repair_answers: true,
            require_keys: true,
            require_announced_exits: true,
            require_announced_writes: true,
            resumable: false,
            custom_agents_finish: true,
            turns: SessionTurns::Queue,
            max_tool_result: None,
            budget: None,
            max_artifact_bytes: None,
        }
    }
}

impl RunConfig {
    /// Returns the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the settings of Google's ADK where this crate differs on purpose. An escalate ends
    /// every enclosing loop. The error of a tool or of a transfer, and an answer of another type,
    /// end the run. Handovers have no limit. Unwritten keys, and unannounced exits and writes, are
    /// not errors. A hand-written agent never counts as finished, and runs of one session do not
    /// take turns.
    ///
    /// ```
    /// # use adk_core as adk;
    /// use adk::RunConfig;
    /// let by_hand = RunConfig::new()
    ///     .escalate_ends_all_loops(true)
    ///     .tool_errors_end_run(true)
    ///     .transfer_errors_end_run(true)
    ///     .limit_handovers(false)
    ///     .repair_answers(false)
    ///     .require_keys(false)
    ///     .require_announced_exits(false)
    ///     .require_announced_writes(false)
    ///     .custom_agents_finish(false)
    ///     .turns(adk::SessionTurns::Share);
    /// assert_eq!(RunConfig::adk(), by_hand);
    /// ```
    pub fn adk() -> Self {
        Self {
            escalate_ends_all_loops: true,
            tool_errors_end_run: true,
            transfer_errors_end_run: true,
            limit_handovers: false,
            repair_answers: false,
            require_keys: false,
            require_announced_exits: false,
            require_announced_writes: false,
            custom_agents_finish: false,
            turns: SessionTurns::Share,
            ..Self::default()
        }
    }

    setters! { []
        /// Sets the highest number of model calls of the whole run; 0 disables the limit.
        max_llm_calls(calls: u32) = calls;
        /// Sets the longest time of the run. A longer run fails with an error of kind
        /// [`DeadlineExceeded`](crate::ErrorKind::DeadlineExceeded), and its committed events stay.
        ///
        /// The time counts from the first start of the run. A run that waits for a user ends when
        /// it is resumed, not while it waits.
        deadline(longest: Duration) = Some(longest);
        /// Sets the highest number of bytes of an artifact version. To save more is an error of
        /// kind [`StoreErrorKind::TooLarge`](crate::StoreErrorKind::TooLarge).
        max_artifact_bytes(bytes: u64) = Some(bytes);
        /// Sets the budget of the run: `"0.50 USD".parse()?`, or `"20_000 tokens".parse()?`.
        ///
        /// The largest possible usage of each model call is reserved before the call. After the
        /// call its real usage counts, also after a crash. A budget in money needs the runner's
        /// `prices`. A branch in another process is counted at its end.
        budget(budget: Budget) = Some(budget);
        /// Sets the highest number of bytes that a model reads of a tool result.
        ///
        /// If a result is longer, the model reads that many bytes and the name of an artifact with
        /// the whole result. An agent with the tool `load_artifacts` can read the artifact.
        max_tool_result(bytes: u32) = Some(bytes);
        /// Sets whether replies of models arrive in pieces first.
        streaming(yes: bool) = yes;
        /// Sets whether the stream has events for the start and end of agents and blocks, and for
        /// the progress of an `each`.
        ///
        /// ```
        /// # use adk_core as adk;
        /// # async fn show<T: Send + 'static>(
        /// #     mut stream: adk::RunStream<'_, T>,
        /// # ) -> adk::Result<()> {
        /// // runner.run(&workflow, input).config(RunConfig::new().lifecycle_events(true)).stream()
        /// while let Some(event) = stream.next().await {
        ///     let event = event?;
        ///     if let Some(lifecycle) = event.lifecycle() {
        ///         println!("{}: {lifecycle}", event.path);
        ///     }
        /// }
        /// # Ok(())
        /// # }
        /// ```
        lifecycle_events(yes: bool) = yes;
        /// Sets whether spans hold contents.
        trace_contents(yes: bool) = yes;
        /// Sets whether an escalate ends every enclosing loop.
        escalate_ends_all_loops(yes: bool) = yes;
        /// Sets whether a tool's error ends the run.
        tool_errors_end_run(yes: bool) = yes;
        /// Sets whether the log contains ADK's checkpoint events.
        resumable(yes: bool) = yes;
        /// Sets whether hand-written agents count as finished after their end, under
        /// [`resumable`](Self::resumable).
        custom_agents_finish(yes: bool) = yes;
        /// Sets whether a transfer to an unknown agent ends the run.
        transfer_errors_end_run(yes: bool) = yes;
        /// Sets whether the model calls of a handover target are counted over all its turns at one
        /// path.
        limit_handovers(yes: bool) = yes;
        /// Sets whether an answer that does not fit is returned to the model.
        repair_answers(yes: bool) = yes;
        /// Sets whether an agent must write its declared key.
        require_keys(yes: bool) = yes;
        /// Sets whether the end of a loop must have been announced.
        require_announced_exits(yes: bool) = yes;
        /// Sets whether writes of state must have been announced.
        require_announced_writes(yes: bool) = yes;
        /// Sets the behavior while another run of the session is unfinished.
        turns(turns: SessionTurns) = turns;
    }
}
