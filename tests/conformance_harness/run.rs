//! Runs a case: builds its tree, replays its turns in virtual time, and measures the values that an
//! expectation contains.

use super::format::{Case, RunDef, StreamingMode};
use super::normal::{self, Ids};
use super::plugins;
use super::recorder::Recorder;
use super::tree::{self, Built, Refused};
use super::views::{ErrorView, EventView, RequestView, RunView};
use adk::engine::MemoryJournal;
use adk::session::SessionKey;
use adk::{
    ArtifactStore, Content, DynAgent, Error, ErrorKind, FunctionResponse, LiveQueue,
    MemoryArtifacts, NoArtifacts, Part, Role, RunConfig, RunId, Runner, StateDelta,
};
use serde_json::{Map, Value};
use std::fmt::Display;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const APP: &str = "conformance";
const USER: &str = "user_1";
const SESSION: &str = "s1";

/// The virtual time after which a run counts as stuck: the paused clock jumps there when nothing
/// else can happen.
const STUCK: Duration = Duration::from_secs(24 * 60 * 60);

/// The measured result of a case.
#[derive(Debug, Default)]
pub struct Measured {
    /// The builder refused the tree.
    pub refused: Option<Refused>,
    pub runs: Vec<RunView>,
    /// The events of session `s1` at the end.
    pub persisted: Vec<EventView>,
    pub trace: Vec<String>,
    pub requests: Vec<RequestView>,
}

impl Measured {
    /// Whether the builder, or a live run before its first event, refused the tree with this check.
    pub fn is_refused_by(&self, check: &str) -> bool {
        let by_run = |run: &RunView| {
            let error = run
                .error
                .as_ref()
                .and_then(|error| error.message.as_deref());
            run.events.is_empty()
                && error.is_some_and(|message| tree::check_of(message) == Some(check))
        };
        self.refused
            .as_ref()
            .is_some_and(|refused| refused.has(check))
            || self.runs.first().is_some_and(by_run)
    }

    /// Describes the result in a few words.
    pub fn fate(&self) -> String {
        let error = self
            .runs
            .iter()
            .find_map(|run| run.error.as_ref()?.message.clone());
        match (&self.refused, error) {
            (Some(refused), _) => format!("was refused: {refused}"),
            (None, Some(error)) => format!("failed: {error}"),
            (None, None) => "was built and run".to_owned(),
        }
    }
}

/// Runs a case in its own runtime with a paused clock.
///
/// # Errors
/// The case requests something impossible.
pub fn measure(case: &Case) -> Result<Measured, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.map_err(text)?.block_on(run(case))
}

fn text(error: impl Display) -> String {
    error.to_string()
}

async fn run(case: &Case) -> Result<Measured, String> {
    let recorder = Arc::new(Recorder::default());
    let tree = match tree::build(&case.root, &recorder)? {
        Built::Tree(tree) => tree,
        Built::Refused(refused) => {
            return Ok(Measured {
                refused: Some(refused),
                ..Measured::default()
            });
        }
    };
    let stage = Stage::new(case, &recorder).await?;
    let mut measured = Measured::default();
    let mut ids = Ids::default();
    for turn in &case.runs {
        measured.runs.push(stage.turn(turn, &tree, &mut ids).await?);
    }
    let session = stage
        .runner
        .session(USER, SESSION)
        .open()
        .await
        .map_err(text)?;
    measured.persisted = session.events().map(|event| ids.event(event)).collect();
    (measured.trace, measured.requests) = recorder.take();
    Ok(measured)
}

/// The environment of a running case.
struct Stage {
    runner: Runner,
    /// The latest run.
    latest: Mutex<Option<RunId>>,
    /// The names of all agents.
    names: Vec<String>,
}

impl Stage {
    async fn new(case: &Case, recorder: &Arc<Recorder>) -> Result<Self, String> {
        let mut config = RunConfig::adk();
        if let Some(calls) = case.run_config.max_llm_calls {
            config = config.max_llm_calls(u32::try_from(calls).unwrap_or(0));
        }
        config = config.streaming(case.run_config.streaming_mode == Some(StreamingMode::Sse));
        let artifacts: Arc<dyn ArtifactStore> = if case.no_artifact_service {
            Arc::new(NoArtifacts)
        } else {
            Arc::new(MemoryArtifacts::new())
        };
        config = config.resumable(case.resumable);
        let mut builder = Runner::builder()
            .app_name(APP)
            .config(config)
            .artifact_store(artifacts.clone());
        if case.resumable {
            builder = builder.engine(MemoryJournal::new());
        }
        for plugin in &case.plugins {
            builder = builder.plugin(plugins::Scripted::new(plugin, recorder.clone()));
        }
        let runner = builder.build().map_err(text)?;
        let state: StateDelta = case
            .state
            .iter()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        runner
            .session(USER, SESSION)
            .create(state)
            .await
            .map_err(text)?;
        for (name, content) in &case.artifacts {
            let key = SessionKey::new(APP, USER, SESSION);
            artifacts
                .save(&key, name, Part::text(content))
                .await
                .map_err(text)?;
        }
        Ok(Self {
            runner,
            latest: Mutex::default(),
            names: case.root.names(),
        })
    }

    /// Answers a long-running call.
    async fn answer(&self, call: &str, response: &Map<String, Value>) -> Result<(), String> {
        let waiting = self.runner.waiting().await.map_err(text)?;
        let wait = waiting
            .iter()
            .find(|waiting| waiting.call_id.as_deref() == Some(call));
        let wait = wait.ok_or_else(|| format!("no run waits for the answer to call `{call}`"))?;
        self.runner.answer(&wait.id, response).await.map_err(text)
    }

    async fn turn(
        &self,
        turn: &RunDef,
        tree: &Arc<dyn DynAgent>,
        ids: &mut Ids,
    ) -> Result<RunView, String> {
        let session = self
            .runner
            .session(USER, turn.session.as_deref().unwrap_or(SESSION));
        let mut view = RunView::default();
        let latest = *self.latest.lock().map_err(text)?;
        let mut request = match turn.live {
            _ if turn.resume_previous_invocation => {
                let run = latest.ok_or("there is no run that could be resumed")?;
                if let Some(answer) = &turn.function_response {
                    self.answer(&ids.real(&answer.id), &answer.response).await?;
                }
                self.runner.resume(tree.clone(), run)
            }
            true => session.run_live(tree.clone(), content(turn, ids), &closed_queue()),
            false => session.run(tree.clone(), content(turn, ids)),
        };
        for (key, value) in &turn.state_delta {
            request = request.state(key.clone(), value);
        }
        let mut stream = request.stream();
        let mut first = true;
        let ended = loop {
            if turn.stop_after_events == Some(view.events.len()) {
                view.stopped_by_consumer = true;
                break Ok(());
            }
            let next = tokio::time::timeout(STUCK, stream.next()).await;
            match next.map_err(|_| "the run is stuck: nothing can happen any more".to_owned())? {
                None => break Ok(()),
                // A stream of this project begins with the user's message, a stream of the
                // reference with the reply.
                Some(Ok(event)) if first && event.author == "user" => {
                    *self.latest.lock().map_err(text)? = Some(event.invocation_id);
                }
                Some(Ok(event)) => view.events.push(ids.event(&event)),
                Some(Err(error)) => break Err(error),
            }
            first = false;
        };
        drop(stream);
        view.error = ended.err().map(|error| self.error_view(&error, &view));
        let session = session.open().await.map_err(text)?;
        view.state_after = normal::state(&session.state());
        view.persisted_count = session.len();
        Ok(view)
    }
}

impl Stage {
    /// Converts the error of a run with these events.
    fn error_view(&self, error: &Error, view: &RunView) -> ErrorView {
        let asked = |event: &EventView| event.actions.transfer_to_agent.clone();
        let target = view.events.iter().rev().find_map(asked);
        to_view(
            error,
            target.is_some_and(|target| self.names.contains(&target)),
        )
    }
}

/// Returns a closed queue: in a live run of a case, the user says nothing.
fn closed_queue() -> LiveQueue {
    let queue = LiveQueue::new();
    queue.close();
    queue
}

/// Returns the user's message of a turn.
fn content(turn: &RunDef, ids: &Ids) -> Content {
    match (&turn.message, &turn.function_response) {
        (_, Some(answer)) => {
            let (id, name, response) = (
                ids.real(&answer.id),
                answer.name.clone(),
                answer.response.clone(),
            );
            Content::new(
                Role::User,
                vec![Part::from(FunctionResponse { id, name, response })],
            )
        }
        (Some(text), None) => Content::user(text),
        (None, None) => Content::default(),
    }
}

/// Converts an error to the kinds of the cases.
fn to_view(error: &Error, is_known: bool) -> ErrorView {
    let kind = match error.kind() {
        ErrorKind::KeyMissing => "missing_state_key",
        ErrorKind::ArtifactMissing => "missing_artifact",
        ErrorKind::NoArtifactStore => "no_artifact_service",
        ErrorKind::LlmCallsExceeded => "llm_calls_exceeded",
        // One kind of this project is two kinds in the reference, depending on whether the tree has
        // an agent with the name.
        ErrorKind::Transfer if is_known => "transfer_not_allowed",
        ErrorKind::Transfer => "transfer_target_not_found",
        ErrorKind::OutputInvalid => "validation_error",
        ErrorKind::LiveLoop => "not_implemented",
        _ => "agent_error",
    };
    ErrorView {
        kind: kind.to_owned(),
        class: None,
        message: Some(error.message().to_owned()),
    }
}
