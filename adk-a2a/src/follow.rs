//! The life of a remote task, from the message to its end. A run records each function here as one
//! step, so a resumed run does not repeat it.

use crate::connection::{ANSWER, Connection};
use crate::failure::Failure;
use crate::rpc::ErrorCode;
use crate::types::joined_text;
use crate::{
    Message, SendMessageConfiguration, SendMessageRequest, StreamResponse, Task, TaskRequest,
    TaskState,
};
use adk_core::{ErrorKind, RemoteErrorKind};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// The maximum number of consecutive transient failures.
const ATTEMPTS: u32 = 5;
/// The first pause between two requests. Each pause is twice the previous one.
const PAUSE: Duration = Duration::from_millis(250);
/// The longest pause between two requests.
const LONGEST: Duration = Duration::from_secs(5);

/// Sends a message. Returns the new task, or the answer if the agent needs no task.
pub(crate) async fn send(
    connection: Arc<Connection>,
    message: Message,
    longest: Duration,
) -> Result<StreamResponse, Failure> {
    let configuration = SendMessageConfiguration {
        history_length: Some(0),
        return_immediately: true,
        ..SendMessageConfiguration::default()
    };
    let request = SendMessageRequest {
        message,
        configuration: Some(configuration),
        ..SendMessageRequest::default()
    };
    let mut pauses = Pauses::default();
    loop {
        // An agent may ignore `return_immediately` and reply at the end of the task.
        match connection
            .call("SendMessage", &request, Some(longest))
            .await
        {
            Ok(StreamResponse::Task(task)) => {
                return check_state(&connection, *task)
                    .map(|task| StreamResponse::Task(Box::new(task)));
            }
            Ok(StreamResponse::Message(message)) => return Ok(StreamResponse::Message(message)),
            Ok(_) => {
                return Err(Failure::invalid(
                    "replied with neither a task nor a message",
                ));
            }
            // If the agent may have received the request, only the workflow may decide to repeat
            // it.
            Err(failure) if failure.is_unsent && pauses.wait_after_failure().await => {}
            Err(failure) => {
                return find_answered_task(&connection, &request.message.task_id, failure).await;
            }
        }
    }
}

/// Returns the task if the agent has rejected an answer because the task does not wait any more.
/// The answer then arrived before: an earlier process has sent it.
async fn find_answered_task(
    connection: &Connection,
    id: &str,
    failure: Failure,
) -> Result<StreamResponse, Failure> {
    if id.is_empty() || failure.code != Some(ErrorCode::UnsupportedOperation as i64) {
        return Err(failure);
    }
    let task = get(connection, id).await?;
    if task.status.state == TaskState::InputRequired {
        return Err(failure);
    }
    check_state(connection, task).map(|task| StreamResponse::Task(Box::new(task)))
}

/// Waits until a task has ended or asks for input, and sends its text to `pieces` as it arrives.
pub(crate) async fn settle(
    connection: Arc<Connection>,
    id: String,
    pieces: UnboundedSender<String>,
    longest: Duration,
) -> Result<Task, Failure> {
    let settled = async {
        let mut pauses = Pauses::default();
        let mut shown = HashSet::new();
        loop {
            let streamed = stream(&connection, &id, &mut shown, &pieces).await;
            // A stream may end before its task does, and a task that has ended has no stream, so
            // the state is always requested.
            let current = match streamed {
                Ok(()) => get(&connection, &id).await,
                Err(failure) => Err(failure),
            };
            match current {
                Ok(task) if task.status.state.is_settled() => return Ok(task),
                Ok(_) => pauses.wait_after_reply().await,
                Err(failure) if failure.is_transient() && pauses.wait_after_failure().await => {}
                Err(failure) => return Err(failure),
            }
        }
    };
    match tokio::time::timeout(longest, settled).await {
        Ok(settled) => settled.and_then(|task| check_state(&connection, task)),
        Err(_) => {
            let request = TaskRequest {
                id,
                ..TaskRequest::default()
            };
            // If the agent cannot cancel the task, the task continues, and the failure is ignored.
            let _ = connection
                .call::<Task>("CancelTask", request, Some(ANSWER))
                .await;
            let help = "set a longer `.timeout(...)` for the remote agent";
            let fact = format!("did not end its task in {longest:?}, its `timeout`");
            let failure = Failure::new(RemoteErrorKind::Unavailable, fact, help);
            Err(Failure {
                kind: ErrorKind::Timeout,
                ..failure
            })
        }
    }
}

pub(crate) async fn get(connection: &Connection, id: &str) -> Result<Task, Failure> {
    let request = TaskRequest {
        id: id.to_owned(),
        history_length: Some(0),
        ..TaskRequest::default()
    };
    connection.call("GetTask", request, Some(ANSWER)).await
}

/// Reads the events of a task until the stream ends or the task is settled.
async fn stream(
    connection: &Connection,
    id: &str,
    shown: &mut HashSet<String>,
    pieces: &UnboundedSender<String>,
) -> Result<(), Failure> {
    if !connection.endpoint().await?.streams {
        return Ok(());
    }
    let request = TaskRequest {
        id: id.to_owned(),
        ..TaskRequest::default()
    };
    let mut events = match connection.stream("SubscribeToTask", request).await {
        Ok(events) => events,
        // The task has ended, so it has no stream.
        Err(failure) if failure.code == Some(ErrorCode::UnsupportedOperation as i64) => {
            return Ok(());
        }
        Err(failure) => return Err(failure),
    };
    while let Some(event) = events.next().await? {
        let state = match event {
            StreamResponse::Task(task) => {
                for artifact in task.artifacts {
                    if shown.insert(artifact.artifact_id) {
                        let _ = pieces.send(joined_text(&artifact.parts));
                    }
                }
                task.status.state
            }
            StreamResponse::ArtifactUpdate(update) => {
                let is_new = shown.insert(update.artifact.artifact_id);
                if update.append || is_new {
                    let _ = pieces.send(joined_text(&update.artifact.parts));
                }
                continue;
            }
            StreamResponse::StatusUpdate(update) => update.status.state,
            StreamResponse::Message(_) => continue,
        };
        if state.is_settled() {
            break;
        }
    }
    Ok(())
}

/// Returns the task, or a failure if the task has failed. A failed step is not recorded, so a
/// resumed run repeats it.
fn check_state(connection: &Connection, task: Task) -> Result<Task, Failure> {
    use RemoteErrorKind::{Failed, Refused, Unauthorized};
    let (kind, fact, help) = match task.status.state {
        TaskState::Failed => (
            Failed,
            "has failed",
            "ask its operator, or resume the run to send the message again",
        ),
        TaskState::Canceled => (
            Failed,
            "has cancelled its task",
            "resume the run to send the message again",
        ),
        TaskState::Rejected => (
            Refused,
            "rejected the task",
            "compare the message with the card of the agent",
        ),
        TaskState::AuthRequired => (
            Unauthorized,
            "requires authorization",
            "pass a valid token with `.bearer(...)`",
        ),
        _ => return Ok(task),
    };
    let text = task
        .status
        .message
        .map(|message| joined_text(&message.parts))
        .filter(|text| !text.is_empty());
    let fact = text.map_or_else(
        || fact.to_owned(),
        |text| format!("{fact}: {}", connection.redact_short(&text)),
    );
    Err(Failure::new(kind, fact, help))
}

#[derive(Default)]
struct Pauses {
    failed: u32,
    waited: u32,
}

impl Pauses {
    /// Waits after a transient failure. Returns `false` after too many failures.
    async fn wait_after_failure(&mut self) -> bool {
        self.failed += 1;
        if self.failed >= ATTEMPTS {
            return false;
        }
        self.pause().await;
        true
    }

    /// Waits after a reply that does not end the task.
    async fn wait_after_reply(&mut self) {
        self.failed = 0;
        self.pause().await;
    }

    async fn pause(&mut self) {
        let pause = PAUSE.saturating_mul(1 << self.waited.min(8)).min(LONGEST);
        self.waited += 1;
        tokio::time::sleep(pause).await;
    }
}
