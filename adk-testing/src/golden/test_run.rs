//! [`TestRun`]: one execution of a golden test, from its files to its verdict.

use super::answers::{AnswerResult, FORMAT, Head, Recording};
use super::compare::{AnswerReview, Comparison};
use super::document::{Document, ProgramFacts, RunResult, counted};
use super::engine::GoldenEngine;
use super::files::GoldenFiles;
use super::models::GoldenModels;
use super::order::CommitOrder;
use super::place::CallPlace;
use super::play::PlayedRun;
use super::secrets;
use super::tape::{AnswerSource, Tape, TapeState};
use super::{Compare, RunMode, Settings, Tools};
use adk_core::engine::{CallKind, RunRecord};
use adk_core::llm::FRAME;
use adk_core::model::Usage;
use adk_core::spec::Topology;
use adk_core::{AgentMeta, Error, ErrorKind, Event, Result, RunConfig};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// One execution of a golden test.
pub(super) struct TestRun<'a> {
    settings: Settings,
    files: GoldenFiles,
    mode: RunMode,
    in_ci: bool,
    recorded: Option<Recording>,
    golden: Option<String>,
    program: ProgramFacts<'a>,
    shape: String,
    engine: GoldenEngine,
    /// The tapes of the runs that are still to come.
    tapes: Vec<Arc<Tape>>,
    /// The input of the first run, with its secrets.
    begun: Value,
    verdict: Result<()>,
}

/// The result of a run as its files.
struct Made {
    recording: Recording,
    document: Document,
}

/// Returns the files of a test.
fn files_of(settings: &Settings) -> GoldenFiles {
    let folder = settings.folder.clone().unwrap_or_else(|| {
        // Cargo sets the variable for the tests that it runs.
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from)
    });
    GoldenFiles::new(&folder, &settings.name)
}

/// Returns the input in the head of a recording, with the secrets of the test.
///
/// # Errors
/// When the recording is missing or broken.
pub(super) fn recorded_input(settings: &Settings) -> Result<Value> {
    let files = files_of(settings);
    let (answers, _) = files.read()?;
    let recording =
        read_recording(&files.name(), answers)?.ok_or_else(|| missing(&files.name()))?;
    let mut input = Value::Object(recording.head.input);
    secrets::fill(&mut input, &settings.secrets);
    Ok(input)
}

fn read_recording(name: &str, text: Option<String>) -> Result<Option<Recording>> {
    text.map(|text| Recording::read(&text))
        .transpose()
        .map_err(|why| {
            let fact = format!("the recording of golden `{name}` is broken: {why}");
            failed(&fact, "restore the file from git, or record the run again")
        })
}

fn missing(name: &str) -> Error {
    failed(
        &format!("golden `{name}` has no recording"),
        &format!("`ADK_GOLDEN=record cargo test {name}` asks the models and writes it"),
    )
}

fn failed(fact: &str, help: &str) -> Error {
    Error::new(ErrorKind::Diverged, fact).with_help(help)
}

impl<'a> TestRun<'a> {
    /// Reads the files of a test.
    ///
    /// # Errors
    /// When they are missing or broken, or belong to another workflow or shape.
    pub(super) fn open(settings: Settings, meta: &'a AgentMeta<'a>) -> Result<Self> {
        let mode = match settings.mode {
            Some(mode) => mode,
            None => mode_of(std::env::var("ADK_GOLDEN").ok().as_deref())?,
        };
        let in_ci = settings
            .in_ci
            .unwrap_or_else(|| std::env::var_os("CI").is_some());
        let files = files_of(&settings);
        let (answers, golden) = files.read()?;
        let name = files.name();
        let recorded = match mode {
            RunMode::Record => None,
            _ => read_recording(&name, answers)?,
        };
        let mode = match (mode, &recorded) {
            (RunMode::Check, None) => return Err(missing(&name)),
            (RunMode::Changed, None) => RunMode::Record,
            _ => mode,
        };
        if mode != RunMode::Check && in_ci {
            return Err(failed(
                &format!("golden `{name}` is not recorded, because `CI` is set"),
                "record it on your machine and commit its files",
            ));
        }
        let program = ProgramFacts::new(meta);
        let shape = format!("{:016x}", Topology::of(meta).hash());
        if let (RunMode::Check, Some(recorded)) = (mode, &recorded) {
            check_shape(&name, recorded, &program, &shape)?;
        }
        let is_changed = mode == RunMode::Changed;
        let mut modes = match mode {
            RunMode::Changed => vec![RunMode::Check, RunMode::Changed],
            mode => vec![mode],
        };
        modes.reverse();
        let tape = |mode| {
            // A plan calls nothing.
            let is_plan = mode == RunMode::Check && is_changed;
            let tools = if is_plan {
                Tools::Recorded
            } else {
                settings.tools
            };
            let mut tape = Tape::new(mode, tools, recorded.clone());
            tape.redact.clone_from(&settings.redact);
            tape.secrets.clone_from(&settings.secrets);
            tape.people.clone_from(&settings.people);
            tape.harmless = program.harmless_tools();
            Arc::new(tape)
        };
        let tapes: Vec<_> = modes.into_iter().map(tape).collect();
        let engine = GoldenEngine::new(tapes.last().cloned().unwrap_or_else(|| tape(mode)));
        Ok(Self {
            settings,
            files,
            mode,
            in_ci,
            recorded,
            golden,
            program,
            shape,
            engine,
            tapes,
            begun: Value::Null,
            verdict: Ok(()),
        })
    }

    pub(super) fn engine(&self) -> GoldenEngine {
        self.engine.clone()
    }

    pub(super) fn models(&self) -> GoldenModels {
        let known = self
            .recorded
            .as_ref()
            .map(|all| &all.head.schema_beside_tools[..]);
        GoldenModels::new(
            self.mode,
            &self.settings.provider,
            known.unwrap_or_default(),
        )
    }

    /// Returns the tape of the next run.
    pub(super) fn next_tape(&mut self) -> Option<Arc<Tape>> {
        if self.verdict.is_err() {
            return None;
        }
        let tape = self.tapes.pop()?;
        self.engine.set_tape(tape.clone());
        Some(tape)
    }

    /// Returns the input of the first run, for the second.
    pub(super) fn begun_input(&self) -> Value {
        self.begun.clone()
    }

    /// Returns the secrets that are keys of the session.
    pub(super) fn state(&self) -> Vec<(String, Value)> {
        let inputs = input_names(self.program.root());
        self.settings
            .secrets
            .iter()
            .filter(|(key, _)| !inputs.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }

    /// Judges a run that has ended.
    ///
    /// # Errors
    /// When the run waits for a person, or its files cannot be written.
    pub(super) fn end(&mut self, tape: &Tape, played: PlayedRun) -> Result<()> {
        let name = self.files.name();
        if let Some(waiting) = played.waiting.first() {
            let path = waiting.path.name();
            let fact = format!("golden `{name}` waits for an answer to `{path}`");
            return Err(failed(
                &fact,
                &format!("give it: `.answer(\"{path}\", VALUE)`"),
            ));
        }
        let state = tape.state();
        if let Some(begin) = &state.begin {
            self.begun = Value::Object(inputs_of(begin, self.program.root()));
        }
        let made = self.made(&state, &played);
        let is_plan = self.mode == RunMode::Changed && tape.mode == RunMode::Check;
        if is_plan {
            self.print_plan(&state);
            return Ok(());
        }
        self.verdict = match tape.mode {
            RunMode::Check => self.judge(&state, &made),
            RunMode::Record | RunMode::Changed => match &state.failure {
                Some(failure) => Err(failed(
                    &format!("golden `{name}`: {}", failure.fact()),
                    "`.tools(Tools::Run)` lets it run; a label such as `#[tool(untrusted)]` says \
                     that it does not act; `ADK_GOLDEN=record` makes all calls again",
                )),
                None => self.write(&made),
            },
        };
        Ok(())
    }

    /// Returns the verdict.
    ///
    /// # Errors
    /// The differences.
    pub(super) fn finish(self) -> Result<()> {
        self.verdict
    }

    /// Describes a run as the two files.
    fn made(&self, state: &TapeState, played: &PlayedRun) -> Made {
        let root = self.program.root();
        let mut input = state
            .begin
            .as_ref()
            .map(|begin| inputs_of(begin, root))
            .unwrap_or_default();
        let outputs = |session: &adk_core::session::Session| {
            let value = |key: &str| session.get(key).map(|value| Value::clone(&value));
            let writes = root.writes.iter();
            writes
                .filter_map(|key| Some((key.name.to_owned(), value(key.name)?)))
                .collect()
        };
        let result = RunResult {
            events: &played.events,
            loops: &played.loops,
            usage: played.usage - cancelled_usage(state, &played.events),
            outputs: played.session.as_deref().map(outputs).unwrap_or_default(),
            error: played.error.as_ref().map(ToString::to_string),
        };
        for value in input.values_mut() {
            secrets::hide(value);
        }
        if let Some(redact) = &self.settings.redact {
            let texts = input.values_mut();
            texts.for_each(|value| secrets::map_texts(value, &**redact));
        }
        let mut document = Document::of_run(&self.program, &input, state, &result);
        if let Some(redact) = &self.settings.redact {
            for section in &mut document.sections {
                section.title = redact(&section.title);
                section
                    .lines
                    .iter_mut()
                    .for_each(|line| *line = redact(line));
            }
        }
        let order = CommitOrder::of_run(&state.commits, &self.program.races, &state.cancelled);
        let recorded = self
            .recorded
            .as_ref()
            .filter(|_| self.mode == RunMode::Check);
        let head = Head {
            adk: FORMAT,
            frame: FRAME,
            workflow: self.program.name().to_owned(),
            shape: self.shape.clone(),
            input,
            config: state
                .begin
                .as_ref()
                .map(|begin| config_of(begin))
                .unwrap_or_default(),
            order: recorded.map_or(order, |recorded| recorded.head.order.clone()),
            schema_beside_tools: self.schema_models(state),
        };
        // A replay answers only the calls that it makes; the record of the others stays.
        let mut answers = BTreeMap::new();
        if let Some(recorded) = recorded {
            answers.clone_from(&recorded.answers);
        }
        answers.extend(state.given.clone());
        Made {
            recording: Recording { head, answers },
            document,
        }
    }

    /// Returns the models of a run that follow a schema beside tools.
    fn schema_models(&self, state: &TapeState) -> Vec<String> {
        if self.mode == RunMode::Check {
            let recorded = self.recorded.as_ref();
            return recorded
                .map(|recorded| recorded.head.schema_beside_tools.clone())
                .unwrap_or_default();
        }
        let mut names: Vec<_> = state
            .calls
            .iter()
            .filter_map(|call| call.model.clone())
            .collect();
        names.sort();
        names.dedup();
        let provider = (self.settings.provider)();
        let follows = |name: &String| {
            let model = provider.model(name);
            model.is_ok_and(|model| model.answers_in_schema_beside_tools())
        };
        names.into_iter().filter(follows).collect()
    }

    fn review(&self, state: &TapeState) -> AnswerReview {
        let mut review = AnswerReview::default();
        let Some(recorded) = &self.recorded else {
            return review;
        };
        // Digests of another frame say nothing.
        let is_comparable = recorded.head.frame == FRAME;
        let is_model = |kind| matches!(kind, CallKind::Model | CallKind::Summary);
        for call in &state.calls {
            let is_stale =
                call.is_stale() && is_comparable && recorded.answers.contains_key(&call.place);
            if is_model(call.kind) {
                review.model_calls += 1;
                review.asks_again += usize::from(is_stale);
                if !is_stale && call.source == AnswerSource::Recorded {
                    review.right.push(call.place.clone());
                }
            }
            if is_stale {
                review.stale.push(call.place.clone());
            }
        }
        let is_called = |place: &CallPlace| state.calls.iter().any(|call| call.place == *place);
        let in_race = |place: &CallPlace| {
            let mut blocks = place.path().split('/').map(|block| block.split('#').next());
            blocks.any(|block| block.is_some_and(|block| self.program.races.contains(block)))
        };
        let is_limit = |place: &CallPlace| recorded.answers[place].is_limit();
        let unasked = recorded.answers.keys();
        let unasked =
            unasked.filter(|place| !is_called(place) && !in_race(place) && !is_limit(place));
        review.unasked = unasked.cloned().collect();
        review.stale.sort();
        review.right.sort();
        review
    }

    /// Compares a replay with the golden file.
    fn judge(&self, state: &TapeState, made: &Made) -> Result<()> {
        let name = self.files.name();
        let recorded = match &self.recorded {
            Some(recorded) => recorded,
            None => return Err(missing(&name)),
        };
        self.check_begin(recorded, made)?;
        let review = self.review(state);
        let then = Document::read(self.golden.as_deref().unwrap_or_default());
        let comparison = Comparison::new(&then, &made.document, self.settings.compare);
        if let Some(failure) = &state.failure {
            let report =
                comparison.report(&name, &review, |agent| self.program.prompt_source(agent));
            let details = report.split_once('\n').map_or("", |(_, rest)| rest);
            let message = format!(
                "golden `{name}`: {}\n{details}\nhelp: `ADK_GOLDEN=changed cargo test {name}` \
                 asks for it and keeps the answers that are still right",
                failure.fact()
            );
            return Err(Error::new(ErrorKind::Diverged, message));
        }
        let has_stale = !review.stale.is_empty() && self.settings.compare == Compare::All;
        let frame = recorded.head.frame != FRAME;
        if comparison.is_empty() && !has_stale && !frame && review.unasked.is_empty() {
            return if self.in_ci {
                Ok(())
            } else {
                self.files.reject()
            };
        }
        if frame && comparison.is_empty() {
            self.write_new(made, recorded)?;
            let fact = format!(
                "golden `{name}` has changed: the text that the library adds to requests has \
                 version {FRAME}, and the record has version {}",
                recorded.head.frame
            );
            let help = format!("`cargo adk golden accept {name}` keeps the answers");
            return Err(failed(&fact, &help));
        }
        let mut made_answers = made.recording.clone();
        made_answers
            .answers
            .retain(|place, _| !review.unasked.contains(place));
        self.write_new(
            &Made {
                recording: made_answers,
                document: made.document.clone(),
            },
            recorded,
        )?;
        let report = comparison.report(&name, &review, |agent| self.program.prompt_source(agent));
        let mut help = format!("help: `cargo adk golden accept {name}` keeps the answers");
        if review.asks_again > 0 {
            help.push_str(&format!(
                "; `ADK_GOLDEN=changed cargo test {name}` asks {} of {} again",
                review.asks_again,
                counted(review.model_calls as u64, "call")
            ));
        }
        Err(Error::new(ErrorKind::Diverged, format!("{report}\n{help}")))
    }

    /// Checks that the run has begun as the recorded one.
    fn check_begin(&self, recorded: &Recording, made: &Made) -> Result<()> {
        let (then, now) = (&recorded.head, &made.recording.head);
        let differs = |what: &str, then: &Map<String, Value>, now: &Map<String, Value>| {
            let json = |value: &Map<String, Value>| Value::Object(value.clone()).to_string();
            let fact = format!(
                "golden `{}` was recorded with another {what}\n- {}\n+ {}\n",
                self.files.name(),
                json(then),
                json(now)
            );
            let help = format!(
                "give the recorded {what}, or record the run again: `ADK_GOLDEN=record cargo test \
                 {}`",
                self.files.name()
            );
            failed(&fact, &help)
        };
        if then.input != now.input {
            return Err(differs("input", &then.input, &now.input));
        }
        if then.config != now.config {
            return Err(differs("configuration", &then.config, &now.config));
        }
        Ok(())
    }

    /// Writes new versions for a person, except where `CI` is set.
    fn write_new(&self, made: &Made, recorded: &Recording) -> Result<()> {
        if self.in_ci {
            return Ok(());
        }
        self.refuse_keys(made)?;
        let (answers, golden) = (made.recording.to_string(), made.document.to_string());
        let answers = (made.recording != *recorded).then_some(&*answers);
        let golden = (self.golden.as_deref() != Some(&*golden)).then_some(&*golden);
        self.files.write_new(answers, golden)
    }

    /// Writes the files of a recorded run.
    fn write(&self, made: &Made) -> Result<()> {
        self.refuse_keys(made)?;
        self.files
            .write(&made.recording.to_string(), &made.document.to_string())
    }

    /// Refuses files with a text that looks like a key. The error has the place, not the text.
    fn refuse_keys(&self, made: &Made) -> Result<()> {
        let refuse = |place: &str, owner: &str| {
            let fact = format!(
                "golden `{}` is not written: `{place}` holds a text like a key of {owner}",
                self.files.name()
            );
            let help = "make the key a `Secret<T>`, or change the text with `.redact(...)`; revoke \
                a real key that a model has seen";
            Err(failed(&fact, help))
        };
        let head = serde_json::to_string(&made.recording.head).unwrap_or_default();
        if let Some(owner) = secrets::key_like(&head) {
            return refuse("input", owner);
        }
        for (place, answer) in &made.recording.answers {
            let text = serde_json::to_string(answer).unwrap_or_default();
            if let Some(owner) = secrets::key_like(&text) {
                return refuse(place.as_str(), owner);
            }
        }
        for section in &made.document.sections {
            let lines = section.lines.iter().chain([&section.title]);
            if let Some(owner) = lines.filter_map(|line| secrets::key_like(line)).next() {
                return refuse(section.id(), owner);
            }
        }
        Ok(())
    }

    /// Prints what a run that asks for changes will ask.
    fn print_plan(&self, state: &TapeState) {
        let review = self.review(state);
        let name = self.files.name();
        let accepted = |place: &&CallPlace| {
            let answer = self
                .recorded
                .as_ref()
                .and_then(|all| all.answers.get(*place));
            answer.is_some_and(|answer| answer.given_to.is_some())
        };
        let mut asked = review.stale.clone();
        asked.extend(review.right.iter().filter(accepted).cloned());
        let places: Vec<_> = asked.iter().map(CallPlace::short).collect();
        let tokens: u64 = asked
            .iter()
            .filter_map(|place| self.recorded.as_ref()?.answers.get(place))
            .filter_map(|answer| match &answer.result {
                AnswerResult::Gave(value) => value.get("usage"),
                AnswerResult::Failed(_) => None,
            })
            .flat_map(|usage| ["promptTokenCount", "candidatesTokenCount"].map(|key| &usage[key]))
            .filter_map(Value::as_u64)
            .sum();
        eprintln!(
            "golden `{name}` asks {} again, at least: {}; the recorded answers used {tokens} \
             tokens",
            counted(places.len() as u64, "call"),
            if places.is_empty() {
                "none".to_owned()
            } else {
                places.join(", ")
            }
        );
    }
}

/// Returns the usage of calls in branches that the run ended before they used the answer.
fn cancelled_usage(state: &TapeState, events: &[Arc<Event>]) -> Usage {
    let mut usage = Usage::default();
    let is_model = |kind| matches!(kind, CallKind::Model | CallKind::Summary);
    let cancelled = state
        .calls
        .iter()
        .filter(|call| is_model(call.kind) && call.is_cancelled(events));
    for answer in cancelled.filter_map(|call| state.given.get(&call.place)) {
        if let AnswerResult::Gave(value) = &answer.result {
            let reply = value.get("usage").cloned().unwrap_or_default();
            usage += serde_json::from_value(reply).unwrap_or_default();
            usage.calls += 1;
        }
    }
    usage
}

/// Returns what the variable `ADK_GOLDEN` asks for.
fn mode_of(variable: Option<&str>) -> Result<RunMode> {
    match variable.unwrap_or_default() {
        "" | "check" => Ok(RunMode::Check),
        "record" => Ok(RunMode::Record),
        "changed" => Ok(RunMode::Changed),
        other => Err(failed(
            &format!("`ADK_GOLDEN` is `{other}`"),
            "set it to `record` or `changed`, or remove it",
        )),
    }
}

/// Refuses a recording of another workflow or shape, before any step.
fn check_shape(
    name: &str,
    recorded: &Recording,
    program: &ProgramFacts<'_>,
    shape: &str,
) -> Result<()> {
    let head = &recorded.head;
    let help = format!("record the run again: `ADK_GOLDEN=record cargo test {name}`");
    if head.workflow != program.name() {
        let fact = format!(
            "golden `{name}` is a run of `{}`, not of `{}`",
            head.workflow,
            program.name()
        );
        return Err(failed(&fact, &help));
    }
    if head.shape == shape {
        return Ok(());
    }
    let now = program.agent_names();
    let mut then: Vec<_> = recorded.answers.keys().map(CallPlace::agent_path).collect();
    then.sort();
    then.dedup();
    let gone = then.iter().filter(|path| {
        let agent = path.rsplit('/').next().unwrap_or_default();
        !agent.is_empty() && !now.contains(agent)
    });
    let gone: Vec<_> = gone.map(|path| format!("\n- {path}")).collect();
    let known = |agent: &&&str| {
        then.iter()
            .any(|path| path.rsplit('/').next() == Some(**agent))
    };
    let new = now
        .iter()
        .filter(|agent| !known(agent) && **agent != program.name());
    let new: Vec<_> = new.map(|agent| format!("\n+ {agent}")).collect();
    let fact = format!(
        "golden `{name}` was recorded with another shape of `{}`; steps without an answer in the \
         record have `+`, answers without a step have `-`{}{}\n",
        program.name(),
        gone.concat(),
        new.concat()
    );
    let changed = format!(
        "`ADK_GOLDEN=changed cargo test {name}` asks the new steps and keeps the answers that are \
         still right"
    );
    Err(failed(&fact, &changed))
}

/// Returns the names of the inputs of a workflow.
fn input_names<'a>(meta: &'a AgentMeta<'a>) -> Vec<&'a str> {
    let is_state = |name: &str| meta.states.iter().any(|state| state.name == name);
    let inputs = meta.reads.iter().map(|key| key.name);
    inputs.filter(|name| !is_state(name)).collect()
}

/// Returns the inputs that a run began with; the message of a run without inputs.
fn inputs_of(begin: &RunRecord, meta: &AgentMeta<'_>) -> Map<String, Value> {
    let names = input_names(meta);
    let mut inputs: Map<String, Value> = names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), Value::clone(begin.delta.get(name)?))))
        .collect();
    let message = begin.message.text();
    if inputs.is_empty() && !message.is_empty() {
        inputs.insert("message".to_owned(), message.into());
    }
    inputs
}

/// Returns the settings of a run that differ from the defaults.
fn config_of(begin: &RunRecord) -> Map<String, Value> {
    let defaults = serde_json::to_value(RunConfig::default()).unwrap_or_default();
    let settings = begin.config.as_object().into_iter().flatten();
    settings
        .filter(|(key, value)| defaults.get(key.as_str()) != Some(value))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}
