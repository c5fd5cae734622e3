//! Plays a [`History`] of a program on a store, and judges it.

use super::super::Tree;
use super::build::{self, Audit, FAILURE};
use super::engine::{Stopping, waits_of};
use super::program::{Hooks, Program, Version};
use super::stage::{ASKS, Stage};
use adk_core::engine::{Engine, RunFilter, RunStatus};
use adk_core::memory::MemoryService;
use adk_core::session::{EventFilter, SessionKey, SessionStore};
use adk_core::{ArtifactStore, Error, ErrorKind, Event, RunId, Runner, Waiting};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// A store with all its parts, as a process opens it.
#[derive(Clone)]
pub struct Shop<E> {
    pub engine: E,
    pub sessions: Arc<dyn SessionStore>,
    pub artifacts: Arc<dyn ArtifactStore>,
    pub memory: Arc<dyn MemoryService>,
}

impl<E: Engine + Clone + SessionStore + ArtifactStore + MemoryService> Shop<E> {
    /// Of a store that is all of them.
    pub fn of(store: &E) -> Self {
        Self {
            engine: store.clone(),
            sessions: Arc::new(store.clone()),
            artifacts: Arc::new(store.clone()),
            memory: Arc::new(store.clone()),
        }
    }
}

/// The processes of a run: each has a version of the program, and ends in its way. The last one goes on to the end.
pub type History = Vec<(usize, Ends)>;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ends {
    /// It is dropped at this point.
    AtPoint(usize),
    /// The run waits for an answer, or has failed.
    AtWait,
    Through,
    /// An open question is answered, and the resumed run ends with this error before anything is called.
    Refused(ErrorKind),
}

/// A program with a workflow for each version.
pub struct Play {
    pub program: Program,
    stage: Stage,
    trees: Vec<Arc<Tree>>,
    /// The first version without a limit of turns, for runs that have failed by it.
    unlimited: Arc<Tree>,
    /// Whether the person refuses each third question.
    refuses: bool,
}

/// What a history came to.
#[derive(Debug)]
pub struct Played {
    /// The points of the last process.
    pub points: usize,
    pub waits: usize,
    /// How often models were asked.
    pub models: u32,
    /// The tool calls, with how often each was made, and whether the model got its result.
    pub tools: Vec<(String, u32, bool)>,
    /// What people were asked.
    pub asked: Vec<String>,
}

/// No history has so many processes, pauses and failures.
const MOST: usize = 200;

impl Play {
    pub fn new(program: Program) -> Self {
        let stage = Stage::default();
        let tree = |version: &Version| Arc::new(build::tree(&program, version, &stage));
        let trees = program.versions.iter().map(tree).collect();
        let mut first = program.versions[0].clone();
        first.agents.iter_mut().for_each(|agent| agent.max_turns = None);
        let unlimited = tree(&first);
        Self { program, stage, trees, unlimited, refuses: true }
    }

    /// The person agrees to everything.
    pub fn agreeing(self) -> Self {
        Self { refuses: false, ..self }
    }

    /// A program with these workflows for versions.
    pub fn with(program: Program, make: impl FnOnce(&Program, &Stage) -> Vec<Tree>) -> Self {
        let play = Self::new(program);
        let trees = make(&play.program, &play.stage).into_iter().map(Arc::new).collect();
        Self { trees, ..play }
    }

    /// Plays a history in a session of its own.
    ///
    /// # Errors
    /// What is wrong.
    pub async fn play<E: Engine + Clone>(
        &self,
        shop: &Shop<E>,
        session: &str,
        history: &History,
    ) -> Result<Played, String> {
        self.stage.reset();
        let mut run = Running {
            play: self,
            shop,
            session,
            answers: BTreeMap::new(),
            asked: BTreeSet::new(),
            failures: 0,
            has_diverged: false,
        };
        let mut points = 0;
        let mut id = None;
        for (version, ends) in history {
            points = run.process(&mut id, *version, *ends).await?;
        }
        let id = id.ok_or("no run has begun")?;
        let tools = run.judge(id).await?;
        let (waits, asked) = (run.answers.len(), run.asked.into_iter().collect());
        Ok(Played { points, waits, models: self.stage.count("model"), tools, asked })
    }
}

struct Running<'a, E> {
    play: &'a Play,
    shop: &'a Shop<E>,
    session: &'a str,
    /// What was answered, by what was asked.
    answers: BTreeMap<String, Value>,
    asked: BTreeSet<String>,
    failures: usize,
    /// Whether a version was refused that does not do what is recorded: that fails the run.
    has_diverged: bool,
}

impl<E: Engine + Clone> Running<'_, E> {
    /// A process from its begin to its end. Gives the points that it has passed.
    async fn process(&mut self, id: &mut Option<RunId>, version: usize, ends: Ends) -> Result<usize, String> {
        let stage = &self.play.stage;
        let at = if let Ends::AtPoint(at) = ends { at } else { usize::MAX };
        stage.begin_process(at);
        let mut tree = self.play.trees[version].clone();
        let plugin_of = |version: Option<&Version>| version.map_or(Hooks::None, |version| version.plugin);
        let mut plugin = plugin_of(self.play.program.versions.get(version));
        for _ in 0..MOST {
            let runner = self.runner(&tree, plugin);
            if let Some(run) = *id {
                self.is_released(run).await?;
                if let Ends::Refused(kind) = ends {
                    return self.refused(run, &tree, kind).await.map(|()| 0);
                }
                match self.status(run).await {
                    RunStatus::Finished => return Ok(stage.points()),
                    RunStatus::Failed(error) => {
                        self.failed(&error)?;
                        if error.contains("max_turns") {
                            // The operator takes the limit back.
                            tree = self.play.unlimited.clone();
                            plugin = self.play.program.versions[0].plugin;
                        }
                        if ends == Ends::AtWait {
                            return Ok(stage.points());
                        }
                        let retry = self.runner(&tree, plugin);
                        stage.begin_execution();
                        let retried = async { drop(retry.retry(run).await) };
                        if self.until_stopped(retried).await.is_none() {
                            return Ok(stage.points());
                        }
                        continue;
                    }
                    RunStatus::Paused => {
                        let open = waits_of(&self.shop.engine, run).await;
                        self.look_at(&open)?;
                        if let Some(wait) = open.last() {
                            self.answer(&runner, wait).await?;
                            if ends == Ends::AtWait {
                                return Ok(stage.points());
                            }
                        }
                    }
                    RunStatus::Running => {}
                    status => return Err(format!("the run is {status:?}")),
                }
                stage.begin_execution();
                let resumed = async { drop(runner.resume(tree.clone(), run).await) };
                if self.until_stopped(resumed).await.is_none() {
                    return Ok(stage.points());
                }
            } else {
                stage.begin_execution();
                let request = runner.session("u", self.session).run(tree.clone(), "go");
                let begun = self.until_stopped(async { drop(request.await) }).await;
                *id = self.begun().await;
                if begun.is_none() {
                    return Ok(stage.points());
                }
            }
        }
        Err("the run does not end".to_owned())
    }

    /// Resumes a run that is refused, after an answer if it waits for one.
    async fn refused(&mut self, run: RunId, tree: &Arc<Tree>, kind: ErrorKind) -> Result<(), String> {
        let stage = &self.play.stage;
        let runner = self.runner(tree, Hooks::None);
        if let Some(wait) = waits_of(&self.shop.engine, run).await.last() {
            self.answer(&runner, wait).await?;
        }
        stage.begin_execution();
        let (before, made) = (self.status(run).await, stage.count(""));
        let error = match before {
            RunStatus::Failed(_) => runner.retry(run).await.and_then(|retried| retried.result).err(),
            _ => runner.resume(tree.clone(), run).await.err(),
        };
        let given = error.as_ref().map(Error::kind);
        if given != Some(kind) {
            return Err(format!("it ends with {given:?}, not with {kind:?}: {error:?}"));
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

    fn runner(&self, tree: &Arc<Tree>, plugin: Hooks) -> Runner {
        let engine = Stopping::new(self.shop.engine.clone(), self.play.stage.clone());
        let builder = Runner::builder()
            .app_name("app")
            .session_store(self.shop.sessions.clone())
            .artifact_store(self.shop.artifacts.clone())
            .memory_service(self.shop.memory.clone())
            .engine(engine)
            .workflow(tree.clone());
        let builder = if plugin == Hooks::None { builder } else { builder.plugin(Audit(plugin)) };
        builder.build().unwrap()
    }

    /// Does the work of a process until it is done or the process stops, which drops it.
    async fn until_stopped(&self, work: impl Future<Output = ()>) -> Option<()> {
        tokio::select! {
            biased;
            () = self.play.stage.stopped() => None,
            () = work => Some(()),
        }
    }

    /// The run of the session, if something of it is stored.
    async fn begun(&self) -> Option<RunId> {
        self.events().await.first().map(|event| event.invocation_id)
    }

    async fn events(&self) -> Vec<Arc<Event>> {
        let key = SessionKey::new("app", "u", self.session);
        let session = self.shop.sessions.read(&key, &EventFilter::new()).await.unwrap();
        session.map(|session| session.events).unwrap_or_default()
    }

    async fn status(&self, run: RunId) -> RunStatus {
        let registry = self.shop.engine.registry().expect("it keeps runs");
        registry.runs("app", &RunFilter::of_run(run)).await.unwrap().remove(0).status
    }

    /// Waits until no process has the run: one that was dropped gives it back a little later.
    async fn is_released(&self, run: RunId) -> Result<(), String> {
        let registry = self.shop.engine.registry().expect("it keeps runs");
        for _ in 0..2_000 {
            let info = registry.runs("app", &RunFilter::of_run(run)).await.unwrap().remove(0);
            if info.status != RunStatus::Running || info.is_ready {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Err("nobody gives the run back".to_owned())
    }

    /// A run fails because the script says so, or a limit was lowered.
    fn failed(&mut self, error: &str) -> Result<(), String> {
        self.failures += 1;
        let is_limit = error.contains("max_turns") && self.play.program.limits_turns();
        let is_scripted = error.contains(FAILURE) && self.play.program.may_fail();
        if (is_limit || is_scripted || self.has_diverged) && self.failures < MOST / 4 {
            return Ok(());
        }
        Err(format!("the run has failed: {error}"))
    }

    /// What was answered is not asked again.
    fn look_at(&mut self, open: &[Waiting]) -> Result<(), String> {
        for wait in open {
            let what = identity(wait);
            if self.answers.contains_key(&what) {
                return Err(format!("`{what}` was answered and is asked again"));
            }
            self.asked.insert(what);
        }
        Ok(())
    }

    /// A person answers one question.
    async fn answer(&mut self, runner: &Runner, wait: &Waiting) -> Result<(), String> {
        let is_question = wait.schema["type"] == json!("boolean");
        let answer = if is_question {
            json!(!self.play.refuses || self.answers.len() % 3 != 2)
        } else {
            json!({"late": 1})
        };
        let given = runner.answer(&wait.id, answer.clone()).await;
        given.map_err(|error| format!("an answer to `{}` is refused: {error}", wait.id))?;
        if answer == json!(false) {
            self.play.stage.refuse(identity(wait));
        }
        self.answers.insert(identity(wait), answer);
        Ok(())
    }

    /// What is true of every run that has ended.
    async fn judge(&self, run: RunId) -> Result<Vec<(String, u32, bool)>, String> {
        let stage = &self.play.stage;
        if let Some(fault) = stage.first_fault() {
            return Err(fault);
        }
        let status = self.status(run).await;
        if status != RunStatus::Finished {
            return Err(format!("the run has ended as {status:?}"));
        }
        let open = waits_of(&self.shop.engine, run).await;
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
        for (event, call) in
            events.iter().flat_map(|event| event.function_calls().map(move |call| (event, call)))
        {
            let given = answers.get(&*call.id).map(Vec::as_slice).unwrap_or_default();
            let is_long_running = self.play.program.is_long_running(&call.name);
            let what = format!("{}({}) at {}", call.name, json!(call.args), event.path);
            if given.len() > if is_long_running { 2 } else { 1 } {
                return Err(format!("{what} has {} answers: {given:?}", given.len()));
            }
            if given.is_empty() && !self.play.program.may_fail() {
                return Err(format!("{what} has no answer"));
            }
            let did = json!({"result": build::did(&call.name, &call.args)});
            if let Some(answer) = given.first()
                && stage.is_recorded(&call.name, &call.id)
                && **answer != did
            {
                return Err(format!("{what} was made, and its answer is {answer}"));
            }
            let number = call.args.get("n").unwrap_or(&Value::Null);
            let times = stage.times(&call.name, &call.id);
            tools.push((format!("{}({number})", call.name), times, given.last() == Some(&&did)));
        }
        Ok(tools)
    }
}

/// What a person is asked: a call of a tool, or a question at a place. The wording of a question may change.
fn identity(wait: &Waiting) -> String {
    match &wait.call_id {
        Some(call) => format!("the rest of {call}"),
        None if wait.question.starts_with(ASKS) => format!("{}: {}", wait.path, wait.question),
        None => wait.path.to_string(),
    }
}
