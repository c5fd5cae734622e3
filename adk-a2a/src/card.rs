//! [`AgentCard`]: the self-description of an agent.

use serde::{Deserialize, Serialize};

/// The capabilities and the addresses of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentCard {
    /// The name of the agent.
    pub name: String,
    /// A description for people and other agents.
    #[serde(default)]
    pub description: String,
    /// The interfaces of the agent, in order of preference.
    pub supported_interfaces: Vec<AgentInterface>,
    /// The version of the agent.
    #[serde(default)]
    pub version: String,
    /// The optional features of the protocol that the agent supports.
    #[serde(default)]
    pub capabilities: AgentCapabilities,
    /// The media types that the agent accepts.
    #[serde(default)]
    pub default_input_modes: Vec<String>,
    /// The media types of its answers.
    #[serde(default)]
    pub default_output_modes: Vec<String>,
    /// The skills of the agent.
    #[serde(default)]
    pub skills: Vec<AgentSkill>,
}

/// One address of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentInterface {
    /// The address.
    pub url: String,
    /// The binding of the protocol, such as `JSONRPC`.
    pub protocol_binding: String,
    /// The tenant, which each request repeats if it is not empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// The version of the protocol, such as `1.0`.
    #[serde(default)]
    pub protocol_version: String,
}

/// The optional features of the protocol that an agent supports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentCapabilities {
    /// Whether the agent streams updates of a task.
    pub streaming: bool,
    /// Whether the agent posts updates to an address of the client.
    pub push_notifications: bool,
    /// Whether authenticated clients can get a longer card.
    pub extended_agent_card: bool,
}

/// One skill of an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentSkill {
    /// The id, unique in the card.
    pub id: String,
    /// The name for people.
    pub name: String,
    /// A description for people and other agents.
    pub description: String,
    /// Search terms.
    pub tags: Vec<String>,
    /// Example messages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// The accepted media types, if they differ from the card.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub input_modes: Vec<String>,
    /// The media types of answers, if they differ from the card.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub output_modes: Vec<String>,
}
