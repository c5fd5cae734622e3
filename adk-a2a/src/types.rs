//! What is sent: messages, tasks, and what happens to them. Names and JSON are those of the specification.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a client and an agent say to each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Given by who sends it.
    pub message_id: String,
    /// The conversation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context_id: String,
    /// The task that it is about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub task_id: String,
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub parts: Vec<Part>,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// Who says something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// The client.
    #[default]
    #[serde(rename = "ROLE_USER")]
    User,
    /// The agent.
    #[serde(rename = "ROLE_AGENT")]
    Agent,
}

/// A part of a message or an artifact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// What it holds.
    #[serde(flatten)]
    pub content: PartContent,
    /// Such as `text/plain`; empty when it was not said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub media_type: String,
    /// A file name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub filename: String,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// What a [`Part`] holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PartContent {
    /// Text.
    Text(String),
    /// Bytes, as base64.
    Raw(String),
    /// A file by its address.
    Url(String),
    /// JSON.
    Data(Value),
}

impl Part {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(PartContent::Text(text.into()), "text/plain")
    }

    /// JSON.
    pub fn data(data: Value) -> Self {
        Self::new(PartContent::Data(data), "application/json")
    }

    fn new(content: PartContent, media_type: &str) -> Self {
        let (filename, metadata) = Default::default();
        Self { content, media_type: media_type.to_owned(), filename, metadata }
    }

    /// The text, when it is one.
    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            PartContent::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The JSON, when it is some.
    pub fn as_data(&self) -> Option<&Value> {
        match &self.content {
            PartContent::Data(data) => Some(data),
            _ => None,
        }
    }
}

#[cfg(feature = "client")]
pub(crate) fn text_of(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::as_text).collect()
}

/// What an agent works on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Given by the agent.
    pub id: String,
    /// The conversation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context_id: String,
    /// How far it is.
    pub status: TaskStatus,
    /// What came of it so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// What was said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Message>,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// How far a task is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskStatus {
    /// The state.
    pub state: TaskState,
    /// What the agent says to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// Since when, such as `2026-11-26T12:00:00.000Z`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
}

/// The state of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskState {
    /// The agent has it, and has not begun.
    #[serde(rename = "TASK_STATE_SUBMITTED")]
    Submitted,
    /// The agent works on it.
    #[serde(rename = "TASK_STATE_WORKING")]
    Working,
    /// It has ended well.
    #[serde(rename = "TASK_STATE_COMPLETED")]
    Completed,
    /// It has failed.
    #[serde(rename = "TASK_STATE_FAILED")]
    Failed,
    /// It was cancelled.
    #[serde(rename = "TASK_STATE_CANCELED")]
    Canceled,
    /// The agent waits for a message of the client.
    #[serde(rename = "TASK_STATE_INPUT_REQUIRED")]
    InputRequired,
    /// The agent does not do it.
    #[serde(rename = "TASK_STATE_REJECTED")]
    Rejected,
    /// The agent waits until it is authorized.
    #[serde(rename = "TASK_STATE_AUTH_REQUIRED")]
    AuthRequired,
    /// It is not said, or one of another version.
    #[default]
    #[serde(rename = "TASK_STATE_UNSPECIFIED", other)]
    Unspecified,
}

impl TaskState {
    /// Whether it has ended.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled | Self::Rejected)
    }

    /// Whether nothing more happens before the client says something.
    pub fn is_settled(self) -> bool {
        self.is_terminal() || matches!(self, Self::InputRequired | Self::AuthRequired)
    }
}

/// What came of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// Unique in the task.
    pub artifact_id: String,
    /// For people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// For people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What it holds.
    pub parts: Vec<Part>,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// One thing of a stream, and what an agent answers to a message: a task or a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StreamResponse {
    /// A task as it is.
    Task(Box<Task>),
    /// An answer that needs no task.
    Message(Box<Message>),
    /// The status of the task has changed, or the agent says something.
    StatusUpdate(Box<TaskStatusUpdateEvent>),
    /// An artifact of the task, or a piece of one.
    ArtifactUpdate(Box<TaskArtifactUpdateEvent>),
}

/// The status of a task has changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskStatusUpdateEvent {
    /// The task.
    pub task_id: String,
    /// Its conversation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context_id: String,
    /// How far it is now.
    pub status: TaskStatus,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// An artifact of a task, or a piece of one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskArtifactUpdateEvent {
    /// The task.
    pub task_id: String,
    /// Its conversation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context_id: String,
    /// The artifact.
    pub artifact: Artifact,
    /// Whether its parts follow those that came before; otherwise they replace them.
    #[serde(default)]
    pub append: bool,
    /// Whether this was the last piece.
    #[serde(default)]
    pub last_chunk: bool,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// The parameters of `SendMessage` and `SendStreamingMessage`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SendMessageRequest {
    /// For an agent that serves several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// What is said.
    pub message: Message,
    /// How it is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<SendMessageConfiguration>,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// How a message is answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SendMessageConfiguration {
    /// Media types that the client takes; none for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted_output_modes: Vec<String>,
    /// Where the agent tells how far the task is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_push_notification_config: Option<TaskPushNotificationConfig>,
    /// The most messages of the history in the answer; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<u32>,
    /// Whether the answer is the task as it begins; otherwise as it ends or waits.
    pub return_immediately: bool,
}

/// The parameters of `GetTask`, `CancelTask` and `SubscribeToTask`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskRequest {
    /// For an agent that serves several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// The task.
    pub id: String,
    /// The most messages of the history in the answer; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_length: Option<u32>,
}

/// The parameters of `ListTasks`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListTasksRequest {
    /// Only tasks of this conversation.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub context_id: String,
    /// Only tasks of this state; [`Unspecified`](TaskState::Unspecified) for all.
    pub status: TaskState,
    /// The most tasks of one answer, from 1 to 100; default 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u32>,
    /// Where the page begins; from the answer before.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub page_token: String,
    /// The most messages of each history; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<u32>,
    /// Only tasks whose status was written at this time or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_timestamp_after: Option<String>,
    /// Whether the tasks come with their artifacts; default no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_artifacts: Option<bool>,
}

/// The answer to `ListTasks`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListTasksResponse {
    /// The tasks, those that have changed last first.
    pub tasks: Vec<Task>,
    /// Where the next page begins; empty for none.
    pub next_page_token: String,
    /// The most tasks of one answer.
    pub page_size: u32,
    /// How many there are in all.
    pub total_size: usize,
}

/// Where the agent tells how far a task is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TaskPushNotificationConfig {
    /// Unique in the task; given by the agent where the client gives none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The task.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub task_id: String,
    /// The address that is posted to.
    pub url: String,
    /// Sent with each notification, in the header `X-A2A-Notification-Token`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub token: String,
    /// Sent with each notification, in the header `Authorization`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<AuthenticationInfo>,
}

/// How an agent says to a client who it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuthenticationInfo {
    /// Such as `Bearer`.
    pub scheme: String,
    /// What follows it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub credentials: String,
}

/// The parameters of `GetTaskPushNotificationConfig`, `DeleteTaskPushNotificationConfig` and, without an id,
/// `ListTaskPushNotificationConfigs`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PushConfigRequest {
    /// The task.
    pub task_id: String,
    /// The configuration.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
}

/// The answer to `ListTaskPushNotificationConfigs`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListTaskPushNotificationConfigsResponse {
    /// All of the task.
    pub configs: Vec<TaskPushNotificationConfig>,
    /// Where the next page begins; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub next_page_token: String,
}
