//! What an agent says of itself.

use serde::{Deserialize, Serialize};

/// What an agent can do, and where it is asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentCard {
    /// Its name.
    pub name: String,
    /// For people and other agents.
    #[serde(default)]
    pub description: String,
    /// Where it is asked, the preferred one first.
    pub supported_interfaces: Vec<AgentInterface>,
    /// The version of the agent.
    #[serde(default)]
    pub version: String,
    /// What it can do beside answering.
    #[serde(default)]
    pub capabilities: AgentCapabilities,
    /// Media types that it takes.
    #[serde(default)]
    pub default_input_modes: Vec<String>,
    /// Media types that it answers with.
    #[serde(default)]
    pub default_output_modes: Vec<String>,
    /// What it does.
    #[serde(default)]
    pub skills: Vec<AgentSkill>,
}

/// Where an agent is asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentInterface {
    /// The address.
    pub url: String,
    /// Such as `JSONRPC`.
    pub protocol_binding: String,
    /// Sent with each request, where it is not empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// The version of the protocol, such as `1.0`.
    #[serde(default)]
    pub protocol_version: String,
}

/// What an agent can do beside answering.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentCapabilities {
    /// Whether it tells of a task as it goes on.
    pub streaming: bool,
    /// Whether it posts to an address of the client.
    pub push_notifications: bool,
    /// Whether it says more of itself to those that it knows.
    pub extended_agent_card: bool,
}

/// One thing that an agent does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentSkill {
    /// Unique in the card.
    pub id: String,
    /// For people.
    pub name: String,
    /// For people and other agents.
    pub description: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// What may be said to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// Media types that it takes, where they are not those of the card.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub input_modes: Vec<String>,
    /// Media types that it answers with, where they are not those of the card.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub output_modes: Vec<String>,
}
