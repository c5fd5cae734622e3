//! Messages, tasks and their updates. The names and the JSON follow the specification.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A message between a client and an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// The id, chosen by the sender.
    pub message_id: String,
    /// The conversation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context_id: String,
    /// The task of the message.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub task_id: String,
    /// The sender.
    pub role: Role,
    /// The content.
    pub parts: Vec<Part>,
    /// Additional data.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// The sender of a message.
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
    /// The content.
    #[serde(flatten)]
    pub content: PartContent,
    /// The media type, such as `text/plain`; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub media_type: String,
    /// A file name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub filename: String,
    /// Additional data.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// The content of a [`Part`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PartContent {
    /// Text.
    Text(String),
    /// Bytes in base64.
    Raw(String),
    /// The address of a file.
    Url(String),
    /// JSON.
    Data(Value),
}

impl Part {
    /// Creates a part with text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(PartContent::Text(text.into()), "text/plain")
    }

    /// Creates a part with JSON.
    pub fn data(data: Value) -> Self {
        Self::new(PartContent::Data(data), "application/json")
    }

    fn new(content: PartContent, media_type: &str) -> Self {
        let (filename, metadata) = Default::default();
        Self {
            content,
            media_type: media_type.to_owned(),
            filename,
            metadata,
        }
    }

    /// Returns the text of a text part.
    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            PartContent::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the JSON of a data part.
    pub fn as_data(&self) -> Option<&Value> {
        match &self.content {
            PartContent::Data(data) => Some(data),
            _ => None,
        }
    }
}

#[cfg(feature = "client")]
pub(crate) fn joined_text(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::as_text).collect()
}

/// A task of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// The id, chosen by the agent.
    pub id: String,
    /// The conversation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context_id: String,
    /// The current status.
    pub status: TaskStatus,
    /// The results so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// The messages of the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Message>,
    /// Additional data.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// The status of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskStatus {
    /// The state.
    pub state: TaskState,
    /// A message of the agent about the status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// The time of the last change, such as `2026-11-26T12:00:00.000Z`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
}

/// The state of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskState {
    /// The agent has accepted the task and has not started it.
    #[serde(rename = "TASK_STATE_SUBMITTED")]
    Submitted,
    /// The agent works on the task.
    #[serde(rename = "TASK_STATE_WORKING")]
    Working,
    /// The task has succeeded.
    #[serde(rename = "TASK_STATE_COMPLETED")]
    Completed,
    /// The task has failed.
    #[serde(rename = "TASK_STATE_FAILED")]
    Failed,
    /// The task was cancelled.
    #[serde(rename = "TASK_STATE_CANCELED")]
    Canceled,
    /// The agent waits for a message from the client.
    #[serde(rename = "TASK_STATE_INPUT_REQUIRED")]
    InputRequired,
    /// The agent has rejected the task.
    #[serde(rename = "TASK_STATE_REJECTED")]
    Rejected,
    /// The agent waits for authorization.
    #[serde(rename = "TASK_STATE_AUTH_REQUIRED")]
    AuthRequired,
    /// The state is missing or unknown.
    #[default]
    #[serde(rename = "TASK_STATE_UNSPECIFIED", other)]
    Unspecified,
}

impl TaskState {
    /// Returns whether the task has ended.
    pub fn is_terminal(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Canceled | Self::Rejected
        )
    }

    /// Returns whether the task has ended or waits for the client.
    pub fn is_settled(self) -> bool {
        self.is_terminal() || matches!(self, Self::InputRequired | Self::AuthRequired)
    }
}

/// A result of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// The id, unique in the task.
    pub artifact_id: String,
    /// The name for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The description for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The content.
    pub parts: Vec<Part>,
    /// Additional data.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// One item of a stream. The answer to a message is a task or a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StreamResponse {
    /// The current state of a task.
    Task(Box<Task>),
    /// An answer without a task.
    Message(Box<Message>),
    /// A new status of the task, or a message of the agent.
    StatusUpdate(Box<TaskStatusUpdateEvent>),
    /// An artifact of the task, or a part of an artifact.
    ArtifactUpdate(Box<TaskArtifactUpdateEvent>),
}

/// A change of the status of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskStatusUpdateEvent {
    /// The task.
    pub task_id: String,
    /// The conversation of the task.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context_id: String,
    /// The new status.
    pub status: TaskStatus,
    /// Additional data.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// An artifact of a task, or a part of an artifact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskArtifactUpdateEvent {
    /// The task.
    pub task_id: String,
    /// The conversation of the task.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context_id: String,
    /// The artifact.
    pub artifact: Artifact,
    /// Whether the parts extend the previous parts of the artifact; otherwise they replace them.
    #[serde(default)]
    pub append: bool,
    /// Whether this is the last part of the artifact.
    #[serde(default)]
    pub last_chunk: bool,
    /// Additional data.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// The parameters of `SendMessage` and `SendStreamingMessage`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SendMessageRequest {
    /// The tenant, for an agent that serves several tenants.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// The content.
    pub message: Message,
    /// The options for the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<SendMessageConfiguration>,
    /// Additional data.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// The options for the answer to a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SendMessageConfiguration {
    /// The media types that the client accepts; an empty list accepts all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted_output_modes: Vec<String>,
    /// The address for notifications about the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_push_notification_config: Option<TaskPushNotificationConfig>,
    /// The maximum number of history messages in the answer; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<u32>,
    /// Whether the agent answers at once; otherwise it answers when the task has ended or waits.
    pub return_immediately: bool,
}

/// The parameters of `GetTask`, `CancelTask` and `SubscribeToTask`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskRequest {
    /// The tenant, for an agent that serves several tenants.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// The task.
    pub id: String,
    /// The maximum number of history messages in the answer; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_length: Option<u32>,
}

/// The parameters of `ListTasks`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListTasksRequest {
    /// Selects the tasks of one conversation.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub context_id: String,
    /// Selects the tasks in one state; [`Unspecified`](TaskState::Unspecified) selects all.
    pub status: TaskState,
    /// The maximum number of tasks in one page, from 1 to 100; default 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u32>,
    /// The start of the page, from the previous page.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub page_token: String,
    /// The maximum number of history messages of each task; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<u32>,
    /// Selects the tasks whose status changed at this time or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_timestamp_after: Option<String>,
    /// Whether the tasks include their artifacts; default no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_artifacts: Option<bool>,
}

/// The answer to `ListTasks`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListTasksResponse {
    /// The tasks, the last changed first.
    pub tasks: Vec<Task>,
    /// The start of the next page; empty on the last page.
    pub next_page_token: String,
    /// The maximum number of tasks in one page.
    pub page_size: u32,
    /// The number of all selected tasks.
    pub total_size: usize,
}

/// The address for notifications about a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TaskPushNotificationConfig {
    /// The id, unique in the task; the agent chooses it if the client does not.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The task.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub task_id: String,
    /// The address for `POST` requests.
    pub url: String,
    /// The value of the header `X-A2A-Notification-Token` of each notification.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub token: String,
    /// The header `Authorization` of each notification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<AuthenticationInfo>,
}

/// The authentication of an agent to a client.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuthenticationInfo {
    /// The scheme, such as `Bearer`.
    pub scheme: String,
    /// The credentials after the scheme.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub credentials: String,
}

/// The parameters of `GetTaskPushNotificationConfig` and `DeleteTaskPushNotificationConfig`, and
/// without an id of `ListTaskPushNotificationConfigs`.
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
    /// All configurations of the task.
    pub configs: Vec<TaskPushNotificationConfig>,
    /// The start of the next page; empty on the last page.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub next_page_token: String,
}
