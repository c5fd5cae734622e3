//! [`History`]: one execution of a workflow that follows a plan of choices, over all its processes.

use super::choice::{Choice, ChoiceKind, DEATH, Decision, Deviation};
use super::engine::GatedEngine;
use super::gates::{Action, Gates, Point};
use super::ledger::{ChosenModel, Ledger, OneModel, other_answers};
use super::order::{Order, mark_redundant};
use super::world::{HistoryEnd, PersonAnswer, World};
use super::{Explore, WaitValues};
use adk_core::engine::{CallKind, MemoryJournal, RunFilter, WaitRegistry as _};
use adk_core::model::NoProvider;
use adk_core::session::{MemoryStore, SessionStore};
use adk_core::{BoxFuture, Error, ErrorKind, Needs, Resources, Result, Runner, Waiting, Workflow};
use futures_util::future::{Either, select};
use serde_json::Value;
use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, advance, sleep};

/// The number of decisions after which a history counts as endless.
const MOST_DECISIONS: usize = 2_000;

/// The end of the text of a choice after which the run does not wait.
const AHEAD: &str = "and the next actions follow at once";

/// The time without any event after which a run counts as stuck.
const LONGEST: Duration = Duration::from_secs(400 * 24 * 3600);

/// A history that was played.
pub(super) struct Played {
    pub(super) decisions: Vec<Decision>,
    pub(super) world: World,
}

/// Plays one history in a runtime of its own, with a paused clock.
pub(super) fn play<W, R>(explore: &Explore<'_, W, R>, plan: &[Deviation]) -> Result<Played>
where
    W: Workflow + Needs<R> + ?Sized,
    R: Resources + Clone,
{
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build();
    let runtime = runtime.map_err(Error::other)?;
    let resources = (explore.resources)();
    let mut history = History {
        explore,
        plan,
        journal: MemoryJournal::new(),
        sessions: Arc::new(MemoryStore::new()),
        ledger: Ledger::default(),
        resources: resources.clone(),
        decisions: Vec::new(),
        followed: 0,
        questions: Vec::new(),
        deaths: 0,
    };
    runtime.block_on(async {
        let end = history.live().await?;
        let app = history.runner(&Gates::default())?.app_name().to_owned();
        let world = history.world(end, &app, Arc::new(resources)).await?;
        history.check_plan()?;
        Ok(Played {
            decisions: history.decisions,
            world,
        })
    })
}

struct History<'h, 'a, W: Workflow + ?Sized, R> {
    explore: &'h Explore<'a, W, R>,
    plan: &'h [Deviation],
    /// The journal and the sessions outlive the processes.
    journal: MemoryJournal,
    sessions: Arc<dyn SessionStore>,
    ledger: Ledger,
    resources: R,
    decisions: Vec<Decision>,
    /// The number of deviations of the plan that are done.
    followed: usize,
    questions: Vec<PersonAnswer>,
    deaths: usize,
}

/// The end of a process.
enum ProcessEnd {
    Died,
    Paused,
    Ended(HistoryEnd),
}

/// The effect of a choice.
#[derive(Clone)]
enum Effect {
    Open {
        gate: usize,
        answer: usize,
        /// Whether the run passes the next gates too.
        ahead: bool,
    },
    PassTime,
    Die,
    Answer {
        wait: Waiting,
        value: Value,
    },
    Expire {
        wait: Waiting,
        value: Option<Value>,
    },
    Restart,
    Leave,
}

type Options = Vec<(Choice, Effect)>;

impl<W, R> History<'_, '_, W, R>
where
    W: Workflow + Needs<R> + ?Sized,
    R: Resources + Clone,
{
    /// Starts processes until the run ends or waits for good.
    async fn live(&mut self) -> Result<HistoryEnd> {
        loop {
            let gates = Gates::default();
            let runner = self.runner(&gates)?;
            let end = self.drive(&runner, &gates).await?;
            let is_over = match end {
                ProcessEnd::Ended(end) => return Ok(end),
                ProcessEnd::Died => self.between(&runner, true).await?,
                ProcessEnd::Paused => self.between(&runner, false).await?,
            };
            if is_over {
                return Ok(HistoryEnd::Waiting);
            }
            if self.decisions.len() > MOST_DECISIONS {
                return Ok(HistoryEnd::Stuck);
            }
        }
    }

    fn runner(&self, gates: &Gates) -> Result<Runner<NoProvider, R>> {
        let engine = GatedEngine {
            journal: self.journal.clone(),
            ledger: self.ledger.clone(),
            gates: gates.clone(),
        };
        let builder = Runner::builder().resources(self.resources.clone());
        let builder = match &self.explore.runner {
            Some(set) => set(builder),
            None => builder,
        };
        let builder = builder.session_store(self.sessions.clone()).engine(engine);
        match &self.explore.answers {
            None => builder.build(),
            Some(answers) => {
                let model = ChosenModel {
                    answers: answers.clone(),
                    others: self.explore.others.clone().into(),
                    ledger: self.ledger.clone(),
                };
                let builder = builder.model_provider(OneModel(model.clone()));
                builder.model(model).build()
            }
        }
    }

    /// Runs one process to its end.
    async fn drive(&mut self, runner: &Runner<NoProvider, R>, gates: &Gates) -> Result<ProcessEnd> {
        let known = runner.runs(&RunFilter::any()).await?;
        let workflow = self.explore.workflow;
        let request = match known.first() {
            None => runner.run(workflow, (self.explore.input)()),
            Some(run) => runner.resume(workflow, run.run_id),
        };
        let mut run: BoxFuture<'_, Result<()>> = Box::pin(async { request.await.map(drop) });
        let mut known: Vec<String> = ids(&runner.waiting().await?);
        loop {
            if self.decisions.len() > MOST_DECISIONS {
                return Ok(ProcessEnd::Ended(HistoryEnd::Stuck));
            }
            // The clock is paused, so the pause ends when nothing else can happen.
            match select(&mut run, pin!(sleep(Duration::from_millis(1)))).await {
                Either::Left((ended, _)) => return Ok(ended.into()),
                Either::Right(_) => self.note_new_parts(&gates.settle()),
            }
            let mut options = self.next_actions(gates);
            if options.is_empty() {
                let longest = Instant::now() + LONGEST;
                match select(&mut run, pin!(gates.pass_time(longest))).await {
                    Either::Left((ended, _)) => return Ok(ended.into()),
                    Either::Right(_) if Instant::now() >= longest => {
                        return Ok(ProcessEnd::Ended(HistoryEnd::Stuck));
                    }
                    Either::Right(_) => continue,
                }
            }
            // A run that executes does not see an answer, so only the earliest time is tried.
            let open = runner.waiting().await?;
            let new = open.iter().filter(|wait| !known.contains(&wait.id));
            options.extend(new.flat_map(|wait| self.answers_to(wait, true)));
            known = ids(&open);
            match self.choose(options)? {
                Effect::Open {
                    gate,
                    answer,
                    ahead,
                } => gates.open(gate, answer, ahead),
                Effect::PassTime => {
                    let longest = Instant::now() + LONGEST;
                    if let Either::Left((ended, _)) =
                        select(&mut run, pin!(gates.pass_time(longest))).await
                    {
                        return Ok(ended.into());
                    }
                }
                Effect::Die => {
                    self.deaths += 1;
                    return Ok(ProcessEnd::Died);
                }
                effect => self.act(runner, effect).await?,
            }
        }
    }

    /// Returns what a process may do next, in the default order, and its death.
    fn next_actions(&self, gates: &Gates) -> Options {
        let points = gates.points();
        let mut options = Options::new();
        if points.is_empty() {
            return options;
        }
        for (gate, point) in points.iter().enumerate() {
            let kind = |first| if gate == 0 { first } else { ChoiceKind::Order };
            let text = point.as_choice();
            let effect = Effect::Open {
                gate,
                answer: 0,
                ahead: false,
            };
            options.push((Choice::new(kind(ChoiceKind::Default), text.clone()), effect));
            if point.action != Action::Ask {
                continue;
            }
            let others = other_answers(&self.explore.others, &point.place);
            for number in 1..=others.count() {
                let text = format!("{text}, with its other answer {number}");
                let effect = Effect::Open {
                    gate,
                    answer: number,
                    ahead: false,
                };
                options.push((Choice::new(kind(ChoiceKind::Answer), text), effect));
            }
        }
        if self.explore.scope.is_reduced {
            let choices = options
                .iter_mut()
                .filter_map(|(choice, effect)| match effect {
                    Effect::Open { gate, .. } => Some((&mut *choice, *gate)),
                    _ => None,
                });
            mark_redundant(&self.order(), &points, choices);
        }
        // The branches of a block begin one after the other, and an engine that never waits lets
        // the first one act before the others begin.
        let text = format!("{}, {AHEAD}", points[0].as_choice());
        let mut ahead = Choice::new(ChoiceKind::Order, text);
        ahead.is_redundant = true;
        let effect = Effect::Open {
            gate: 0,
            answer: 0,
            ahead: true,
        };
        options.push((ahead, effect));
        if gates.has_clock() {
            let text = "time passes first".to_owned();
            options.push((Choice::new(ChoiceKind::Order, text), Effect::PassTime));
        }
        // The calls whose results are lost come first, because they are what a death repeats.
        let (lost, rest): (Vec<_>, Vec<_>) = points
            .iter()
            .partition(|point| point.action == Action::Record);
        let times: Vec<_> = lost
            .iter()
            .chain(&rest)
            .map(|point| point.as_time())
            .collect();
        let text = format!("{DEATH} {}", times.join(", and "));
        options.push((Choice::new(ChoiceKind::Death, text), Effect::Die));
        options
    }

    fn order(&self) -> Order<'_> {
        Order {
            workflow: self.explore.workflow.as_agent().meta(),
            may_die: self.deaths < self.explore.scope.crashes,
        }
    }

    /// Notes whether the last decision has begun parts of a block whose order may matter, so that
    /// the run may also go ahead.
    fn note_new_parts(&mut self, new: &[Point]) {
        if self
            .order()
            .has_new_parts(new, self.explore.scope.is_reduced)
            && let Some(last) = self.decisions.last_mut()
        {
            let choices = last.choices.iter_mut();
            for choice in choices.filter(|choice| choice.text.ends_with(AHEAD)) {
                choice.is_redundant = false;
            }
        }
    }

    /// Chooses what happens while no process runs, until a process starts again. Returns whether
    /// the run waits for good.
    async fn between(&mut self, runner: &Runner<NoProvider, R>, died: bool) -> Result<bool> {
        let mut may_start = died;
        loop {
            let open = runner.waiting().await?;
            if open.is_empty() {
                return Ok(false);
            }
            let mut options = Options::new();
            if may_start {
                let text = "a process takes the run up".to_owned();
                options.push((Choice::new(ChoiceKind::Person, text), Effect::Restart));
            }
            options.extend(open.iter().flat_map(|wait| self.answers_to(wait, false)));
            let expiring = open.iter().filter(|wait| wait.deadline.is_some());
            options.extend(expiring.map(|wait| {
                let text = format!("the answer to `{}` comes too late", place_of(wait));
                let value = self.values_of(wait).and_then(|values| values.first());
                let effect = Effect::Expire {
                    wait: wait.clone(),
                    value: value.cloned(),
                };
                (Choice::new(ChoiceKind::Person, text), effect)
            }));
            if !may_start && open.iter().all(|wait| wait.deadline.is_none()) {
                let text = "no person answers any more".to_owned();
                options.push((Choice::new(ChoiceKind::Person, text), Effect::Leave));
            }
            if let Some((first, _)) = options.first_mut() {
                first.kind = ChoiceKind::Default;
            }
            match self.choose(options)? {
                Effect::Restart => return Ok(false),
                Effect::Leave => {
                    let unanswered = open.iter().map(|wait| PersonAnswer {
                        place: place_of(wait),
                        answer: None,
                    });
                    self.questions.extend(unanswered);
                    return Ok(true);
                }
                effect => {
                    self.act(runner, effect).await?;
                    may_start = true;
                }
            }
        }
    }

    /// Returns the answers that a person may give to a question.
    fn answers_to(&self, wait: &Waiting, is_early: bool) -> Options {
        let place = place_of(wait);
        let option = |value: &Value| {
            let time = if is_early { " at once" } else { "" };
            let text = format!("`{place}` is answered{time}: {value}");
            let effect = Effect::Answer {
                wait: wait.clone(),
                value: value.clone(),
            };
            (Choice::new(ChoiceKind::Person, text), effect)
        };
        let values = self.values_of(wait).unwrap_or_default();
        values.iter().map(option).collect()
    }

    /// Returns the values that a person may give to a question.
    fn values_of(&self, wait: &Waiting) -> Option<&[Value]> {
        let place = place_of(wait);
        let (_, label) = place.rsplit_once(':')?;
        let (label, _) = label.split_once('@').unwrap_or((label, ""));
        // The question about a call is `confirm pay@0`.
        let tool = label.strip_prefix("confirm ");
        let is_named = |name: &str| {
            *name == **wait.path.name() || name == label || tool == Some(name) || name == place
        };
        let mut all = self.explore.waits.iter();
        let found = all.find(|WaitValues { name, .. }| is_named(name));
        found.map(|found| &*found.values)
    }

    async fn act(&mut self, runner: &Runner<NoProvider, R>, effect: Effect) -> Result<()> {
        match effect {
            Effect::Answer { wait, value } => {
                runner.answer(&wait.id, value.clone()).await?;
                self.questions.push(PersonAnswer {
                    place: place_of(&wait),
                    answer: Some(value),
                });
            }
            Effect::Expire { wait, value } => {
                let now = self.journal.now().await?;
                let left = wait.deadline.unwrap_or(now).saturating_sub(now);
                advance(Duration::from_micros(left) + Duration::from_secs(1)).await;
                // A runner that knows no workflow only answers the waits past their deadline.
                let clock: Runner = Runner::builder()
                    .app_name(runner.app_name())
                    .session_store(self.sessions.clone())
                    .engine(self.journal.clone())
                    .build()?;
                clock.recover().await?;
                if let Some(value) = value
                    && runner.answer(&wait.id, value).await.is_ok()
                {
                    let message = format!("`{}` took an answer after its deadline", wait.id);
                    return Err(Error::other(message));
                }
                self.questions.push(PersonAnswer {
                    place: place_of(&wait),
                    answer: None,
                });
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes the choice of the plan, or the default.
    fn choose(&mut self, options: Options) -> Result<Effect> {
        let at = self.decisions.len();
        let planned = self.plan.get(self.followed).filter(|next| next.at == at);
        let taken = match planned {
            None => 0,
            Some(planned) => {
                self.followed += 1;
                let found = options
                    .iter()
                    .position(|(choice, _)| choice.text == planned.text);
                found.ok_or_else(|| {
                    let texts: Vec<_> = options.iter().map(|(choice, _)| &*choice.text).collect();
                    not_repeated(planned, &texts.join("`, `"))
                })?
            }
        };
        let (choices, mut effects): (Vec<_>, Vec<_>) = options.into_iter().unzip();
        self.decisions.push(Decision { choices });
        match effects.len() {
            0 => Ok(Effect::Leave),
            _ => Ok(effects.swap_remove(taken)),
        }
    }

    /// Checks that the history has followed the whole plan.
    fn check_plan(&self) -> Result<()> {
        match self.plan.get(self.followed) {
            None => Ok(()),
            Some(missing) => Err(not_repeated(missing, "the end of the history")),
        }
    }

    /// Returns the world at the end.
    async fn world(
        &self,
        end: HistoryEnd,
        app: &str,
        resources: Arc<dyn Any + Send + Sync>,
    ) -> Result<World> {
        let (mut keys, mut events) = (BTreeMap::new(), Vec::new());
        for found in self.sessions.list(app, None, "").await? {
            if let Some(session) = self.sessions.get(&found.key).await? {
                let state = session.state().into_iter();
                keys.extend(state.map(|(key, value)| (key.to_string(), Value::clone(&value))));
                events.extend(session.events().cloned());
            }
        }
        let mut calls = self.ledger.calls();
        // The record of a call that a person has refused is made without its tool. The question
        // has the number of the call.
        calls.retain(|call| {
            let question = format!("{}:confirm {}@{}", call.path, call.name, call.index);
            let is_refused = |asked: &PersonAnswer| {
                asked.place == question && asked.answer == Some(Value::Bool(false))
            };
            call.kind != CallKind::Tool || !self.questions.iter().any(is_refused)
        });
        let mut args: HashMap<(String, String), Vec<Value>> = HashMap::new();
        for event in &events {
            for call in event.function_calls() {
                let place = (event.path.to_string(), call.name.to_string());
                let all = args.entry(place).or_default();
                all.push(Value::Object(call.args.clone()));
            }
        }
        for call in &mut calls {
            let all = args.get(&(call.path.clone(), call.name.clone()));
            let own = all.and_then(|all| all.get(call.index as usize));
            call.args = own.cloned().unwrap_or_default();
        }
        Ok(World {
            calls,
            keys,
            events,
            end,
            questions: self.questions.clone(),
            deaths: self.deaths,
            choices: self.plan.iter().map(|choice| choice.text.clone()).collect(),
            resources,
        })
    }
}

impl From<Result<()>> for ProcessEnd {
    fn from(ended: Result<()>) -> Self {
        match ended {
            Ok(()) => Self::Ended(HistoryEnd::Finished),
            Err(error) if error.kind() == ErrorKind::Paused => Self::Paused,
            Err(error) => Self::Ended(HistoryEnd::Failed(Arc::new(error))),
        }
    }
}

fn ids(waits: &[Waiting]) -> Vec<String> {
    waits.iter().map(|wait| wait.id.clone()).collect()
}

/// Returns the key of a question without its run, which is another one in each history.
fn place_of(wait: &Waiting) -> String {
    let place = wait.id.split_once('/').map(|(_, place)| place);
    place.unwrap_or(&wait.id).to_owned()
}

fn not_repeated(planned: &Deviation, found: &str) -> Error {
    let message = format!("decision {planned} does not come again; it has `{found}`");
    Error::other(message).with_help(
        "a history is the same each time only if tools and functions take clocks and random \
         numbers from `cx.step(...)`; after a change of the program explore it again",
    )
}
