//! [`Case`]: a run of a program across several workers, and the rules for it.

use super::Counts;
use super::journal::Open;
use adk_build::engine::RunStatus;
use adk_build::model::{ModelRequest, ModelResponse};
use adk_build::{CallbackContext, Content, FunctionCall, Plugin, Result, RunId, Runner};
use adk_store_kit::OpenStore;
use adk_store_kit::changes::build::Audit;
use adk_store_kit::changes::play::{Deployed, Running};
use adk_store_kit::changes::program::{Hooks, Program, ProgramStep};
use adk_store_kit::changes::stage::Stage;
use adk_store_kit::changes::{Play, VERSIONS};
use adk_store_kit::random::Random;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::fmt;

/// Returns the name of the workflow of a seed.
pub fn name(seed: u64) -> String {
    format!("w{seed}")
}

pub struct Case<'a> {
    seed: u64,
    pub name: String,
    pub play: &'a Play,
    session: &'a str,
    run: RunId,
    running: Running<'a>,
    random: Random,
    /// Versions of earlier workers, each with its outcome.
    history: Vec<(usize, Came)>,
    /// Version of this worker; `None` before the first.
    version: Option<usize>,
    /// Versions that have continued the run, the newest last.
    took: Vec<usize>,
    /// Whether a version was refused. From then on, the versions that have continued the run are
    /// deployed again, until it ends.
    puts_back: bool,
    answers_left: usize,
    /// Numbers of calls, events and journal entries before this worker.
    made_before: u32,
    events_before: usize,
    entries_before: u64,
    entries: u64,
    is_waiting: bool,
    refused: Option<String>,
    pub has_ended: bool,
    pub is_judged: bool,
}

/// The effect of a version on the run.
#[derive(Clone, Debug, PartialEq)]
enum Came {
    /// The version did nothing, because the run needed no work.
    Nothing,
    WentOn,
    Refused(String),
}

impl fmt::Debug for Case<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Program {
            body,
            scripts,
            fails,
            versions,
            changes,
        } = &self.play.program;
        writeln!(f, "ADK_CHANGES_SEED={} ADK_CHANGES=1", self.seed)?;
        writeln!(
            f,
            "run {}, workers: {:?}, now {:?}, refused {:?}",
            self.run, self.history, self.version, self.refused
        )?;
        writeln!(f, "body: {body:?}\nscripts: {scripts:?}\nfails: {fails:?}")?;
        for (version, changes) in versions.iter().zip(changes) {
            writeln!(f, "after {changes:?}: {version:?}")?;
        }
        Ok(())
    }
}

impl<'a> Case<'a> {
    pub fn new(seed: u64, play: &'a Play, shop: &'a OpenStore, session: &'a str) -> Self {
        Self {
            seed,
            name: name(seed),
            play,
            session,
            run: RunId::new(),
            running: Running::new(play, shop, session),
            random: Random::new(seed ^ 0x5eed),
            history: Vec::new(),
            version: None,
            took: vec![0],
            puts_back: false,
            answers_left: 0,
            made_before: 0,
            events_before: 0,
            entries_before: 0,
            entries: 0,
            is_waiting: false,
            refused: None,
            has_ended: false,
            is_judged: false,
        }
    }

    /// Selects the version of the next worker.
    pub fn begin_worker(&mut self) -> Deployed {
        let next = match self.version {
            None => 0,
            Some(version) if self.puts_back && self.refused.is_none() => version,
            Some(_) if self.puts_back => {
                // One version may have executed some branches, and a refused version other
                // branches. Each branch then needs its own version, so try the versions in turn.
                let last = self.took.pop().expect("the first is there");
                self.took.insert(0, last);
                last
            }
            Some(version) => (version + 1).min(VERSIONS - 1),
        };
        self.version = Some(next);
        let goes_through = self.puts_back || self.history.len() >= VERSIONS - 1;
        let at = if goes_through || self.random.one_in(2) {
            usize::MAX
        } else {
            self.random.below(8) as usize
        };
        self.answers_left = if goes_through {
            usize::MAX
        } else {
            self.random.below(3) as usize
        };
        self.play.stage().begin_process(at);
        self.play.stage().begin_execution();
        self.made_before = self.play.stage().count("");
        self.entries_before = self.entries;
        (self.refused, self.is_waiting) = (None, false);
        self.play.deployed(next)
    }

    /// Begins the run, and waits until its first event is stored.
    pub async fn begin(&self, client: &Runner) {
        let request = client
            .session("u", self.session)
            .run(self.play.deployed(0).tree(), "go")
            .run_id(self.run);
        let mut stream = request.stream();
        stream.next().await.unwrap().unwrap();
    }

    /// Returns the invocations of the run and its branches.
    fn own<'o>(&self, open: &'o [Open]) -> Vec<&'o Open> {
        let of_branch = format!("{}.branch-", self.name);
        let is_own = |open: &&Open| {
            open.service == self.name && open.handler == "run"
                || open.service.starts_with(&of_branch)
        };
        open.iter().filter(is_own).collect()
    }

    /// Updates the progress of the run, and answers its questions.
    pub async fn look(&mut self, open: &[Open], client: &Runner) {
        let own = self.own(open);
        self.has_ended = own.is_empty();
        if self.has_ended {
            return;
        }
        if let Some(failure) = own.iter().find_map(|open| open.failure.clone()) {
            self.refused.get_or_insert(failure);
        }
        let waiting = client.waiting().await.unwrap();
        let waiting: Vec<_> = waiting
            .into_iter()
            .filter(|wait| wait.run_id == self.run)
            .collect();
        let looked = self.running.look_at(&waiting);
        self.fails_if(looked.err());
        let is_paused = self.running.status(self.run).await == RunStatus::Paused;
        self.is_waiting = is_paused && !waiting.is_empty();
        if let Some(wait) = waiting
            .last()
            .filter(|_| self.answers_left > 0 && self.is_waiting)
        {
            self.answers_left -= 1;
            self.is_waiting = false;
            let given = self.running.answer(client, wait).await;
            self.fails_if(given.err());
        }
    }

    /// Reports whether the run does not move any more on this worker.
    pub fn is_still(&self) -> bool {
        self.has_ended
            || self.refused.is_some()
            || self.is_waiting
            || self.play.stage().has_stopped()
    }

    /// Evaluates what the worker did, after its stop.
    pub async fn end_of_worker(
        &mut self,
        (left, recorded): (&[Open], &HashSet<String>),
        counts: &mut Counts,
    ) {
        self.record(recorded).await;
        let own = self.own(left);
        self.has_ended = own.is_empty();
        self.entries = own.iter().map(|open| open.entries).sum();
        let stage = self.play.stage();
        self.fails_if(stage.first_fault());
        let made = stage.count("") > self.made_before;
        let has_moved = made || self.entries > self.entries_before || self.has_ended;
        let version = self.version.expect("it has begun");
        let came = match &self.refused {
            Some(why) => Came::Refused(why.clone()),
            None if has_moved => Came::WentOn,
            None => Came::Nothing,
        };
        let events = self.running.events().await.len();
        let events_before = std::mem::replace(&mut self.events_before, events);
        if let Came::Refused(why) = &came {
            if events > events_before && !has_branches(&self.play.program.body) {
                self.fails_if(Some(format!(
                    "a version that is refused has stored an event: {why}"
                )));
            }
            if !is_refusal(why) {
                self.fails_if(Some(format!("an attempt has failed: {why}")));
            }
            if made && !has_branches(&self.play.program.body) {
                self.fails_if(Some(format!(
                    "a version that is refused has made a call: {why}"
                )));
            }
            if self.puts_back && !has_branches(&self.play.program.body) {
                self.fails_if(Some(format!("the program of before is refused: {why}")));
            }
        }
        let before = self.took.last().copied().unwrap_or_default();
        if version > before && came != Came::Nothing && !self.puts_back {
            counts.add(
                self.play.program.changes[before + 1..=version].concat(),
                self.refused.is_some(),
            );
        }
        self.puts_back |= self.refused.is_some();
        if has_moved && !self.took.contains(&version) {
            self.took.push(version);
        }
        self.history.push((version, came));
        if self.has_ended {
            self.judge().await;
            self.is_judged = true;
        }
    }

    /// Informs the test's stage which calls have a record, and which tool calls have an answer.
    async fn record(&self, recorded: &HashSet<String>) {
        let stage = self.play.stage();
        let mut summaries = BTreeMap::<String, Vec<(u32, String)>>::new();
        for call in stage.unrecorded() {
            let words: Vec<_> = call.split(' ').collect();
            let key = match words[..] {
                ["model", turn, "of", path] => format!("{path}:model@{turn}"),
                ["step", number, "of", path] => format!("{path}:step.work@{number}"),
                ["tool", name, id] => self.tool_key(name, id),
                ["summary", turn, "of", path] => {
                    summaries
                        .entry(path.to_owned())
                        .or_default()
                        .push((turn.parse().unwrap(), call.clone()));
                    continue;
                }
                _ => panic!("{call}"),
            };
            if recorded.contains(&key) {
                stage.record(&call);
            }
        }
        for event in self.running.events().await {
            event
                .function_responses()
                .for_each(|response| stage.answer(&response.id));
        }
    }

    /// Returns the journal name of a tool call, by its id: `adk-{run}-{path}-{reply}.{number}`.
    fn tool_key(&self, tool: &str, id: &str) -> String {
        let (place, at) = id.rsplit_once('-').unwrap();
        let path = place.splitn(3, '-').last().unwrap();
        let (reply, number) = at.split_once('.').unwrap();
        let (reply, number): (usize, usize) = (reply.parse().unwrap(), number.parse().unwrap());
        let agent = path
            .rsplit('_')
            .next()
            .unwrap()
            .split(['#', '['])
            .next()
            .unwrap();
        let script = &self.play.program.scripts[agent.parse::<usize>().unwrap()];
        let before = script[..reply]
            .iter()
            .flatten()
            .chain(&script[reply][..number]);
        format!(
            "{path}:tool.{tool}@{}",
            before.filter(|call| call.tool == tool).count()
        )
    }

    /// Checks a run that has ended.
    async fn judge(&mut self) {
        let status = self.running.status(self.run).await;
        if let RunStatus::Failed(error) = &status {
            let failed = self.running.failed(&error.to_string());
            self.fails_if(failed.err());
        } else if status != RunStatus::Finished {
            self.fails_if(Some(format!("it has ended as {status:?}")));
        }
        let judged = if status == RunStatus::Finished {
            self.running.judge(self.run).await
        } else {
            self.running.judge_calls(self.run).await
        };
        self.fails_if(judged.err());
        if status == RunStatus::Finished {
            self.judge_lists().await;
        }
    }

    /// Checks that the list of a block contains the answers that people gave in its elements.
    async fn judge_lists(&self) {
        let events = self.running.events().await;
        for node in &self.play.program.body {
            let ProgramStep::Each(each, inside) = node else {
                continue;
            };
            for question in inside.iter().filter_map(|node| {
                if let ProgramStep::Ask(number) = node {
                    Some(number)
                } else {
                    None
                }
            }) {
                let (path, key) = (
                    format!("{}/each_{each}", self.name),
                    format!("yes_{question}"),
                );
                let is_inside = |asked: &&str| asked.starts_with(&*path) && asked.ends_with(&*key);
                let answered = self.running.answered().filter(is_inside).count();
                let own = events.iter().filter(|event| event.path.to_string() == path);
                let lists: Vec<_> = own
                    .filter_map(|event| event.actions.state_delta.get(&key)?.as_array())
                    .collect();
                if lists.len() != 1 || lists[0].len() != answered {
                    self.fails_if(Some(format!(
                        "{answered} answers for `{key}` of `{path}`, and {lists:?}"
                    )));
                }
            }
        }
    }

    fn fails_if(&self, why: Option<String>) {
        if let Some(why) = why {
            panic!("{why}\n{self:?}");
        }
    }
}

/// Reports whether an attempt failed because the requests of the version differ from the journal.
fn is_refusal(why: &str) -> bool {
    why.contains("mismatch") || why.contains("journal")
}

/// Reports whether some parts of a program, such as parallel branches, are separate invocations.
fn has_branches(nodes: &[ProgramStep]) -> bool {
    nodes.iter().any(|node| match node {
        ProgramStep::Each(..) | ProgramStep::Parallel(..) => true,
        ProgramStep::Loop(_, inside) | ProgramStep::Try(_, inside, _) => has_branches(inside),
        ProgramStep::Llm(_) | ProgramStep::Work { .. } | ProgramStep::Ask(_) => false,
    })
}

/// Plugins of the programs, by the name of the workflow.
#[derive(Default)]
pub struct Plugins(BTreeMap<String, (Hooks, Stage)>);

impl Plugins {
    pub fn add(&mut self, workflow: String, hooks: Hooks, stage: &Stage) {
        self.0.insert(workflow, (hooks, stage.clone()));
    }

    fn of(&self, cx: &CallbackContext) -> Audit {
        let path = cx.path().to_string();
        let root = path.split(['/', '#', '[']).next().unwrap_or_default();
        let (hooks, stage) = self.0.get(root).cloned().unwrap_or_default();
        Audit(hooks, stage)
    }
}

impl Plugin for Plugins {
    fn name(&self) -> &str {
        "plugins"
    }

    async fn before_agent(&self, cx: &mut CallbackContext) -> Result<Option<Content>> {
        self.of(cx).before_agent(cx).await
    }

    async fn before_model(
        &self,
        cx: &mut CallbackContext,
        request: &mut ModelRequest,
    ) -> Result<Option<ModelResponse>> {
        self.of(cx).before_model(cx, request).await
    }

    async fn after_tool(
        &self,
        cx: &mut CallbackContext,
        call: &FunctionCall,
        result: &mut Value,
    ) -> Result<Option<Value>> {
        self.of(cx).after_tool(cx, call, result).await
    }
}
