//! Converts runs to A2A tasks.

use super::error::RpcRefusal;
use super::time::{micros, timestamp};
use super::{RpcCall, card};
use crate::app::{RunEnding, stored_events, with_status};
use crate::refuse::Refusal;
use adk_a2a::rpc::ErrorCode;
use adk_a2a::{
    Artifact, ListTasksRequest, ListTasksResponse, Message, Part, Role, Task, TaskState, TaskStatus,
};
use adk_core::engine::{RunFilter, RunInfo, RunState, RunStatus, Waiting};
use adk_core::runner::WaitJson;
use adk_core::{Event, RunId};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The author of the messages of users.
const USER: &str = "user";
/// The metadata field that selects the wait that a message answers.
pub(super) const WAIT: &str = "wait";

impl RpcCall {
    /// Returns the current task of a run. `end` is the end that this process knows and the store
    /// may not have yet.
    pub(super) async fn task(
        &self,
        run: &RunInfo,
        end: Option<&RunEnding>,
        history: Option<u32>,
    ) -> Result<Task, Refusal> {
        let events = stored_events(&self.runner, run, None).await?;
        self.task_of(run, end, history, &events).await
    }

    /// Returns the task of a run that this request has started or answered. If the store is
    /// unavailable, the task counts as working.
    pub(super) async fn started_task(
        &self,
        run: &RunInfo,
        end: Option<&RunEnding>,
        history: Option<u32>,
    ) -> Result<Task, Refusal> {
        match self.task(run, end, history).await {
            Err(refusal) if refusal.is_of_store() => Ok(minimal_task(run, TaskState::Working)),
            task => task,
        }
    }

    /// Returns the task of a run whose events are already read.
    pub(super) async fn task_of(
        &self,
        run: &RunInfo,
        end: Option<&RunEnding>,
        history: Option<u32>,
        events: &[Arc<Event>],
    ) -> Result<Task, Refusal> {
        Ok(Task {
            id: run.run_id.to_string(),
            context_id: run.session.id.clone(),
            status: self.status(run, end).await?,
            artifacts: self.artifacts(events),
            history: messages(run, events, history),
            metadata: Map::new(),
        })
    }

    /// Returns the status of a run.
    pub(super) async fn status(
        &self,
        run: &RunInfo,
        end: Option<&RunEnding>,
    ) -> Result<TaskStatus, Refusal> {
        let state = match end {
            Some(RunEnding::Finished { .. }) => TaskState::Completed,
            // A store error does not mean that the run has failed.
            Some(RunEnding::Failed(error))
                if !error.is_of_store() && run.status != RunStatus::Cancelled =>
            {
                TaskState::Failed
            }
            Some(RunEnding::Paused) => TaskState::InputRequired,
            // The run has an answer, and this process continues it.
            None if run.status == RunStatus::Paused && self.is_driven(run) => TaskState::Working,
            _ => task_state(&run.status),
        };
        let parts = match (state, end, &run.status) {
            (TaskState::InputRequired, ..) => self
                .waiting(run)
                .await?
                .iter()
                .flat_map(question_parts)
                .collect(),
            (TaskState::Failed, Some(RunEnding::Failed(error)), _) => {
                vec![Part::text(error.to_string())]
            }
            (TaskState::Failed, _, RunStatus::Failed(error)) => vec![Part::text(error.to_string())],
            _ => Vec::new(),
        };
        let message = (!parts.is_empty()).then(|| Message {
            message_id: format!("{}:{}", run.run_id, run.updated),
            ..message(run, Role::Agent, parts)
        });
        Ok(TaskStatus {
            state,
            message,
            timestamp: Some(timestamp(run.updated)),
        })
    }

    fn is_driven(&self, run: &RunInfo) -> bool {
        self.app
            .listen(run.run_id)
            .is_some_and(|listener| listener.try_end().is_none())
    }

    pub(super) async fn waiting(&self, run: &RunInfo) -> Result<Vec<Waiting>, Refusal> {
        Ok(self
            .runner
            .waiting_of(&RunFilter::of_run(run.run_id))
            .await?)
    }

    /// Returns the outputs that are written so far.
    fn artifacts(&self, events: &[Arc<Event>]) -> Vec<Artifact> {
        let form = self.workflow.form();
        let artifacts = form.outputs().iter().filter_map(|output| {
            let find = |event: &Arc<Event>| {
                event
                    .actions
                    .state_delta
                    .get(&output.key)
                    .map(|value| Value::clone(value))
            };
            let value = events.iter().rev().find_map(find)?;
            Some(artifact(&output.key, &output.description, value))
        });
        artifacts.collect()
    }

    /// Lists the tasks of the caller, the last changed first.
    pub(super) async fn list(
        &self,
        request: ListTasksRequest,
    ) -> Result<ListTasksResponse, RpcRefusal> {
        let page_size = request.page_size.unwrap_or(50);
        if !(1..=100).contains(&page_size) {
            return Err(invalid(
                "`pageSize` is not between 1 and 100",
                "use a value from 1 to 100",
            ));
        }
        let size = page_size as usize;
        let mut filter = self.filter(&request)?;
        let after = match &*request.page_token {
            "" => None,
            token => Some(parse_page_token(token)?),
        };
        // No run has another state.
        let can_match = !matches!(
            request.status,
            TaskState::Rejected | TaskState::AuthRequired
        );
        let (mut runs, mut total_size) = (Vec::new(), 0);
        if can_match {
            total_size = self.runner.count_runs(&filter).await?;
            filter.after_change = after;
            runs = self.runner.runs(&filter.limit(size + 1)).await?;
        }
        let has_more = runs.len() > size;
        runs.truncate(size);
        let last = runs.last().filter(|_| has_more);
        let next_page_token = last
            .map(|run| format!("{}.{}", run.updated, run.run_id))
            .unwrap_or_default();
        let mut tasks = Vec::with_capacity(runs.len());
        for run in &runs {
            let has_artifacts = request.include_artifacts == Some(true);
            let events = match request.history_length {
                Some(0) if !has_artifacts => Vec::new(),
                _ => stored_events(&self.runner, run, None).await?,
            };
            let mut task = self
                .task_of(run, None, request.history_length, &events)
                .await?;
            if !has_artifacts {
                task.artifacts.clear();
            }
            tasks.push(task);
        }
        Ok(ListTasksResponse {
            tasks,
            next_page_token,
            page_size,
            total_size,
        })
    }

    /// Returns the filter of the tasks that a list request selects.
    fn filter(&self, request: &ListTasksRequest) -> Result<RunFilter, RpcRefusal> {
        let since = request.status_timestamp_after.as_deref().map(|since| {
            micros(since).ok_or_else(|| {
                invalid(
                    "`statusTimestampAfter` is not a UTC time",
                    "write it as `2026-11-26T12:00:00Z`",
                )
            })
        });
        let mut filter = RunFilter::any().workflows([self.workflow.name()]);
        filter.user.clone_from(&self.caller.user);
        filter.session = Some(request.context_id.clone()).filter(|context| !context.is_empty());
        filter.state = match request.status {
            TaskState::Completed => RunState::Finished,
            TaskState::Failed => RunState::Failed,
            TaskState::Canceled => RunState::Cancelled,
            TaskState::Submitted => RunState::Queued,
            TaskState::Working => RunState::Running,
            TaskState::InputRequired => RunState::Paused,
            _ => RunState::Any,
        };
        filter.changed_since = since.transpose()?.unwrap_or_default();
        filter.by_change = true;
        Ok(filter)
    }

    pub(super) async fn cancel(&self, id: &str) -> Result<Task, RpcRefusal> {
        let run = self.run(id).await?;
        if self.app.cancel(&self.runner, &run).await? != RunStatus::Cancelled {
            let fact = format!("the task `{id}` has ended");
            return Err(RpcRefusal::new(
                ErrorCode::TaskNotCancelable,
                fact,
                "get its result with `GetTask`",
            ));
        }
        let run = self
            .run(id)
            .await
            .unwrap_or_else(|_| with_status(run, RunStatus::Cancelled));
        let task = self.task(&run, None, None).await;
        Ok(task.unwrap_or_else(|_| minimal_task(&run, TaskState::Canceled)))
    }
}

fn invalid(fact: &str, help: &str) -> RpcRefusal {
    RpcRefusal::new(ErrorCode::InvalidParams, fact, help)
}

/// Parses the change and the run after which a page begins.
fn parse_page_token(token: &str) -> Result<(u64, RunId), RpcRefusal> {
    let parts = token.split_once('.');
    let after = parts.and_then(|(updated, run)| Some((updated.parse().ok()?, run.parse().ok()?)));
    after.ok_or_else(|| {
        invalid(
            "`pageToken` is invalid",
            "use the `nextPageToken` of the previous page",
        )
    })
}

/// Returns a task with only its ids and a state.
pub(super) fn minimal_task(run: &RunInfo, state: TaskState) -> Task {
    let status = TaskStatus {
        state,
        message: None,
        timestamp: Some(timestamp(run.updated)),
    };
    Task {
        id: run.run_id.to_string(),
        context_id: run.session.id.clone(),
        status,
        artifacts: Vec::new(),
        history: Vec::new(),
        metadata: Map::new(),
    }
}

pub(super) fn task_state(status: &RunStatus) -> TaskState {
    match status {
        RunStatus::Queued => TaskState::Submitted,
        RunStatus::Running => TaskState::Working,
        RunStatus::Paused => TaskState::InputRequired,
        RunStatus::Finished => TaskState::Completed,
        RunStatus::Failed(_) => TaskState::Failed,
        RunStatus::Cancelled => TaskState::Canceled,
        _ => TaskState::Unspecified,
    }
}

/// Converts a value to a part: a string to text, other values to data.
fn part(value: Value) -> Part {
    match value {
        Value::String(text) => Part::text(text),
        value => Part::data(value),
    }
}

pub(super) fn artifact(key: &str, description: &str, value: Value) -> Artifact {
    let (artifact_id, name, description) = (key.to_owned(), key.to_owned(), description.to_owned());
    Artifact {
        artifact_id,
        name,
        description,
        parts: vec![part(value)],
        metadata: Map::new(),
    }
}

/// Returns the question of a wait as text for people and as data for programs.
fn question_parts(waiting: &Waiting) -> [Part; 2] {
    let question = match &*waiting.question {
        "" => format!("`{}` waits for a value.", waiting.path.name()),
        question => question.to_owned(),
    };
    [
        Part::text(question),
        Part::data(json!(WaitJson::from(waiting))),
    ]
}

fn message(run: &RunInfo, role: Role, parts: Vec<Part>) -> Message {
    let (task_id, context_id) = (run.run_id.to_string(), run.session.id.clone());
    Message {
        task_id,
        context_id,
        role,
        parts,
        ..Message::default()
    }
}

pub(super) fn event_message(run: &RunInfo, event: &Event) -> Option<Message> {
    let text = event.text();
    if text.is_empty() {
        return None;
    }
    let role = if &*event.author == USER {
        Role::User
    } else {
        Role::Agent
    };
    let mut metadata = Map::new();
    if role == Role::Agent {
        metadata.insert("author".to_owned(), json!(event.author));
        metadata.insert("path".to_owned(), json!(event.path));
    }
    let message_id = event.id.to_string();
    Some(Message {
        message_id,
        metadata,
        ..message(run, role, vec![Part::text(text)])
    })
}

fn messages(run: &RunInfo, events: &[Arc<Event>], most: Option<u32>) -> Vec<Message> {
    let mut messages: Vec<_> = events
        .iter()
        .filter_map(|event| event_message(run, event))
        .collect();
    if let Some(most) = most {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        messages.drain(..messages.len().saturating_sub(most));
    }
    messages
}

/// Returns the key of the output if it is the only one and a text, which is then streamed.
pub(super) fn text_output(call: &RpcCall) -> Option<String> {
    match call.workflow.form().outputs() {
        [one] if card::is_text(one) => Some(one.key.to_string()),
        _ => None,
    }
}
