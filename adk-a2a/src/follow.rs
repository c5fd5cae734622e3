//! A task of a remote agent, from the message to its end: each of its calls is a recorded step of its own.

use crate::connection::{ANSWER, Connection};
use crate::failure::Failure;
use crate::rpc::ErrorCode;
use crate::types::text_of;
use crate::{
    Message, SendMessageConfiguration, SendMessageRequest, StreamResponse, Task, TaskRequest, TaskState,
};
use adk_core::{ErrorKind, RemoteErrorKind};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// How often in a row a request may fail for a passing reason.
const ATTEMPTS: u32 = 5;
/// The first pause before a task is asked for again, and the longest: each is twice the one before.
const PAUSE: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(5);

/// Sends a message. The answer is a task as it begins, or a message that needs none.
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
    let request =
        SendMessageRequest { message, configuration: Some(configuration), ..SendMessageRequest::default() };
    let mut pauses = Pauses::default();
    loop {
        // An agent may not know that it is not to wait for the end.
        match connection.call("SendMessage", &request, Some(longest)).await {
            Ok(StreamResponse::Task(task)) => {
                return succeeded(&connection, *task).map(|task| StreamResponse::Task(Box::new(task)));
            }
            Ok(StreamResponse::Message(message)) => return Ok(StreamResponse::Message(message)),
            Ok(_) => return Err(Failure::invalid("answered a message with neither a task nor a message")),
            // Of what was perhaps sent the workflow decides whether it is sent again.
            Err(failure) if failure.is_unsent && pauses.again().await => {}
            Err(failure) => return answered(&connection, &request.message.task_id, failure).await,
        }
    }
}

/// An answer that was sent before the process ended is not taken twice: then the task goes on, or has ended.
async fn answered(connection: &Connection, id: &str, failure: Failure) -> Result<StreamResponse, Failure> {
    if id.is_empty() || failure.code != Some(ErrorCode::UnsupportedOperation as i64) {
        return Err(failure);
    }
    let task = get(connection, id).await?;
    if task.status.state == TaskState::InputRequired {
        return Err(failure);
    }
    succeeded(connection, task).map(|task| StreamResponse::Task(Box::new(task)))
}

/// Waits until a task has ended or waits for an answer, and hands on the text that comes until then.
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
            // A stream may end before the task does, and says nothing of a task that has ended.
            let asked = match streamed {
                Ok(()) => get(&connection, &id).await,
                Err(failure) => Err(failure),
            };
            match asked {
                Ok(task) if task.status.state.is_settled() => return Ok(task),
                Ok(_) => pauses.wait().await,
                Err(failure) if failure.is_passing() && pauses.again().await => {}
                Err(failure) => return Err(failure),
            }
        }
    };
    match tokio::time::timeout(longest, settled).await {
        Ok(settled) => settled.and_then(|task| succeeded(&connection, task)),
        Err(_) => {
            let request = TaskRequest { id, ..TaskRequest::default() };
            // Nobody waits for it any more; an agent that cannot cancel it may go on.
            let _ = connection.call::<Task>("CancelTask", request, Some(ANSWER)).await;
            let help = "give the remote agent a longer `.timeout(...)`";
            let fact = format!("did not end its task in {longest:?}, its `timeout`");
            let failure = Failure::new(RemoteErrorKind::Unavailable, fact, help);
            Err(Failure { kind: ErrorKind::Timeout, ..failure })
        }
    }
}

pub(crate) async fn get(connection: &Connection, id: &str) -> Result<Task, Failure> {
    let request = TaskRequest { id: id.to_owned(), history_length: Some(0), ..TaskRequest::default() };
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
    let request = TaskRequest { id: id.to_owned(), ..TaskRequest::default() };
    let mut events = match connection.stream("SubscribeToTask", request).await {
        Ok(events) => events,
        // It has ended.
        Err(failure) if failure.code == Some(ErrorCode::UnsupportedOperation as i64) => return Ok(()),
        Err(failure) => return Err(failure),
    };
    while let Some(event) = events.next().await? {
        let state = match event {
            StreamResponse::Task(task) => {
                for artifact in task.artifacts {
                    if shown.insert(artifact.artifact_id) {
                        let _ = pieces.send(text_of(&artifact.parts));
                    }
                }
                task.status.state
            }
            StreamResponse::ArtifactUpdate(update) => {
                let is_new = shown.insert(update.artifact.artifact_id);
                if update.append || is_new {
                    let _ = pieces.send(text_of(&update.artifact.parts));
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

/// A task that goes on, has ended well, or asks for something. A failed one is a failure of its step, so that the step is made
/// again when the run is.
fn succeeded(connection: &Connection, task: Task) -> Result<Task, Failure> {
    use RemoteErrorKind::{Failed, Refused, Unauthorized};
    let (kind, fact, help) = match task.status.state {
        TaskState::Failed => (Failed, "has failed", "ask who runs it, or resume the run to send it again"),
        TaskState::Canceled => (Failed, "has cancelled its task", "resume the run to send it again"),
        TaskState::Rejected => (Refused, "does not do this", "compare what is sent with what its card says"),
        TaskState::AuthRequired => {
            (Unauthorized, "wants to be authorized", "give it a token that it knows, by `.bearer(...)`")
        }
        _ => return Ok(task),
    };
    let said = task.status.message.map(|message| text_of(&message.parts)).filter(|text| !text.is_empty());
    let fact = said.map_or_else(|| fact.to_owned(), |said| format!("{fact}: {}", connection.redacted(&said)));
    Err(Failure::new(kind, fact, help))
}

#[derive(Default)]
struct Pauses {
    failed: u32,
    waited: u32,
}

impl Pauses {
    /// After a failure; whether to try it again.
    async fn again(&mut self) -> bool {
        self.failed += 1;
        if self.failed >= ATTEMPTS {
            return false;
        }
        self.pause().await;
        true
    }

    /// After an answer that is not the end.
    async fn wait(&mut self) {
        self.failed = 0;
        self.pause().await;
    }

    async fn pause(&mut self) {
        let pause = PAUSE.saturating_mul(1 << self.waited.min(8)).min(LONGEST);
        self.waited += 1;
        tokio::time::sleep(pause).await;
    }
}
