//! Settings of a run.

use crate::spec::Budget;
use adk_spec::setters;
use std::time::Duration;

/// What a run does while another run of its session goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionTurns {
    /// It waits until that has ended or waits for a person; runs begin in the order in which they came.
    #[default]
    Queue,
    /// It fails with [`ErrorKind::SessionBusy`](crate::ErrorKind::SessionBusy).
    Refuse,
    /// It goes on at the same time, as in ADK: each sees what the other says and writes to the session.
    Share,
}

/// Settings of a run; those of the runner unless `.config(...)` replaces them.
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
    /// The most model calls of the whole run, over all agents and branches; 0 is no limit. Default 500, as in ADK.
    pub max_llm_calls: u32,
    /// The longest that the run may take from its start on, the time of its consumer and of people that it waits for
    /// included, also when it is taken up again. `None` is no limit. Default `None`.
    pub deadline: Option<Duration>,
    /// Whether replies of models come in pieces, as partial events, before they come as a whole. Default `false`.
    pub streaming: bool,
    /// Whether the stream tells that agents and blocks begin and end, see [`Lifecycle`](super::Lifecycle). Default `false`.
    pub lifecycle_events: bool,
    /// Whether spans hold what was said: prompts, answers, arguments and results of tools, and texts of errors. Default
    /// `false`: they name agents, models, tools, counts and kinds of errors.
    pub trace_contents: bool,
    /// Whether an escalate ends every enclosing loop, while the sequences in between run on, and cancels the siblings of
    /// a direct child of a parallel block. Default `false`: it ends the innermost loop, as a `break` does. The checker knows the default:
    /// what it takes for certain after an outer loop may be missing with this, which is an error of the run.
    pub escalate_ends_all_loops: bool,
    /// Whether a tool's error ends the run. Default `false`: it goes back to the model as an error result.
    pub tool_errors_end_run: bool,
    /// Whether a transfer to an agent that is not there ends the run. Default `false`: it goes back to the model as an error
    /// result, with the names that there are.
    pub transfer_errors_end_run: bool,
    /// Whether the model calls of an agent that others hand over to are counted over all its turns at one place, against its
    /// `max_turns` and what [`Bounds`](crate::check::Bounds) counts for it; once they are spent, it is no target any more.
    /// Default `true`. In ADK each turn begins anew.
    pub limit_handovers: bool,
    /// Whether an answer that does not fit its agent's type goes back to the model, as often as the agent's `answer_attempts`
    /// say. Default `true`. In ADK it ends the run.
    pub repair_answers: bool,
    /// Whether an agent that ends without having written its declared key fails the run. Default `true`.
    pub require_keys: bool,
    /// Whether an agent or a block that ends a loop without having announced it fails the run. Default `true`.
    pub require_announced_exits: bool,
    /// Whether a write of a state key that was not announced, or of another type, is an error. Default `true`.
    pub require_announced_writes: bool,
    /// Whether ADK's checkpoint events are part of the log: `agent_state` before each step of a sequence or loop, and
    /// `end_of_agent`. Default `false`. Whether a run can be taken up again depends on the engine, and not on this.
    pub resumable: bool,
    /// Whether agents that are written by hand, functions among them, count as finished once they are, under
    /// [`resumable`](Self::resumable). Default `true`. In ADK they never say so: a parallel block with one has no
    /// `end_of_agent`, and when it is taken up again before its end, such a branch runs once more, as another turn.
    pub custom_agents_finish: bool,
    /// What it does while another run of its session goes on in this process. Default [`SessionTurns::Queue`].
    pub turns: SessionTurns,
    /// The most bytes that a model reads of the result of a tool, as JSON; `None` is no limit. Default `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tool_result: Option<u32>,
    /// What the run may use, in money or in tokens; then it ends with an error of kind
    /// [`BudgetExceeded`](crate::ErrorKind::BudgetExceeded), and what was committed stays. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// The most bytes of a version of an artifact that an agent, a tool or a callback saves. Default `None`: what the store takes.
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
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// What Google's ADK does where this crate differs on purpose: an escalate ends every enclosing loop, the error
    /// of a tool or of a transfer or an answer of another type ends the run, agents hand over to each other without end,
    /// neither a key that was not written nor an exit or a write that was not announced is an error, an agent that is written
    /// by hand never counts as finished, and runs of one session do not take turns.
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
        /// The most model calls of the whole run; 0 is no limit.
        max_llm_calls(calls: u32) = calls;
        /// The longest that the run may take. It then fails with an error of kind
        /// [`DeadlineExceeded`](crate::ErrorKind::DeadlineExceeded), and what was committed stays.
        ///
        /// It is counted from the first start of the run. A run that waits for a person ends when it is taken up again, not while
        /// it waits.
        deadline(longest: Duration) = Some(longest);
        /// The most bytes of a version of an artifact. To save more is an error of kind
        /// [`StoreErrorKind::TooLarge`](crate::StoreErrorKind::TooLarge).
        max_artifact_bytes(bytes: u64) = Some(bytes);
        /// What the run may use: `"0.50 USD".parse()?`, or `"20_000 tokens".parse()?`.
        ///
        /// Before each model call the most that it may need is reserved, and afterwards what it has used counts, also over a crash. A
        /// budget in money needs the runner's `prices`. A branch that runs in another process is counted when it has ended.
        budget(budget: Budget) = Some(budget);
        /// The most bytes that a model reads of the result of a tool.
        ///
        /// Of a longer one it reads that much, and the name of an artifact that holds all of it; an agent with the tool
        /// `load_artifacts` can read that.
        max_tool_result(bytes: u32) = Some(bytes);
        /// Whether replies of models come in pieces first.
        streaming(yes: bool) = yes;
        /// Whether the stream tells that agents and blocks begin and end.
        ///
        /// ```
        /// # use adk_core as adk;
        /// # async fn show<T: Send + 'static>(mut stream: adk::RunStream<'_, T>) -> adk::Result<()> {
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
        /// Whether spans hold what was said.
        trace_contents(yes: bool) = yes;
        /// Whether an escalate ends every enclosing loop.
        escalate_ends_all_loops(yes: bool) = yes;
        /// Whether a tool's error ends the run.
        tool_errors_end_run(yes: bool) = yes;
        /// Whether ADK's checkpoint events are part of the log.
        resumable(yes: bool) = yes;
        /// Whether agents that are written by hand count as finished once they are, under [`resumable`](Self::resumable).
        custom_agents_finish(yes: bool) = yes;
        /// Whether a transfer to an agent that is not there ends the run.
        transfer_errors_end_run(yes: bool) = yes;
        /// Whether the model calls of an agent that others hand over to are counted over all its turns at one place.
        limit_handovers(yes: bool) = yes;
        /// Whether an answer that does not fit goes back to the model.
        repair_answers(yes: bool) = yes;
        /// Whether an agent has to write its declared key.
        require_keys(yes: bool) = yes;
        /// Whether who ends a loop has to have announced it.
        require_announced_exits(yes: bool) = yes;
        /// Whether state is written only as it was announced.
        require_announced_writes(yes: bool) = yes;
        /// What it does while another run of its session goes on.
        turns(turns: SessionTurns) = turns;
    }
}
