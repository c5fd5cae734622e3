//! What happens to a task, as it happens.

use super::Call;
use super::error::RpcRefusal;
use super::task::{artifact, bare, spoken, text_output};
use crate::follow::{Item, follow, stored};
use crate::refuse::Refusal;
use crate::runs::{End, Listener};
use adk_a2a::rpc::ErrorCode;
use adk_a2a::{StreamResponse, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent};
use adk_core::engine::{RunFilter, RunInfo, RunStatus};
use adk_core::spec::StepKind;
use adk_core::{Event, EventId, Path};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::{Map, Value, json};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

type Responses = BoxStream<'static, Result<StreamResponse, Refusal>>;

/// The events of a run as those of a task, until it has ended or waits.
pub(super) struct Updates {
    call: Call,
    run: RunInfo,
    last: Option<EventId>,
    items: BoxStream<'static, Result<Item, Refusal>>,
    ready: VecDeque<StreamResponse>,
    output: Option<TextOutput>,
    is_over: bool,
    /// How it ended, as far as this process knows it.
    pub(super) end: Option<Arc<End>>,
}

/// How the events of a run are heard.
pub(super) enum Heard {
    /// Those that are stored, and from now on by a listener, where there is one.
    Stored(Option<Listener>),
    /// All of them, since the run was begun, or was taken up after this event.
    All(Listener, Option<EventId>),
    /// None: whether the run has begun is not known.
    Nothing,
}

/// The output, when it is one text: its pieces are those of an artifact.
struct TextOutput {
    key: String,
    /// The steps that write it.
    writers: HashSet<String>,
    /// The turn that the pieces are of.
    turn: Option<Path>,
}

impl Updates {
    pub(super) fn new(call: &Call, run: RunInfo, after: Option<EventId>, heard: Heard) -> Self {
        let (app, runner) = (call.app.clone(), call.runner.clone());
        let (listener, is_new) = match heard {
            Heard::Stored(listener) => (listener, false),
            Heard::Nothing => (None, false),
            Heard::All(listener, _) => (Some(listener), true),
        };
        let items = follow(app, runner, run.clone(), after, listener, is_new).boxed();
        let output = text_output(call).map(|key| {
            let spec = call.workflow.spec();
            let steps = spec.steps.iter().filter(|step| match step.kind {
                StepKind::Agent { meta, .. } if step.renames.writes.is_empty() => {
                    meta.writes.iter().any(|written| written.name == key)
                }
                _ => step.renames.writes.contains(&&*key),
            });
            let writers = steps.map(|step| step.name.to_owned()).collect();
            TextOutput { key, writers, turn: None }
        });
        let (ready, is_over, end) = Default::default();
        Self { call: call.clone(), run, last: after, items, ready, output, is_over, end }
    }

    /// The next one; `None` when the task has ended or waits, or the server stops.
    pub(super) async fn next(&mut self) -> Option<Result<StreamResponse, Refusal>> {
        loop {
            if let Some(update) = self.ready.pop_front() {
                return Some(Ok(update));
            }
            if self.is_over {
                return None;
            }
            let item = match self.items.next().await {
                Some(item) => item,
                None => {
                    self.is_over = true;
                    return None;
                }
            };
            match item {
                Ok(Item::Event(event)) => self.event(&event),
                Ok(Item::End(end)) => {
                    if let Err(refusal) = self.ended(end).await {
                        self.is_over = true;
                        return Some(Err(refusal));
                    }
                }
                Err(refusal) => {
                    self.is_over = true;
                    return Some(Err(refusal));
                }
            }
        }
    }

    pub(super) fn into_stream(self) -> Responses {
        stream::unfold(self, |mut updates| async move { Some((updates.next().await?, updates)) }).boxed()
    }

    fn event(&mut self, event: &Event) {
        if event.partial {
            // One of what was read as a whole.
            let is_old = self.last.is_some_and(|last| event.id < last);
            if !is_old && let Some(piece) = self.piece(event) {
                self.ready.push_back(piece);
            }
            return;
        }
        self.last = Some(event.id);
        if let Some(message) = spoken(&self.run, event).filter(|_| &*event.author != "user") {
            let status = TaskStatus { state: TaskState::Working, message: Some(message), timestamp: None };
            self.ready.push_back(self.status(status));
        }
        let form = self.call.workflow.form();
        for output in form.outputs() {
            let Some(value) = event.actions.state_delta.get(&output.key) else { continue };
            let written = artifact(&output.key, &output.description, Value::clone(value));
            self.ready.push_back(self.artifact(written, false, true));
        }
    }

    /// A piece of a text that is still being written.
    fn piece(&mut self, event: &Event) -> Option<StreamResponse> {
        let text = event.text();
        if text.is_empty() {
            return None;
        }
        if let Some(output) =
            self.output.as_mut().filter(|output| output.writers.contains(&**event.path.name()))
        {
            let goes_on = output.turn.as_ref() == Some(&event.path);
            output.turn = Some(event.path.clone());
            let piece = artifact(&output.key, "", Value::String(text));
            return Some(self.artifact(piece, goes_on, false));
        }
        let mut message = spoken(&self.run, event)?;
        message.metadata.insert("partial".to_owned(), json!(true));
        let status = TaskStatus { state: TaskState::Working, message: Some(message), timestamp: None };
        Some(self.status(status))
    }

    async fn ended(&mut self, end: Option<Arc<End>>) -> Result<(), Refusal> {
        let now = self.call.runner.runs(&RunFilter::of_run(self.run.run_id)).await?.into_iter().next();
        self.run = now.unwrap_or_else(|| self.run.clone());
        self.is_over = true;
        let status = self.call.status(&self.run, end.as_deref()).await?;
        self.ready.push_back(self.status(status));
        self.end = end;
        Ok(())
    }

    fn status(&self, status: TaskStatus) -> StreamResponse {
        let (task_id, context_id) = (self.run.run_id.to_string(), self.run.session.id.clone());
        let metadata = Map::new();
        StreamResponse::StatusUpdate(Box::new(TaskStatusUpdateEvent {
            task_id,
            context_id,
            status,
            metadata,
        }))
    }

    fn artifact(&self, artifact: adk_a2a::Artifact, append: bool, last_chunk: bool) -> StreamResponse {
        let (task_id, context_id) = (self.run.run_id.to_string(), self.run.session.id.clone());
        let update = TaskArtifactUpdateEvent {
            task_id,
            context_id,
            artifact,
            append,
            last_chunk,
            metadata: Map::new(),
        };
        StreamResponse::ArtifactUpdate(Box::new(update))
    }

    /// Waits for the end or the next wait, and returns the task as it is then.
    pub(super) async fn settled(mut self, history: Option<u32>) -> Result<Task, Refusal> {
        while let Some(update) = self.next().await {
            match update {
                Err(refusal) if refusal.is_of_store() => return Ok(bare(&self.run, TaskState::Working)),
                update => drop(update?),
            }
        }
        self.call.task_begun(&self.run, self.end.as_deref(), history).await
    }
}

impl Call {
    /// The task as it is, or as it was when it was begun or taken up, and what happens to it from then on.
    pub(super) async fn watched(
        &self,
        run: RunInfo,
        heard: Heard,
        history: Option<u32>,
    ) -> Result<Responses, Refusal> {
        let mut events = stored(&self.runner, &run, None).await?;
        match &heard {
            Heard::Stored(_) | Heard::Nothing => {}
            Heard::All(_, None) => events.truncate(1),
            Heard::All(_, Some(after)) => events.retain(|event| event.id <= *after),
        }
        let last = events.last().map(|event| event.id);
        let mut task = self.task_of(&run, None, history, &events).await?;
        if matches!(heard, Heard::All(..)) && run.status != RunStatus::Queued {
            task.status = TaskStatus { state: TaskState::Working, message: None, ..task.status };
        }
        let first = stream::once(async move { Ok(StreamResponse::Task(Box::new(task))) });
        Ok(first.chain(Updates::new(self, run, last, heard).into_stream()).boxed())
    }

    pub(super) async fn subscribe(&self, id: &str) -> Result<Responses, RpcRefusal> {
        let listener = crate::routes::run_id(id).ok().and_then(|run| self.app.runs.listen(run));
        let run = self.run(id).await?;
        if !run.status.is_open() {
            let fact = format!("the task `{id}` has ended");
            let help = "`GetTask` has what came of it";
            return Err(RpcRefusal::new(ErrorCode::UnsupportedOperation, fact, help));
        }
        // One that waits, and has no answer yet.
        if run.status == RunStatus::Paused && !run.is_ready && listener.is_none() {
            let task = self.task(&run, None, None).await?;
            let first = async move { Ok(StreamResponse::Task(Box::new(task))) };
            return Ok(stream::once(first).boxed());
        }
        Ok(self.watched(run, Heard::Stored(listener), None).await?)
    }
}
