//! [`explore`]: all histories of a workflow within bounds, with the deaths of its process and the
//! people who answer it.
//!
//! From the bottom up: `choice` and `gates` (what may happen next), `world` and `ledger` (what has
//! happened), `engine` (a process that stops before each action), `order` (what commutes),
//! `history` (one execution), `search` (all of them) and `report`.

mod choice;
mod engine;
mod gates;
mod history;
mod ledger;
mod order;
mod report;
mod search;
mod world;

pub use report::{BadHistory, Explored};
pub use world::{Call, HistoryEnd, PersonAnswer, Verdict, World};

use adk_core::model::{Model, ModelRef, NoProvider};
use adk_core::runner::RunnerBuilder;
use adk_core::testing::Reply;
use adk_core::{
    BoxFuture, Error, ErrorKind, IntoInput, Needs, NoResources, Resources, Result, Workflow,
};
use ledger::OtherAnswer;
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// Plays a workflow in all orders of answers, with people who answer early, late or never, and with
/// a death of its process at each point, and checks each of these histories.
///
/// ```
/// use adk::prelude::*;
/// use adk::testing::ScriptedModel;
///
/// /// Pays once for each call, also if the call is made again.
/// #[tool]
/// fn pay(amount: f64, cx: &mut ToolContext) -> String {
///     format!("paid {amount}, as {}/{}", cx.run_id(), cx.call_id())
/// }
///
/// workflow! {
///     /// Pays a bill that a person agrees to.
///     pub Paying(bill: String) -> receipt: String {
///         agent payer -> receipt: String {
///             instruction: "Pay {bill}.",
///             tools: [pay],
///             max_turns: 3,
///         }
///         /// Pay {bill}?
///         await fine: bool;
///         payer
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> adk::Result<()> {
/// let model = ScriptedModel::new()
///     .at("paying/payer")
///     .call("pay", json!({"amount": 250}))
///     .text("Paid.");
/// let explored = adk::explore(&Paying::default(), "the rent")
///     .answers(model)
///     .waits("fine", [true])
///     .crashes(1)
///     .check(|world| !world.is_finished() || world.calls("pay") >= 1)
///     .await?;
/// assert!(explored.deaths > 10);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn explore<'a, W, I>(workflow: &'a W, input: I) -> Explore<'a, W>
where
    W: Workflow + ?Sized,
    I: IntoInput<W::Input> + Clone + Send + Sync + 'a,
{
    Explore {
        workflow,
        input: Box::new(move || input.clone().into_input()),
        resources: Box::new(|| NoResources),
        runner: None,
        answers: None,
        others: Vec::new(),
        waits: Vec::new(),
        checks: Vec::new(),
        scope: SearchScope {
            crashes: 1,
            deviations: 2,
            at_most: 10_000,
            may_fail: false,
            is_reduced: true,
        },
        replay: None,
        fault: None,
        location: Location::caller(),
    }
}

/// The settings of an exploration. Awaiting it plays the histories, in a thread of its own, and
/// prints the counts.
///
/// A history is a default order with choices that differ from it: another action comes first (a
/// call, the end of a call, an event), time passes first, a model gives another answer, a person
/// answers something else or at another time, or the process dies. The histories with the fewest
/// such choices come first, so the first bad one is the shortest. The default order is first come,
/// first served; a person answers when the run waits for nothing else.
#[must_use = "nothing is explored until it is awaited"]
pub struct Explore<'a, W: Workflow + ?Sized, R = NoResources> {
    workflow: &'a W,
    input: Box<dyn Fn() -> W::Input + Send + Sync + 'a>,
    resources: Box<dyn Fn() -> R + Send + Sync + 'a>,
    runner: Option<Box<SetRunner<'a, R>>>,
    answers: Option<Arc<dyn Model>>,
    others: Vec<OtherAnswer>,
    waits: Vec<WaitValues>,
    checks: Vec<Box<Check<'a>>>,
    scope: SearchScope,
    replay: Option<Vec<String>>,
    /// A mistake in the settings.
    fault: Option<Error>,
    location: &'static Location<'static>,
}

/// Which histories are played, and which are bad.
#[derive(Clone, Copy)]
struct SearchScope {
    crashes: usize,
    deviations: usize,
    at_most: usize,
    may_fail: bool,
    is_reduced: bool,
}

type SetRunner<'a, R> =
    dyn Fn(RunnerBuilder<NoProvider, R>) -> RunnerBuilder<NoProvider, R> + Send + Sync + 'a;

/// Returns what is wrong with a world.
type Check<'a> = dyn Fn(&World) -> Option<String> + Send + Sync + 'a;

/// The values that a person may give to a question.
struct WaitValues {
    name: String,
    values: Vec<Value>,
}

impl<'a, W: Workflow + ?Sized> Explore<'a, W> {
    /// Sets the resources of tools and agents. `make` is called once for each history; its
    /// processes share the value, so it is the world outside of the run, such as a bank or a
    /// table. Checks see it as [`World::resources`]. Call it before [`runner`](Self::runner).
    pub fn resources<R>(self, make: impl Fn() -> R + Send + Sync + 'a) -> Explore<'a, W, R>
    where
        R: Resources + Clone,
    {
        let late = self.runner.is_some().then(|| {
            let message = "`resources` comes after `runner`, which it would discard";
            Error::new(ErrorKind::Config, message).with_help("call `resources` first")
        });
        Explore {
            workflow: self.workflow,
            input: self.input,
            resources: Box::new(make),
            runner: None,
            answers: self.answers,
            others: self.others,
            waits: self.waits,
            checks: self.checks,
            scope: self.scope,
            replay: self.replay,
            fault: self.fault.or(late),
            location: self.location,
        }
    }
}

impl<'a, W: Workflow + ?Sized, R> Explore<'a, W, R> {
    /// Sets the model of all agents, also of agents that name a model. An agent whose declaration
    /// has a model by value keeps it.
    ///
    /// The model must answer by the place or the text of a request, as the scripts of
    /// [`ScriptedModel::at`](adk_core::testing::ScriptedModel::at) do: a script in the order of
    /// the calls would give another answer to a call that is made again.
    pub fn answers(mut self, model: impl Into<ModelRef>) -> Self {
        match model.into() {
            ModelRef::Given(model) => self.answers = Some(model),
            ModelRef::Named(name) => {
                let message = format!("`{name}` is not a model with answers");
                let help = "give a `ScriptedModel` whose scripts begin with `.at(\"PATH\")`";
                let error = Error::new(ErrorKind::Config, message).with_help(help);
                self.fault = self.fault.or(Some(error));
            }
        }
        self
    }

    /// Adds another answer of a model. `place` is the path of an agent with its rounds, for its
    /// first call, or the key of a call, such as `paying/payer:model@1` for the second call.
    pub fn or_answers(mut self, place: impl Into<String>, reply: Reply) -> Self {
        let place = place.into();
        self.others.push(OtherAnswer { place, reply });
        self
    }

    /// Sets the values that a person may give to a question, the usual one first. `name` is the
    /// key of an `await` or the tool of a confirmation. A question without values gets no answer.
    ///
    /// The histories try each value at once, when the run waits, and while no process runs; they
    /// also try no answer, and for a question with a deadline an answer that comes too late.
    pub fn waits<V: Serialize>(
        mut self,
        name: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        let name = name.into();
        let values: Result<Vec<_>, _> = values.into_iter().map(serde_json::to_value).collect();
        match values {
            Ok(values) => self.waits.push(WaitValues { name, values }),
            Err(error) => {
                let message = format!("an answer to `{name}` has no form in JSON: {error}");
                let error = Error::new(ErrorKind::NotJson, message);
                self.fault = self.fault.or(Some(error));
            }
        }
        self
    }

    /// Sets the largest number of deaths in one history. Default: 1.
    ///
    /// A process dies before an event, a question or the end of the run is stored, before a call,
    /// and between a call and its record. Another process then resumes the run.
    pub fn crashes(mut self, most: usize) -> Self {
        self.scope.crashes = most;
        self
    }

    /// Sets the largest number of actions in one history that come in another order than the
    /// default. Default: 2. Orders of parts that commute are left out.
    pub fn deviations(mut self, most: usize) -> Self {
        self.scope.deviations = most;
        self
    }

    /// Sets the largest number of histories. Default: 10,000. The report says if it has cut the
    /// search.
    pub fn at_most(mut self, histories: usize) -> Self {
        self.scope.at_most = histories;
        self
    }

    /// Adds a check of the world at the end of each history. It returns `bool`, a `Result` whose
    /// error says what is wrong, or `()` if it asserts.
    pub fn check<V: Verdict>(mut self, check: impl Fn(&World) -> V + Send + Sync + 'a) -> Self {
        let check = Box::new(move |world: &World| check(world).fault());
        self.checks.push(check);
        self
    }

    /// Accepts runs that fail. By default, a history whose run fails is bad. A run that cannot be
    /// resumed, because it does not repeat what it has recorded, is always bad.
    pub fn may_fail(mut self) -> Self {
        self.scope.may_fail = true;
        self
    }

    /// Also plays the orders that commute, to test the reduction itself.
    pub fn all_orders(mut self) -> Self {
        self.scope.is_reduced = false;
        self
    }

    /// Changes the runner of each process, for plugins, prices and settings. The store and the
    /// models are set afterwards.
    pub fn runner<F>(mut self, set: F) -> Self
    where
        F: Fn(RunnerBuilder<NoProvider, R>) -> RunnerBuilder<NoProvider, R> + Send + Sync + 'a,
    {
        self.runner = Some(Box::new(set));
        self
    }

    /// Plays only the history with these choices, as the report of a bad history prints them.
    pub fn replay<S: Into<String>>(mut self, choices: impl IntoIterator<Item = S>) -> Self {
        self.replay = Some(choices.into_iter().map(Into::into).collect());
        self
    }
}

impl<W, R> Explore<'_, W, R>
where
    W: Workflow + Needs<R> + ?Sized,
    R: Resources + Clone,
{
    /// Plays the histories, and returns the report also if some are bad.
    ///
    /// # Errors
    /// When a setting is wrong, or when the workflow is not the same each time it runs.
    pub fn report(mut self) -> Result<Explored> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        // A runtime cannot be driven inside of the caller's runtime.
        std::thread::scope(|scope| {
            let search = scope.spawn(|| search::search(&self));
            search.join().unwrap_or_else(|panic| {
                let text = report::panic_text(&*panic);
                Err(Error::other(format!("the exploration panicked: {text}")))
            })
        })
    }
}

impl<'a, W, R> IntoFuture for Explore<'a, W, R>
where
    W: Workflow + Needs<R> + ?Sized,
    R: Resources + Clone,
{
    type Output = Result<Explored>;
    type IntoFuture = BoxFuture<'a, Result<Explored>>;

    /// Plays the histories and prints the counts.
    ///
    /// # Errors
    /// As [`report`](Explore::report), and with the shortest bad history.
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let report = self.report()?;
            println!("{report}");
            match report.to_error() {
                None => Ok(report),
                Some(error) => Err(error),
            }
        })
    }
}

impl<W: Workflow + ?Sized, R> fmt::Debug for Explore<'_, W, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Explore")
            .field("workflow", &self.workflow.as_agent().meta().name)
            .field("crashes", &self.scope.crashes)
            .field("deviations", &self.scope.deviations)
            .field("at_most", &self.scope.at_most)
            .finish_non_exhaustive()
    }
}
