//! [`eval`] and its settings.

use super::effects::refuse_effects;
use super::turns::invocation;
use crate::failure::{EvalFailure, refused};
use crate::files::{EvalCase, EvalConfig, EvalSet, EvalSetResult, Invocation};
use crate::metrics::{MetricPlan, MetricScores, metric_plans};
use crate::report::{CaseReport, CaseRun, EvalReport, history_points};
use crate::score::{CaseTurns, score_run};
use crate::stats::Baseline;
use adk_core::model::NoProvider;
use adk_core::runner::KnownWorkflow;
use adk_core::{Error, ErrorKind, Event, Needs, NoResources, Outcome, Result, Runner, Workflow};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// The user of cases without one, as in google-adk.
const USER: &str = "test_user_id";

/// The variable that asks for a new baseline: `ADK_EVAL=baseline`.
const MODE: &str = "ADK_EVAL";

/// The view of a metric of the program: one run of a case, with typed keys, routes and cost.
#[derive(Clone, Copy, Debug)]
pub struct MetricRun<'a> {
    /// The case.
    pub case: &'a EvalCase,
    /// The turns as they happened.
    pub turns: &'a [Invocation],
    /// The outcome of each turn: keys by `get`, loops, usage and cost, and the session.
    pub outcomes: &'a [Outcome<Value>],
}

impl MetricRun<'_> {
    /// Returns the outcome of the last turn.
    pub fn last(&self) -> Option<&Outcome<Value>> {
        self.outcomes.last()
    }

    /// Returns the paths of the events of all turns in their order, such as
    /// `desk/refunding/clerk`: the route of the run.
    pub fn route(&self) -> Vec<String> {
        let mut route: Vec<String> = Vec::new();
        for outcome in self.outcomes {
            let events = own_events(outcome);
            for path in events.iter().map(|event| event.path.to_string()) {
                if !path.is_empty() && route.last() != Some(&path) {
                    route.push(path);
                }
            }
        }
        route
    }
}

type CustomFunction = Box<dyn Fn(&MetricRun<'_>) -> f64 + Send + Sync>;

/// An eval before it runs. [`eval`] makes it.
#[must_use = "an eval does nothing until `run` is awaited"]
pub struct Eval {
    set: PathBuf,
    config: Option<PathBuf>,
    baseline: Option<PathBuf>,
    reports: PathBuf,
    history: PathBuf,
    runs: usize,
    metrics: BTreeMap<String, CustomFunction>,
}

/// Makes an eval of a file of google-adk, such as `evals/desk.evalset.json`.
///
/// The metrics are those of the file `test_config.json` beside it. Without that file,
/// `tool_trajectory_avg_score` must reach 1.0 and `response_match_score` 0.8. Paths begin in the
/// folder in which `cargo test` runs a test: the folder of `Cargo.toml`.
///
/// ```no_run
/// use adk::prelude::*;
///
/// workflow! {
///     /// Answers.
///     pub Desk(question: String) -> answer: String {
///         /// Answers.
///         agent clerk -> answer: String { instruction: "Answer {question}." }
///         clerk
///     }
/// }
///
/// # async fn desk() -> Result<()> {
/// let runner = Runner::builder().model("gemini-2.5-flash").build()?;
/// adk::eval("evals/desk.evalset.json").runs(5).run(&runner, Desk::default()).await?;
/// # Ok(())
/// # }
/// ```
pub fn eval(set: impl Into<PathBuf>) -> Eval {
    Eval {
        set: set.into(),
        config: None,
        baseline: None,
        reports: PathBuf::from("target/adk-eval"),
        history: PathBuf::from("."),
        runs: 1,
        metrics: BTreeMap::new(),
    }
}

impl Eval {
    /// Sets the file with the metrics, in place of `test_config.json`.
    pub fn config(mut self, path: impl Into<PathBuf>) -> Self {
        self.config = Some(path.into());
        self
    }

    /// Sets how often each case runs; 1 by default. A case then fails when a mean is below its
    /// threshold.
    pub fn runs(mut self, runs: usize) -> Self {
        self.runs = runs;
        self
    }

    /// Sets the file that the passes are compared with. `ADK_EVAL=baseline` writes it.
    pub fn baseline(mut self, path: impl Into<PathBuf>) -> Self {
        self.baseline = Some(path.into());
        self
    }

    /// Binds a metric of the config to a function over a run. Its threshold is in `criteria`.
    pub fn metric(
        mut self,
        name: impl Into<String>,
        function: impl Fn(&MetricRun<'_>) -> f64 + Send + Sync + 'static,
    ) -> Self {
        self.metrics.insert(name.into(), Box::new(function));
        self
    }

    /// Sets the folder of `junit.xml` and of the page; `target/adk-eval` by default.
    pub fn reports(mut self, folder: impl Into<PathBuf>) -> Self {
        self.reports = folder.into();
        self
    }

    /// Sets the folder in which `.adk/eval_history` has the result files; the folder of
    /// `Cargo.toml` by default.
    pub fn history(mut self, folder: impl Into<PathBuf>) -> Self {
        self.history = folder.into();
        self
    }

    /// Runs all cases one after the other, and writes the reports.
    ///
    /// The text of the user becomes the single required input of the workflow.
    /// `session_input.state` gives other inputs by name. All inputs are checked by their types
    /// before any call. Each turn of a case is a run of one session.
    ///
    /// # Errors
    ///
    /// A case failed or the set regressed: the error has the table. A file or a setting is wrong, a
    /// case has no conversation, an input does not fit, or a tool may act: no case has run.
    /// [`EvalFailure`] distinguishes them.
    pub async fn run<P, R, W>(self, runner: &Runner<P, R>, workflow: W) -> Result<EvalReport>
    where
        W: Workflow + Needs<R> + 'static,
    {
        refuse_effects(workflow.as_agent().meta())?;
        let name = workflow.as_agent().meta().name.to_owned();
        let runner = runner.with_workflow(workflow).by_name();
        let known = runner.workflows().find(|known| known.name() == name);
        let known =
            known.ok_or_else(|| Error::new(ErrorKind::Config, "the workflow has no name"))?;
        self.run_known(&runner, &known).await
    }

    async fn run_known(
        self,
        runner: &Runner<NoProvider, NoResources>,
        workflow: &KnownWorkflow,
    ) -> Result<EvalReport> {
        let set = EvalSet::read(&self.set)?;
        let config = self.read_config()?;
        let bound: Vec<_> = self.metrics.keys().map(String::as_str).collect();
        let plans = metric_plans(&config, &bound)?;
        self.refuse_unused(&config)?;
        if self.runs == 0 {
            return Err(refused("`runs` is 0", "set 1 or more"));
        }
        for case in &set.eval_cases {
            for turn in conversation(case)? {
                input(workflow, case, turn)?;
            }
        }
        let mut cases = Vec::new();
        for case in &set.eval_cases {
            let mut runs = Vec::new();
            for _ in 0..self.runs {
                runs.push(
                    self.run_case(runner, workflow, &set.eval_set_id, case, &plans)
                        .await?,
                );
            }
            cases.push(CaseReport {
                eval_id: case.eval_id.clone(),
                runs,
            });
        }
        let mut report = EvalReport {
            eval_set_id: set.eval_set_id,
            cases,
            comparison: None,
            time: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0.0, |time| time.as_secs_f64()),
        };
        self.compare(&mut report)?;
        let earlier = EvalSetResult::history(&self.history, &report.eval_set_id)?;
        report.write(&self.reports, &history_points(&earlier))?;
        report.to_result(runner.app_name()).save(&self.history)?;
        if report.is_pass() {
            Ok(report)
        } else {
            Err(Error::new(
                ErrorKind::Agent,
                format!("the eval failed\n{}", report.to_string().trim_end()),
            )
            .with_help(format!("see the page in `{}`", self.reports.display()))
            .with_source(EvalFailure::Failed))
        }
    }

    fn read_config(&self) -> Result<EvalConfig> {
        if let Some(path) = &self.config {
            return EvalConfig::read(path);
        }
        let beside = self
            .set
            .parent()
            .unwrap_or(Path::new(""))
            .join("test_config.json");
        if beside.exists() {
            EvalConfig::read(beside)
        } else {
            Ok(EvalConfig::default())
        }
    }

    /// Refuses a function whose metric has no threshold.
    fn refuse_unused(&self, config: &EvalConfig) -> Result<()> {
        let is_used = |name: &&String| config.criteria.iter().any(|(metric, _)| metric == *name);
        match self.metrics.keys().find(|name| !is_used(name)) {
            None => Ok(()),
            Some(name) => Err(refused(
                format!("the metric `{name}` has a function, but no threshold"),
                format!("add `\"{name}\": 1.0` to `criteria`"),
            )),
        }
    }

    /// Writes the baseline if it is asked for, and compares the report with it.
    fn compare(&self, report: &mut EvalReport) -> Result<()> {
        let Some(path) = &self.baseline else {
            return Ok(());
        };
        let now = report.to_baseline();
        if std::env::var(MODE).is_ok_and(|mode| mode == "baseline") {
            now.write(path)?;
        }
        report.comparison = Some(Baseline::read(path)?.compare(&now));
        Ok(())
    }

    async fn run_case(
        &self,
        runner: &Runner<NoProvider, NoResources>,
        workflow: &KnownWorkflow,
        set: &str,
        case: &EvalCase,
        plans: &[MetricPlan],
    ) -> Result<CaseRun> {
        let user = case
            .session_input
            .as_ref()
            .map(|input| input.user_id.as_str());
        let user = user.filter(|user| !user.is_empty()).unwrap_or(USER);
        let session = runner.new_session(user);
        let (mut turns, mut outcomes, mut error) = (Vec::new(), Vec::new(), None);
        let began = Instant::now();
        for turn in conversation(case)? {
            let began = Instant::now();
            let request = session.run_by_name(workflow.name(), input(workflow, case, turn)?)?;
            match request.message(turn.user_content.to_content()).await {
                Ok(outcome) => {
                    turns.push(invocation(
                        &turn.user_content,
                        outcome.run_id,
                        &own_events(&outcome),
                        &outcome.output,
                        began.elapsed().as_secs_f64(),
                    ));
                    outcomes.push(outcome);
                }
                Err(failed) => {
                    error = Some(failed.to_string());
                    break;
                }
            }
        }
        let happened = CaseTurns {
            session_id: session.key().id.to_string(),
            user_id: user.to_owned(),
            error,
            seconds: began.elapsed().as_secs_f64(),
            turns: turns.clone(),
        };
        let run = MetricRun {
            case,
            turns: &turns,
            outcomes: &outcomes,
        };
        Ok(score_run(set, case, plans, happened, |plan| {
            self.own_scores(plan, &run)
        }))
    }

    /// Computes a metric of the program. Its score counts for the case and for each turn.
    fn own_scores(&self, plan: &MetricPlan, run: &MetricRun<'_>) -> Option<MetricScores> {
        let function = self.metrics.get(&plan.metric.metric_name)?;
        let score = function(run);
        if !score.is_finite() {
            return Some(MetricScores::not_evaluated(format!(
                "the function returned {score}"
            )));
        }
        let scores = vec![score; run.turns.len().max(1)];
        Some(MetricScores::from_turns(
            &scores,
            plan.metric.threshold.unwrap_or_default(),
        ))
    }
}

impl fmt::Debug for Eval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Eval")
            .field("set", &self.set)
            .field("runs", &self.runs)
            .finish_non_exhaustive()
    }
}

/// Returns the events of the run of an outcome.
fn own_events(outcome: &Outcome<Value>) -> Vec<Arc<Event>> {
    let events = outcome.session().events();
    events
        .filter(|event| event.invocation_id == outcome.run_id)
        .cloned()
        .collect()
}

fn conversation(case: &EvalCase) -> Result<&[Invocation]> {
    case.conversation.as_deref().ok_or_else(|| {
        refused(
            format!(
                "case `{}` has a `conversation_scenario`, which needs a user simulator",
                case.eval_id
            ),
            "write the turns as `conversation`; this version simulates no users",
        )
    })
}

/// Returns the input of a turn: the state of the session by name, then the text of the user.
fn input(workflow: &KnownWorkflow, case: &EvalCase, turn: &Invocation) -> Result<Value> {
    let form = workflow.form();
    let is_input = |name: &str| form.inputs().iter().any(|input| *input.key == *name);
    let state = case.session_input.as_ref().map(|input| &input.state);
    let state = state
        .into_iter()
        .flatten()
        .filter(|(name, _)| is_input(name));
    let mut fields: Map<_, _> = state
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let is_open = |name: &str| !fields.contains_key(name);
    let mut open: Vec<_> = form
        .inputs()
        .iter()
        .filter(|input| is_open(&input.key))
        .collect();
    if open.iter().any(|input| input.is_required) {
        open.retain(|input| input.is_required);
    }
    if let [one] = open[..] {
        fields.insert(one.key.to_string(), Value::String(turn.user_content.text()));
    }
    let input = match form.inputs() {
        [] => Value::Null,
        _ => Value::Object(fields),
    };
    let faults = workflow.check(&input);
    if faults.is_empty() {
        return Ok(input);
    }
    let faults: Vec<_> = faults
        .iter()
        .map(|fault| format!("`{}` {}", fault.field, fault.message))
        .collect();
    Err(refused(
        format!(
            "case `{}` does not fit the inputs: {}",
            case.eval_id,
            faults.join("; ")
        ),
        "give other inputs than the text of the user by name in `session_input.state`",
    ))
}
