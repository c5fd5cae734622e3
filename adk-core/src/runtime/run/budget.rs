//! Budgets of runs, blocks and agents. Before a model call its largest possible usage is reserved;
//! after the call its real usage is counted. A call whose usage is unknown counts as its
//! reservation.

use super::meter::Meter;
use super::{Context, ModelChain};
use crate::model::{ModelRequest, Usage};
use crate::spec::{Budget, Price, Prices};
use crate::sync::lock;
use crate::{Error, ErrorKind, Result};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// A budget with its usage and reservations.
#[derive(Debug)]
pub(super) struct BudgetAccount {
    budget: Budget,
    /// The path of the block or agent; `None` for the budget of the run.
    owner: Option<String>,
    state: Mutex<Balance>,
    freed: Notify,
}

/// Amounts in tokens, or in the smallest units of money.
#[derive(Debug, Default)]
struct Balance {
    used: u64,
    reserved: u64,
}

/// Reserved amounts for one model call. A drop before [`settle`](Self::settle) means that the call
/// was cancelled, so the amounts count as used.
#[derive(Debug)]
pub(crate) struct Reservation {
    amounts: Vec<(Arc<Meter>, u64)>,
    /// Whether the call is read from its record, so that nothing is reserved.
    is_recorded: bool,
    /// Whether all amounts are reserved, so that the call is made.
    is_complete: bool,
    /// Number of attempts whose usage is unknown.
    pub(crate) unknown: Arc<AtomicU64>,
}

impl BudgetAccount {
    pub(super) fn new(budget: Budget, owner: Option<String>) -> Self {
        Self {
            budget,
            owner,
            state: Mutex::default(),
            freed: Notify::new(),
        }
    }

    fn most(&self) -> u64 {
        match self.budget {
            Budget::Tokens(tokens) => tokens,
            Budget::Money(money, _) => money.parts(),
        }
    }

    /// Adds usage, and returns whether the total exceeds the budget.
    pub(super) fn spend(&self, usage: &Usage) -> bool {
        let more = match self.budget {
            Budget::Tokens(_) => usage.total_tokens(),
            Budget::Money(..) => usage.cost.amount().parts(),
        };
        self.spend_amount(more)
    }

    fn spend_amount(&self, more: u64) -> bool {
        let mut state = lock(&self.state);
        state.used = state.used.saturating_add(more);
        state.used > self.most()
    }

    pub(super) fn error(&self) -> Error {
        let (budget, owner) = (&self.budget, &self.owner);
        let owner = owner
            .as_ref()
            .map_or_else(|| "the run".to_owned(), |owner| format!("`{owner}`"));
        let message = format!("{owner} would use more than its budget of {budget}");
        let help = match self.budget {
            Budget::Money(..) => {
                "raise it, or lower the `max_output_tokens` of its agents: the longest answer is \
                 reserved before each call"
            }
            Budget::Tokens(_) => "raise it, or ask for less",
        };
        Error::new(ErrorKind::BudgetExceeded, message).with_help(help)
    }

    /// Reserves an amount. If only the reservations of calls in flight leave too little, waits for
    /// these calls. Returns false if the used amount leaves too little.
    async fn reserve(&self, need: u64) -> bool {
        loop {
            let mut freed = pin!(self.freed.notified());
            freed.as_mut().enable();
            {
                let mut state = lock(&self.state);
                let with = |used: u64| used.saturating_add(need);
                if with(state.used) > self.most() {
                    return false;
                }
                if with(state.used).saturating_add(state.reserved) <= self.most() {
                    state.reserved += need;
                    return true;
                }
            }
            freed.await;
        }
    }

    fn release(&self, need: u64) {
        let mut state = lock(&self.state);
        state.reserved = state.reserved.saturating_sub(need);
        drop(state);
        self.freed.notify_waiters();
    }
}

impl Reservation {
    /// Ends the reservation after the call. Counts it once for each attempt whose usage is unknown.
    /// The number of attempts of a recorded call is not known, so only its result counts.
    ///
    /// # Errors
    /// [`ErrorKind::BudgetExceeded`] when the usage exceeds a budget.
    pub(crate) fn settle(mut self, is_unknown: bool, cx: &Context) -> Result<()> {
        let unknown = if self.is_recorded {
            u64::from(is_unknown)
        } else {
            self.unknown.load(Relaxed)
        };
        match self.end(unknown) {
            Some(meter) => Err(meter.exceed_budget(cx.path())),
            None => Ok(()),
        }
    }

    /// Returns the first meter whose budget is exceeded.
    fn end(&mut self, unknown: u64) -> Option<Arc<Meter>> {
        let mut exceeded = None;
        for (meter, need) in self.amounts.drain(..) {
            let Some(account) = &meter.account else {
                continue;
            };
            let is_exceeded = account.spend_amount(need.saturating_mul(unknown));
            if !self.is_recorded {
                account.release(need);
            }
            if is_exceeded && unknown > 0 {
                exceeded.get_or_insert_with(|| meter.clone());
            }
        }
        exceeded
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let is_cancelled = self.is_complete && !self.is_recorded;
        self.end(u64::from(is_cancelled));
    }
}

impl Context {
    /// Returns the meter for a block or an agent: its own one if it has a budget.
    pub(crate) fn meter_of_budget(&self, budget: Option<Budget>) -> Option<Arc<Meter>> {
        let outer = self.around.meter.clone();
        let Some(budget) = budget else {
            return outer;
        };
        let owner = Some(self.path().to_string());
        let account = BudgetAccount::new(budget, owner);
        Some(Arc::new(Meter::for_budget(account, outer)))
    }

    /// Adds the budget of the run to its root context.
    pub(crate) fn with_budget(mut self) -> Self {
        if let Some(budget) = self.config().budget {
            self.around.meter = Some(Arc::new(Meter::for_budget(
                BudgetAccount::new(budget, None),
                self.around.meter.take(),
            )));
        }
        self
    }

    /// Returns whether the run or an enclosing block or agent has a budget.
    pub(crate) fn has_budget(&self) -> bool {
        std::iter::successors(self.around.meter.as_ref(), |meter| meter.outer.as_ref())
            .any(|meter| meter.account.is_some())
    }

    /// Reserves the largest possible usage of a call in each enclosing budget. Reserves nothing for
    /// a call that `is_recorded`, but returns the amounts.
    ///
    /// # Errors
    /// [`ErrorKind::BudgetExceeded`] when a budget has too little left; [`ErrorKind::Config`] when
    /// the largest usage of the call is unknown.
    pub(crate) async fn reserve(
        &self,
        models: &ModelChain,
        request: &ModelRequest,
        is_recorded: bool,
    ) -> Result<Box<Reservation>> {
        let mut held = Reservation {
            amounts: Vec::new(),
            is_recorded,
            is_complete: false,
            unknown: Arc::default(),
        };
        let around =
            std::iter::successors(self.around.meter.as_ref(), |meter| meter.outer.as_ref());
        for meter in around {
            let Some(account) = &meter.account else {
                continue;
            };
            let prices = self.run.services.prices.as_deref();
            if let Budget::Money(..) = account.budget
                && !is_recorded
            {
                check_prices(models, request, prices, account.budget)?;
            }
            let need = largest_usage(models, request, prices, account.budget);
            if !is_recorded && !account.reserve(need).await {
                return Err(meter.exceed_budget(self.path()));
            }
            held.amounts.push((meter.clone(), need));
        }
        held.is_complete = true;
        Ok(Box::new(held))
    }
}

/// Returns the largest possible usage of a call by any of the models, in tokens or in the smallest
/// units of money.
fn largest_usage(
    models: &ModelChain,
    request: &ModelRequest,
    prices: Option<&Prices>,
    budget: Budget,
) -> u64 {
    let input = request.input_tokens();
    let needs = models.iter().map(|model| {
        let price = prices.and_then(|prices| prices.of(model.name()));
        let own = request.config.max_output_tokens;
        let output = own
            .map(|limit| u64::from(model.output_limit(limit)))
            .or(price.and_then(Price::longest_answer))
            .unwrap_or_default();
        match budget {
            Budget::Tokens(_) => input.saturating_add(output),
            Budget::Money(..) => price.map_or(0, |price| price.largest(input, output).parts()),
        }
    });
    needs.max().unwrap_or_default()
}

/// Checks that the highest cost of a call is known.
fn check_prices(
    models: &ModelChain,
    request: &ModelRequest,
    prices: Option<&Prices>,
    budget: Budget,
) -> Result<()> {
    let error =
        |message: String, help: &str| Err(Error::new(ErrorKind::Config, message).with_help(help));
    let Some(prices) = prices else {
        let message = format!("there is a budget of {budget}, and the runner has no prices");
        return error(
            message,
            "give it some, `Runner::builder().prices(Prices::published())`",
        );
    };
    if let Budget::Money(_, currency) = budget
        && currency != prices.currency()
    {
        let message = format!(
            "there is a budget of {budget}, and the prices are in {}",
            prices.currency()
        );
        return error(message, "write the budget in the currency of the prices");
    }
    for model in models.iter() {
        let name = model.name();
        match prices.of(name) {
            None => {
                let message =
                    format!("there is a budget of {budget}, and no price for the model `{name}`");
                return error(message, "give one with `Prices::model`");
            }
            Some(price)
                if request.config.max_output_tokens.is_none()
                    && price.longest_answer().is_none() =>
            {
                let message = format!(
                    "there is a budget of {budget}, and it is not known how long an answer of \
                     `{name}` may be"
                );
                return error(
                    message,
                    "give the agent `max_output_tokens`, or the price `Price::longest`",
                );
            }
            Some(_) => {}
        }
    }
    Ok(())
}
