//! [`Updates`]: a stream of the updates of a task.

use super::RpcCall;
use super::error::RpcRefusal;
use super::task::{artifact, event_message, minimal_task, text_output};
use crate::app::{Listener, RunEnding, RunItem, run_id, stored_events};
use crate::refuse::Refusal;
use adk_a2a::rpc::ErrorCode;
use adk_a2a::{
    StreamResponse, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent,
};
use adk_core::engine::{RunFilter, RunInfo, RunStatus};
use adk_core::spec::StepKind;
use adk_core::{Event, EventId, Path};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::{Map, Value, json};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

type Responses = BoxStream<'static, Result<StreamResponse, Refusal>>;

/// The updates of a task until it has ended or waits.
pub(super) struct Updates {
    call: RpcCall,
    run: RunInfo,
    last: Option<EventId>,
    items: BoxStream<'static, Result<RunItem, Refusal>>,
    ready: VecDeque<StreamResponse>,
    output: Option<TextOutput>,
    is_over: bool,
    /// The end of the run, if this process knows it.
    pub(super) end: Option<Arc<RunEnding>>,
}

/// The source of the events of a run.
pub(super) enum EventSource {
    /// The stored events, then the events of a listener, if this process drives the run.
    Stored(Option<Listener>),
    /// A listener that receives all events since the start of the run, or since it was resumed
    /// after an event.
    All(Listener, Option<EventId>),
    /// No source, because the run may not have started.
    Nothing,
}

/// The only output, if it is a text. Its pieces are sent as pieces of an artifact.
struct TextOutput {
    key: String,
    /// The steps that write the output.
    writers: HashSet<String>,
    /// The turn of the last piece.
    turn: Option<Path>,
}

impl Updates {
    pub(super) fn new(
        call: &RpcCall,
        run: RunInfo,
        after: Option<EventId>,
        source: EventSource,
    ) -> Self {
        let listener = match source {
            EventSource::Stored(listener) => listener,
            EventSource::Nothing => None,
            EventSource::All(listener, _) => Some(listener),
        };
        let runner = call.runner.clone();
        let items = call
            .app
            .follow(runner, run.clone(), after, listener)
            .boxed();
        let output = text_output(call).map(|key| {
            let spec = call.workflow.spec();
            let steps = spec.steps.iter().filter(|step| match step.kind {
                StepKind::Agent { meta, .. } if step.renames.writes.is_empty() => {
                    meta.writes.iter().any(|key_spec| key_spec.name == key)
                }
                _ => step.renames.writes.contains(&&*key),
            });
            let writers = steps.map(|step| step.name.to_owned()).collect();
            TextOutput {
                key,
                writers,
                turn: None,
            }
        });
        let (ready, is_over, end) = Default::default();
        Self {
            call: call.clone(),
            run,
            last: after,
            items,
            ready,
            output,
            is_over,
            end,
        }
    }

    /// Returns the next update, or `None` if the task has ended or waits, or the server stops.
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
                Ok(RunItem::Event(event)) => self.event(&event),
                Ok(RunItem::End(end)) => {
                    if let Err(refusal) = self.finish(end).await {
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
        stream::unfold(self, |mut updates| async move {
            Some((updates.next().await?, updates))
        })
        .boxed()
    }

    fn event(&mut self, event: &Event) {
        if event.partial {
            // Skip a piece of a reply that was read completely.
            let is_old = self.last.is_some_and(|last| event.id < last);
            if !is_old && let Some(piece) = self.piece(event) {
                self.ready.push_back(piece);
            }
            return;
        }
        self.last = Some(event.id);
        if let Some(message) = event_message(&self.run, event).filter(|_| &*event.author != "user")
        {
            let status = TaskStatus {
                state: TaskState::Working,
                message: Some(message),
                timestamp: None,
            };
            self.ready.push_back(self.status(status));
        }
        let form = self.call.workflow.form();
        for output in form.outputs() {
            let Some(value) = event.actions.state_delta.get(&output.key) else {
                continue;
            };
            let complete = artifact(&output.key, &output.description, Value::clone(value));
            self.ready.push_back(self.artifact(complete, false, true));
        }
    }

    /// Returns the update for a piece of a reply.
    fn piece(&mut self, event: &Event) -> Option<StreamResponse> {
        let text = event.text();
        if text.is_empty() {
            return None;
        }
        if let Some(output) = self
            .output
            .as_mut()
            .filter(|output| output.writers.contains(&**event.path.name()))
        {
            let is_same_turn = output.turn.as_ref() == Some(&event.path);
            output.turn = Some(event.path.clone());
            let piece = artifact(&output.key, "", Value::String(text));
            return Some(self.artifact(piece, is_same_turn, false));
        }
        let mut message = event_message(&self.run, event)?;
        message.metadata.insert("partial".to_owned(), json!(true));
        let status = TaskStatus {
            state: TaskState::Working,
            message: Some(message),
            timestamp: None,
        };
        Some(self.status(status))
    }

    async fn finish(&mut self, end: Option<Arc<RunEnding>>) -> Result<(), Refusal> {
        let now = self
            .call
            .runner
            .runs(&RunFilter::of_run(self.run.run_id))
            .await?
            .into_iter()
            .next();
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

    fn artifact(
        &self,
        artifact: adk_a2a::Artifact,
        append: bool,
        last_chunk: bool,
    ) -> StreamResponse {
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

    /// Waits until the task has ended or waits, and returns it.
    pub(super) async fn settled_task(mut self, history: Option<u32>) -> Result<Task, Refusal> {
        while let Some(update) = self.next().await {
            match update {
                Err(refusal) if refusal.is_of_store() => {
                    return Ok(minimal_task(&self.run, TaskState::Working));
                }
                update => drop(update?),
            }
        }
        self.call
            .started_task(&self.run, self.end.as_deref(), history)
            .await
    }
}

impl RpcCall {
    /// Streams the task and its updates. The first item is the current task, or for
    /// [`EventSource::All`] the task at its start.
    pub(super) async fn watch(
        &self,
        run: RunInfo,
        source: EventSource,
        history: Option<u32>,
    ) -> Result<Responses, Refusal> {
        let mut events = stored_events(&self.runner, &run, None).await?;
        match &source {
            EventSource::Stored(_) | EventSource::Nothing => {}
            EventSource::All(_, None) => events.truncate(1),
            EventSource::All(_, Some(after)) => events.retain(|event| event.id <= *after),
        }
        let last = events.last().map(|event| event.id);
        let mut task = self.task_of(&run, None, history, &events).await?;
        if matches!(source, EventSource::All(..)) && run.status != RunStatus::Queued {
            task.status = TaskStatus {
                state: TaskState::Working,
                message: None,
                ..task.status
            };
        }
        let first = stream::once(async move { Ok(StreamResponse::Task(Box::new(task))) });
        Ok(first
            .chain(Updates::new(self, run, last, source).into_stream())
            .boxed())
    }

    pub(super) async fn subscribe(&self, id: &str) -> Result<Responses, RpcRefusal> {
        let listener = run_id(id).ok().and_then(|run| self.app.listen(run));
        let run = self.run(id).await?;
        if !run.status.is_open() {
            let fact = format!("the task `{id}` has ended");
            let help = "get its result with `GetTask`";
            return Err(RpcRefusal::new(ErrorCode::UnsupportedOperation, fact, help));
        }
        // The run waits and has no answer yet, so no updates follow.
        if run.status == RunStatus::Paused && !run.is_ready && listener.is_none() {
            let task = self.task(&run, None, None).await?;
            let first = async move { Ok(StreamResponse::Task(Box::new(task))) };
            return Ok(stream::once(first).boxed());
        }
        Ok(self.watch(run, EventSource::Stored(listener), None).await?)
    }
}
