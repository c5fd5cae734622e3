//! [`Meter`]: the usage of a workflow with `#[bounds(...)]`, or of a run, block or agent with a
//! budget, counted and limited while it runs.
//!
//! A meter is not stored. A resumed run counts the records of its replay as it counted the original
//! calls.

use super::budget::BudgetAccount;
use super::{Context, perform};
use crate::model::Usage;
use crate::spec::{Limits, Spec};
use crate::store::engine::{CallInputs, CallKind, StepKey};
use crate::store::session::now_micros;
use crate::{Error, ErrorKind, Name, Path, Result, depth};
use adk_spec::__private::Cost;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::time::Instant;

/// The limits of one run of a workflow, and its usage.
#[derive(Debug)]
pub(crate) struct Meter {
    workflow: Name,
    limits: Limits,
    /// The usage, in the order of [`Cost::ALL`].
    used: [AtomicU64; Cost::ALL.len()],
    /// The budget of a block, an agent or a run. A workflow has none.
    pub(super) account: Option<BudgetAccount>,
    /// The cost that exceeded its limit first, with its path. No cost means the budget.
    exceeded: OnceLock<(Option<Cost>, Path)>,
    /// The meter of the enclosing workflow, block, agent or run.
    pub(super) outer: Option<Arc<Meter>>,
    /// Whether the meter belongs to an agent that is used as a tool. Rounds of its loops do not
    /// count for the enclosing workflow.
    is_tool: bool,
}

impl Meter {
    fn new(workflow: Name, limits: Limits, outer: Option<Arc<Self>>) -> Self {
        let (used, exceeded) = (Default::default(), OnceLock::new());
        Self {
            workflow,
            limits,
            used,
            account: None,
            exceeded,
            outer,
            is_tool: false,
        }
    }

    /// Creates the meter of a run, block or agent with a budget.
    pub(super) fn for_budget(account: BudgetAccount, outer: Option<Arc<Self>>) -> Self {
        Self {
            account: Some(account),
            ..Self::new(Name::default(), Limits::NONE, outer)
        }
    }

    /// Creates the meter of an agent that is used as a tool.
    pub(crate) fn for_tool(outer: &Arc<Self>) -> Arc<Self> {
        let own = Self::new(Name::default(), Limits::NONE, Some(outer.clone()));
        Arc::new(Self {
            is_tool: true,
            ..own
        })
    }

    /// Returns this meter and the enclosing meters for which the cost counts.
    fn counting_meters(&self, cost: Cost) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), move |meter| {
            let meter: &Self = meter;
            let is_last = meter.is_tool && cost == Cost::Rounds;
            meter.outer.as_deref().filter(|_| !is_last)
        })
    }

    /// Returns the usage so far.
    pub(crate) fn used(&self, cost: Cost) -> u64 {
        self.used[cost as usize].load(Relaxed)
    }

    /// Adds usage, and returns whether the total exceeds the limit.
    fn add(&self, cost: Cost, more: u64) -> bool {
        let used = self.used[cost as usize]
            .fetch_add(more, Relaxed)
            .saturating_add(more);
        cost.allowed(&self.limits).is_some_and(|most| used > most)
    }

    fn exceed(&self, cost: Cost, path: &Path) -> Error {
        let (cost, path) = self.exceeded.get_or_init(|| (Some(cost), path.clone()));
        self.error(*cost).at(path)
    }

    pub(super) fn exceed_budget(&self, path: &Path) -> Error {
        let (cost, path) = self.exceeded.get_or_init(|| (None, path.clone()));
        self.error(*cost).at(path)
    }

    /// Counts tokens and money in the budget, if this meter has one.
    fn spend(&self, usage: &Usage, path: &Path) -> Result<()> {
        match &self.account {
            Some(account) if account.spend(usage) => Err(self.exceed_budget(path)),
            _ => Ok(()),
        }
    }

    fn error(&self, cost: Option<Cost>) -> Error {
        let cost = match (cost, &self.account) {
            (None, Some(account)) => return account.error(),
            (cost, _) => cost.unwrap_or(Cost::Tokens),
        };
        let (workflow, word) = (&self.workflow, cost.word());
        let message = match (cost, self.limits.time, cost.allowed(&self.limits)) {
            (Cost::Time, Some(time), _) => format!(
                "workflow `{workflow}` takes longer than {time:?}, the `time` of its \
                 `#[bounds(...)]`"
            ),
            (_, _, most) => {
                let most = most.unwrap_or_default();
                let s = if most == 1 { "" } else { "s" };
                format!(
                    "workflow `{workflow}` has used up the {most} {}{s} of its \
                     `#[bounds({word} = {most})]`",
                    cost.unit()
                )
            }
        };
        Error::new(ErrorKind::BoundsExceeded, message).with_help(format!(
            "raise `{word}`, or find the cause in the events of the run"
        ))
    }

    /// Returns the error of the exceeded limit. The run of the workflow has failed then, even if an
    /// agent has handled the error.
    pub(crate) fn exceeded_error(&self) -> Option<Error> {
        self.exceeded
            .get()
            .map(|(cost, path)| self.error(*cost).at(path))
    }
}

impl Context {
    /// Returns the meter for the steps of a workflow: its own one if the workflow has limits.
    pub(crate) fn meter_of_workflow(&self, spec: &Spec<'_>) -> Option<Arc<Meter>> {
        let outer = self.around.meter.clone();
        if spec.limits == Limits::NONE {
            return outer;
        }
        let own = Meter::new(Name::shared(spec.name), spec.limits, outer);
        // A branch in another process continues with the count of its run.
        own.used[Cost::ModelCalls as usize].store(self.run.kind.calls_before(self.path()), Relaxed);
        Some(Arc::new(own))
    }

    /// Counts an action before it is done, in each enclosing workflow. Recorded actions were done
    /// under the limits of their time: they count, but exceed no limit.
    ///
    /// # Errors
    /// [`ErrorKind::BoundsExceeded`] when the action exceeds one of the limits.
    pub(crate) fn count(
        &self,
        cost: Cost,
        more: u64,
        is_recorded: impl Fn() -> bool,
    ) -> Result<()> {
        let Some(meter) = &self.around.meter else {
            return Ok(());
        };
        meter.counting_meters(cost).try_for_each(|meter| {
            if meter.add(cost, more) && !is_recorded() {
                Err(meter.exceed(cost, self.path()))
            } else {
                Ok(())
            }
        })
    }

    /// Counts the usage of a model call.
    ///
    /// # Errors
    /// When the usage exceeds an enclosing limit or budget.
    pub(crate) fn count_usage(&self, usage: &Usage) -> Result<()> {
        self.count(Cost::Tokens, usage.total_tokens(), || false)?;
        let Some(meter) = &self.around.meter else {
            return Ok(());
        };
        meter
            .counting_meters(Cost::Tokens)
            .try_for_each(|meter| meter.spend(usage, self.path()))
    }

    /// Counts a model call before it is made or read from its record. A call that is made fails if
    /// no tokens are left.
    pub(crate) fn count_call(&self, is_recorded: bool) -> Result<()> {
        self.count(Cost::ModelCalls, 1, || is_recorded)?;
        let Some(meter) = self.around.meter.as_ref().filter(|_| !is_recorded) else {
            return Ok(());
        };
        let is_spent = |meter: &&Meter| {
            meter
                .limits
                .tokens
                .is_some_and(|most| meter.used[Cost::Tokens as usize].load(Relaxed) >= most)
        };
        meter
            .counting_meters(Cost::Tokens)
            .find(is_spent)
            .map_or(Ok(()), |meter| Err(meter.exceed(Cost::Tokens, self.path())))
    }

    /// Adds usage and rounds that were replayed or that another process executed.
    pub(crate) fn count_replayed(&self, usage: &Usage, rounds: u64) {
        count_replayed(self.around.meter.as_ref(), usage, rounds, self.path());
    }

    /// Checks that no enclosing limit is exceeded. A run with an exceeded limit fails here, even if
    /// an agent has handled the error.
    ///
    /// # Errors
    /// The first error of an exceeded limit.
    pub(crate) fn check_limits(&self) -> Result<()> {
        let mut around = self
            .around
            .meter
            .iter()
            .flat_map(|meter| meter.counting_meters(Cost::Time));
        around.find_map(Meter::exceeded_error).map_or(Ok(()), Err)
    }

    /// Returns whether a block may continue after the failure of a branch or element. An error of
    /// the store or the journal and an exceeded limit around the block end the run.
    pub(crate) fn may_continue(&self, error: &Error) -> bool {
        !error.is_of_run() && self.check_limits().is_ok()
    }

    /// Returns the deadline of a time limit that starts here. The start is recorded, so that a
    /// resumed run has only the rest of the time.
    pub(crate) async fn start_time_limit(
        &mut self,
        longest: Duration,
    ) -> Result<Option<(StepKey, Instant)>> {
        let key = self.call_key(CallKind::Block, Name::literal("bounds"));
        let work = async { Ok(now_micros()) };
        let start = perform(
            self.run.clone(),
            key,
            CallInputs::default(),
            depth::check,
            work,
        )
        .await?;
        let taken = Duration::from_micros(now_micros().saturating_sub(start));
        // A deadline that overflows the clock counts as no deadline.
        let deadline = Instant::now().checked_add(longest.saturating_sub(taken));
        let (run_id, path) = (self.run.id(), self.path().clone());
        let key = StepKey::new(run_id, path, CallKind::Timer, "time", 0);
        Ok(deadline.map(|deadline| (key, deadline)))
    }

    /// Returns the error for the exceeded time of the workflow at that path.
    pub(crate) fn time_error(&self, path: &Path) -> Error {
        let own = self
            .around
            .meter
            .as_ref()
            .map(|meter| meter.exceed(Cost::Time, path));
        own.unwrap_or_else(|| {
            Error::new(ErrorKind::BoundsExceeded, "the workflow takes too long").at(path)
        })
    }
}

/// Adds usage and rounds to the meter of a tool call.
pub(crate) fn count_replayed(meter: Option<&Arc<Meter>>, usage: &Usage, rounds: u64, path: &Path) {
    let Some(meter) = meter else { return };
    let costs = [
        (Cost::ModelCalls, usage.calls),
        (Cost::ToolCalls, usage.tool_calls),
        (Cost::Tokens, usage.total_tokens()),
        (Cost::Rounds, rounds),
    ];
    for (cost, more) in costs {
        // The next call reports an exceeded limit, or else the end of the workflow does.
        for meter in meter
            .counting_meters(cost)
            .filter(|meter| meter.add(cost, more))
        {
            meter.exceed(cost, path);
        }
    }
    meter
        .counting_meters(Cost::Tokens)
        .for_each(|meter| drop(meter.spend(usage, path)));
}
