//! The [A2A](https://a2a-protocol.org) protocol, version 1.0, over JSON-RPC.
//!
//! The crate has the types of the protocol. With the feature `client` it also has `remote`, which
//! makes an agent of another program a step of a workflow.

#[cfg(feature = "client")]
mod agent;
mod card;
#[cfg(feature = "client")]
mod connection;
#[cfg(feature = "client")]
mod failure;
#[cfg(feature = "client")]
mod follow;
pub mod rpc;
#[cfg(feature = "client")]
mod sse;
mod types;

#[cfg(feature = "client")]
pub use agent::{RemoteAgent, RemoteAgentBuilder, remote};
pub use card::{AgentCapabilities, AgentCard, AgentInterface, AgentSkill};
pub use types::{
    Artifact, AuthenticationInfo, ListTaskPushNotificationConfigsResponse, ListTasksRequest,
    ListTasksResponse, Message, Part, PartContent, PushConfigRequest, Role,
    SendMessageConfiguration, SendMessageRequest, StreamResponse, Task, TaskArtifactUpdateEvent,
    TaskPushNotificationConfig, TaskRequest, TaskState, TaskStatus, TaskStatusUpdateEvent,
};

/// The version of the protocol, sent in the header [`VERSION_HEADER`].
pub const VERSION: &str = "1.0";
/// The header of a request that names the version of the protocol.
pub const VERSION_HEADER: &str = "A2A-Version";
/// The path of an agent's card, relative to the agent's address.
pub const CARD_PATH: &str = ".well-known/agent-card.json";
/// The content type of a push notification.
pub const CONTENT_TYPE: &str = "application/a2a+json";
