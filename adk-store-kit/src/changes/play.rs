//! Plays a [`History`] of a program on a store, and checks the result.

use super::build::{self, Audit, FAILURE};
use super::engine::{Stopping, waits_of};
use super::program::{Hooks, Program, Version};
use super::stage::{ASKS, Stage};
use crate::place::OpenStore;
use crate::trees::{Tree, usage_of_agents};
use adk_build::engine::{RunFilter, RunStatus};
use adk_build::session::{EventFilter, SessionKey};
use adk_build::{AnsweredBy, Answerer, Error, ErrorKind, Event, Outcome, RunId, Runner, Waiting};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// The processes of a run: each has a version of the program and an end. The last process continues
/// to the end of the run.
pub type History = Vec<(usize, Ends)>;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ends {
    /// The process is dropped at this point.
    AtPoint(usize),
    /// The run waits for an answer, or has failed.
    AtWait,
    /// The run waits, and no answer arrives.
    Unanswered,
    Through,
    /// An open question is answered, and the resumed run ends with this error before any call.
    Refused(ErrorKind),
}

/// A program with a workflow for each version.
pub struct Play {
    pub program: Program,
    stage: Stage,
    versions: Vec<Deployed>,
    /// The first version without a turn limit, for runs that failed by the limit: the operator
    /// removes it.
    unlimited: Deployed,
    /// Whether the person refuses every third question.
    refuses: bool,
}

/// The result of a history.
#[derive(Debug)]
pub struct Played {
    /// The number of points of the last process.
    pub points: usize,
    pub waits: usize,
    /// The number of model calls.
    pub models: u32,
    pub summaries: u32,
    /// The tool calls, each with its number of executions, and whether the model got its result.
    pub tools: Vec<(String, u32, bool)>,
    /// The questions to people.
    pub asked: Vec<String>,
    /// The questions as stored, in the order in which a person saw them.
    pub questions: Vec<Waiting>,
    /// The errors with which the run failed.
    pub failures: Vec<String>,
    /// The requests of all model calls.
    pub requests: Vec<String>,
    /// The number of calls of each callback and function of the program.
    pub hooks: BTreeMap<&'static str, u32>,
    /// The number of open questions at each look of a person.
    pub open: Vec<usize>,
}

/// A version as a process has it.
#[derive(Clone)]
pub struct Deployed {
    tree: Arc<Tree>,
    plugin: Hooks,
}

impl Deployed {
    pub fn tree(&self) -> Arc<Tree> {
        self.tree.clone()
    }

    pub fn hooks(&self) -> Hooks {
        self.plugin
    }

    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tree, &other.tree)
    }
}

/// The state of a run that a process finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// No run has started, or the last process was interrupted.
    Interrupted,
    /// A question was answered, or a failure is fixed.
    GoesOn,
    Ended,
}

/// The maximum number of processes, pauses and failures of a history.
const MOST: usize = 200;

impl Play {
    pub fn new(program: Program) -> Self {
        Self::on(Stage::default(), program)
    }

    /// Builds a play on the stage of other processes.
    pub fn on(stage: Stage, program: Program) -> Self {
        Self::named("w", stage, program)
    }

    /// Builds a play with workflows of this name.
    pub fn named(workflow: &str, stage: Stage, program: Program) -> Self {
        let deploy = |version: &Version| Deployed {
            tree: Arc::new(build::named(workflow, &program, version, &stage)),
            plugin: version.plugin,
        };
        let versions = program.versions.iter().map(deploy).collect();
        let mut first = program.versions[0].clone();
        first
            .agents
            .iter_mut()
            .for_each(|agent| agent.max_turns = None);
        let unlimited = deploy(&first);
        Self {
            program,
            stage,
            versions,
            unlimited,
            refuses: true,
        }
    }

    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    pub fn unlimited(&self) -> Deployed {
        self.unlimited.clone()
    }

    pub fn deployed(&self, version: usize) -> Deployed {
        self.versions[version].clone()
    }

    /// Makes the person agree to every question.
    pub fn agreeing(self) -> Self {
        Self {
            refuses: false,
            ..self
        }
    }

    /// Builds a play of a program with these workflows as versions.
    pub fn with(program: Program, make: impl FnOnce(&Program, &Stage) -> Vec<Tree>) -> Self {
        let play = Self::new(program);
        let trees = make(&play.program, &play.stage).into_iter();
        let versions = trees
            .map(|tree| Deployed {
                tree: Arc::new(tree),
                plugin: Hooks::None,
            })
            .collect();
        Self { versions, ..play }
    }

    /// Plays a history in its own session.
    ///
    /// # Errors
    ///
    /// The first fault.
    pub async fn play(
        &self,
        shop: &OpenStore,
        session: &str,
        history: &History,
    ) -> Result<Played, String> {
        self.stage.reset();
        let mut run = Running::new(self, shop, session);
        let mut points = 0;
        let mut id = None;
        for (version, ends) in history {
            points = run.process(&mut id, *version, *ends).await?;
        }
        let id = id.ok_or("no run has started")?;
        let tools = run.judge(id).await?;
        let (waits, asked, open) = (run.answers.len(), run.asked.into_iter().collect(), run.open);
        let (questions, failures) = (run.questions, run.failures);
        let (models, summaries) = (self.stage.count("model"), self.stage.count("summary"));
        let (requests, hooks) = (self.stage.requests(), self.stage.hooks());
        Ok(Played {
            points,
            waits,
            models,
            summaries,
            tools,
            asked,
            questions,
            failures,
            requests,
            hooks,
            open,
        })
    }
}

/// A run as the person and the operator see it.
pub struct Running<'a> {
    play: &'a Play,
    shop: &'a OpenStore,
    session: &'a str,
    /// Answers by question.
    answers: BTreeMap<String, Value>,
    asked: BTreeSet<String>,
    questions: Vec<Waiting>,
    open: Vec<usize>,
    failures: Vec<String>,
    executions: usize,
    /// Whether a version was refused because it diverges from the record, which fails the run.
    has_diverged: bool,
}

impl<'a> Running<'a> {
    pub fn new(play: &'a Play, shop: &'a OpenStore, session: &'a str) -> Self {
        Self {
            play,
            shop,
            session,
            answers: BTreeMap::new(),
            asked: BTreeSet::new(),
            questions: Vec::new(),
            open: Vec::new(),
            failures: Vec::new(),
            executions: 0,
            has_diverged: false,
        }
    }

    /// Returns the same run with another play.
    pub fn on(self, play: &'a Play) -> Self {
        Self { play, ..self }
    }

    /// Executes one process and returns the number of points that it passed.
    async fn process(
        &mut self,
        id: &mut Option<RunId>,
        version: usize,
        ends: Ends,
    ) -> Result<usize, String> {
        let stage = &self.play.stage;
        stage.begin_process(if let Ends::AtPoint(at) = ends {
            at
        } else {
            usize::MAX
        });
        let mut deployed = self.play.deployed(version);
        for _ in 0..MOST {
            if let (Some(run), Ends::Refused(kind)) = (*id, ends) {
                self.is_released(run).await?;
                return self.resume_refused(run, &deployed, kind).await.map(|()| 0);
            }
            if ends == Ends::Unanswered {
                execute(self.shop, self.session, stage, &deployed, *id).await;
                break;
            }
            let before = self.next(id, &mut deployed).await?;
            if before == Next::Ended || before == Next::GoesOn && ends == Ends::AtWait {
                break;
            }
            let stopped = stage.stopped();
            let is_dropped = tokio::select! {
                biased;
                () = stopped => true,
                () = execute(self.shop, self.session, stage, &deployed, *id) => false,
            };
            if is_dropped {
                break;
            }
        }
        // The started run may be stored.
        *id = self.started_run().await;
        Ok(stage.points())
    }

    /// Handles the current state of a run: answers a question or inspects a failure.
    pub async fn next(
        &mut self,
        id: &mut Option<RunId>,
        deployed: &mut Deployed,
    ) -> Result<Next, String> {
        *id = self.started_run().await;
        let Some(run) = *id else {
            return Ok(Next::Interrupted);
        };
        self.is_released(run).await?;
        self.executions += 1;
        if self.executions > MOST {
            return Err("the run does not end".to_owned());
        }
        match self.status(run).await {
            RunStatus::Finished => Ok(Next::Ended),
            RunStatus::Running => Ok(Next::Interrupted),
            RunStatus::Failed(error) => {
                self.failed(&error.to_string())?;
                if error.message.contains("max_turns") {
                    *deployed = self.play.unlimited.clone();
                }
                Ok(Next::GoesOn)
            }
            RunStatus::Paused => {
                let open = waits_of(&*self.shop.engine, run).await;
                self.look_at(&open)?;
                let Some(wait) = open.last() else {
                    return Ok(Next::Interrupted);
                };
                self.open.push(open.len());
                let runner = runner(self.shop, &self.play.stage, deployed);
                self.answer(&runner, wait).await?;
                Ok(Next::GoesOn)
            }
            status => Err(format!("the run is {status:?}")),
        }
    }

    /// Resumes a run that must be refused, after an answer if it waits for one.
    async fn resume_refused(
        &mut self,
        run: RunId,
        deployed: &Deployed,
        kind: ErrorKind,
    ) -> Result<(), String> {
        let stage = &self.play.stage;
        let runner = runner(self.shop, stage, deployed);
        if let Some(wait) = waits_of(&*self.shop.engine, run).await.last() {
            self.answer(&runner, wait).await?;
        }
        stage.begin_execution();
        let (before, made) = (self.status(run).await, stage.count(""));
        let error = match before {
            RunStatus::Failed(_) => runner
                .retry(run)
                .await
                .and_then(|retried| retried.result)
                .err(),
            _ => runner.resume(deployed.tree.clone(), run).await.err(),
        };
        let kind_found = error.as_ref().map(Error::kind);
        if kind_found != Some(kind) {
            return Err(format!(
                "the run ends with {kind_found:?}, not with {kind:?}: {error:?}"
            ));
        }
        if stage.count("") > made {
            return Err("a run that is refused has made a call".to_owned());
        }
        self.has_diverged |= kind == ErrorKind::Diverged;
        let after = self.status(run).await;
        if kind == ErrorKind::TopologyChanged && after != before {
            return Err(format!("a run that is refused is {after:?}"));
        }
        Ok(())
    }

    /// Returns the run of the session, if any part of it is stored.
    async fn started_run(&self) -> Option<RunId> {
        self.events().await.first().map(|event| event.invocation_id)
    }

    pub async fn events(&self) -> Vec<Arc<Event>> {
        let key = SessionKey::new("app", "u", self.session);
        let session = self
            .shop
            .sessions
            .read(&key, &EventFilter::new())
            .await
            .unwrap();
        session.map(|session| session.events).unwrap_or_default()
    }

    pub async fn status(&self, run: RunId) -> RunStatus {
        let registry = self
            .shop
            .engine
            .registry()
            .expect("the engine has a run registry");
        registry
            .runs("app", &RunFilter::of_run(run))
            .await
            .unwrap()
            .remove(0)
            .status
    }

    /// Waits until no process drives the run. A dropped process releases its run a little later.
    async fn is_released(&self, run: RunId) -> Result<(), String> {
        let registry = self
            .shop
            .engine
            .registry()
            .expect("the engine has a run registry");
        for _ in 0..2_000 {
            let info = registry
                .runs("app", &RunFilter::of_run(run))
                .await
                .unwrap()
                .remove(0);
            if info.status != RunStatus::Running || info.is_ready {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Err("no process releases the run".to_owned())
    }

    /// Checks that a failure is one of the script, or comes from a lowered limit.
    pub fn failed(&mut self, error: &str) -> Result<(), String> {
        self.failures.push(error.to_owned());
        let is_limit = error.contains("max_turns") && self.play.program.limits_turns();
        let is_scripted = error.contains(FAILURE) && self.play.program.may_fail();
        if (is_limit || is_scripted || self.has_diverged) && self.failures.len() < MOST / 4 {
            return Ok(());
        }
        Err(format!("the run has failed: {error}"))
    }

    /// Checks that no answered question is open again.
    pub fn look_at(&mut self, open: &[Waiting]) -> Result<(), String> {
        for wait in open {
            let what = identity(wait);
            if self.answers.contains_key(&what) {
                return Err(format!("`{what}` was answered and is asked again"));
            }
            if self.asked.insert(what) {
                self.questions.push(wait.clone());
            }
        }
        Ok(())
    }

    /// Answers one question as a person.
    pub async fn answer(&mut self, runner: &Runner, wait: &Waiting) -> Result<(), String> {
        let is_question = wait.schema["type"] == json!("boolean");
        let answer = if is_question {
            json!(!self.play.refuses || self.answers.len() % 3 != 2)
        } else {
            json!({"late": 1})
        };
        let person = match &wait.by {
            None => Answerer::default(),
            Some(AnsweredBy::Other) => Answerer::user("boss"),
            Some(AnsweredBy::Role(role)) => Answerer::user("boss").role(role),
        };
        let outcome = runner.answer_as(&wait.id, answer.clone(), &person).await;
        outcome.map_err(|error| format!("an answer to `{}` is refused: {error}", wait.id))?;
        if answer == json!(false) {
            self.play.stage.refuse(&identity(wait));
        }
        self.answers.insert(identity(wait), answer);
        Ok(())
    }

    /// Returns the answered questions.
    pub fn answered(&self) -> impl Iterator<Item = &str> {
        self.answers.keys().map(String::as_str)
    }

    /// Checks the properties of every finished run.
    pub async fn judge(&self, run: RunId) -> Result<Vec<(String, u32, bool)>, String> {
        let status = self.status(run).await;
        if status != RunStatus::Finished {
            return Err(self
                .play
                .stage
                .first_fault()
                .unwrap_or_else(|| format!("the run has ended as {status:?}")));
        }
        self.judge_calls(run).await
    }

    /// Checks the calls and questions of every ended run, and returns its tool calls.
    pub async fn judge_calls(&self, run: RunId) -> Result<Vec<(String, u32, bool)>, String> {
        let stage = &self.play.stage;
        if let Some(fault) = stage.first_fault() {
            return Err(fault);
        }
        let open = waits_of(&*self.shop.engine, run).await;
        if let Some(wait) = open.first() {
            return Err(format!("`{}` is still asked", wait.id));
        }
        let events = self.events().await;
        let responses = events.iter().flat_map(|event| event.function_responses());
        let mut answers: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
        let mut values = Vec::new();
        for response in responses {
            values.push((&*response.id, Value::Object(response.response.clone())));
        }
        for (id, value) in &values {
            answers.entry(id).or_default().push(value);
        }
        let mut tools = Vec::new();
        for (event, call) in events
            .iter()
            .flat_map(|event| event.function_calls().map(move |call| (event, call)))
        {
            let results = answers
                .get(&*call.id)
                .map(Vec::as_slice)
                .unwrap_or_default();
            let is_long_running = self.play.program.is_long_running(&call.name);
            let what = format!("{}({}) at {}", call.name, json!(call.args), event.path);
            if results.len() > if is_long_running { 2 } else { 1 } {
                return Err(format!("{what} has {} answers: {results:?}", results.len()));
            }
            if results.is_empty() && !self.play.program.may_fail() {
                return Err(format!("{what} has no answer"));
            }
            let did = json!({"result": build::did(&call.name, &call.args)});
            if let Some(answer) = results.first()
                && stage.is_recorded(&call.name, &call.id)
                && **answer != did
            {
                return Err(format!("{what} was made, and its answer is {answer}"));
            }
            let number = call.args.get("n").unwrap_or(&Value::Null);
            let times = stage.times(&call.name, &call.id);
            tools.push((
                format!("{}({number})", call.name),
                times,
                results.last() == Some(&&did),
            ));
        }
        Ok(tools)
    }
}

/// Executes a run until it ends, waits or fails.
pub async fn execute(
    shop: &OpenStore,
    session: &str,
    stage: &Stage,
    deployed: &Deployed,
    run: Option<RunId>,
) {
    stage.begin_execution();
    let runner = runner(shop, stage, deployed);
    let Some(run) = run else {
        let ended = runner
            .session("u", session)
            .run(deployed.tree.clone(), "go")
            .await;
        judge_usage(stage, &ended);
        return;
    };
    let info = runner
        .runs(&RunFilter::of_run(run))
        .await
        .unwrap()
        .remove(0);
    match info.status {
        RunStatus::Failed(_) => drop(runner.retry(run).await),
        _ => judge_usage(stage, &runner.resume(deployed.tree.clone(), run).await),
    }
}

/// Checks that the usage of the agents adds up to the usage of the run.
fn judge_usage(stage: &Stage, ended: &Result<Outcome<()>, Error>) {
    if let Ok(outcome) = ended
        && let Err(fault) = usage_of_agents(outcome)
    {
        stage.fault(&fault);
    }
}

fn runner(shop: &OpenStore, stage: &Stage, deployed: &Deployed) -> Runner {
    let builder = Runner::builder()
        .app_name("app")
        .store(shop.clone())
        .engine(Stopping::new(shop.engine.clone(), stage.clone()))
        .workflow(deployed.tree.clone());
    let builder = match deployed.plugin {
        Hooks::None => builder,
        hooks => builder.plugin(Audit(hooks, stage.clone())),
    };
    builder.build().unwrap()
}

/// Identifies a question: by the tool call, or by its place. Its text may change.
fn identity(wait: &Waiting) -> String {
    match &wait.call_id {
        Some(call) => format!("the rest of {call}"),
        None if wait.question.starts_with(ASKS) => format!("{}: {}", wait.path, wait.question),
        None => wait.path.to_string(),
    }
}
