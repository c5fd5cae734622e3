//! [`Usage`] of model calls, and [`UsageByAgent`].

use super::Cost;
use crate::Name;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Token counts and cost of one model call, or the sum of several calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Usage {
    /// Number of input tokens.
    #[serde(rename = "promptTokenCount", alias = "prompt_token_count")]
    pub input_tokens: u64,
    /// Number of output tokens, including thoughts.
    #[serde(rename = "candidatesTokenCount", alias = "candidates_token_count")]
    pub output_tokens: u64,
    /// Number of input tokens that the provider read from a cache.
    #[serde(
        rename = "cachedContentTokenCount",
        alias = "cached_content_token_count",
        skip_serializing_if = "is_zero"
    )]
    pub cached_tokens: u64,
    /// Number of input tokens that the provider wrote to a cache. Zero in an event, because ADK's
    /// form of an event does not have this count.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// Number of output tokens that were thoughts.
    #[serde(
        rename = "thoughtsTokenCount",
        alias = "thoughts_token_count",
        skip_serializing_if = "is_zero"
    )]
    pub thought_tokens: u64,
    /// Cost by the runner's prices; zero if the runner has no prices, or none for the model.
    #[serde(skip_serializing_if = "Cost::is_zero")]
    pub cost: Cost,
    /// Number of model calls. Zero in the usage of a single call, because ADK's form of an event
    /// does not have this count.
    #[serde(skip_serializing_if = "is_zero")]
    pub calls: u64,
    /// Number of tool calls in the replies, without calls of the runtime's own tools.
    #[serde(skip_serializing_if = "is_zero")]
    pub tool_calls: u64,
}

/// Reports whether serialization skips a count, as ADK skips missing counts.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Usage {
    /// Creates the token counts of one call.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
            ..Self::default()
        }
    }

    /// Reports whether all counts and the cost are zero.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the sum of input and output tokens.
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        // A provider may report any number, so additions saturate.
        let add = |sum: &mut u64, more| *sum = sum.saturating_add(more);
        add(&mut self.input_tokens, other.input_tokens);
        add(&mut self.output_tokens, other.output_tokens);
        add(&mut self.cached_tokens, other.cached_tokens);
        add(&mut self.cache_write_tokens, other.cache_write_tokens);
        add(&mut self.thought_tokens, other.thought_tokens);
        self.cost += other.cost;
        add(&mut self.calls, other.calls);
        add(&mut self.tool_calls, other.tool_calls);
    }
}

/// A difference below zero is zero.
impl std::ops::Sub for Usage {
    type Output = Self;

    fn sub(mut self, other: Self) -> Self {
        let subtract = |count: &mut u64, less| *count = count.saturating_sub(less);
        subtract(&mut self.input_tokens, other.input_tokens);
        subtract(&mut self.output_tokens, other.output_tokens);
        subtract(&mut self.cached_tokens, other.cached_tokens);
        subtract(&mut self.cache_write_tokens, other.cache_write_tokens);
        subtract(&mut self.thought_tokens, other.thought_tokens);
        self.cost = self.cost - other.cost;
        subtract(&mut self.calls, other.calls);
        subtract(&mut self.tool_calls, other.tool_calls);
        self
    }
}

/// The usage of a run or of a part of it, with the usage of each agent.
///
/// In the record of one agent, the usage of the agent itself has no name. In JSON, it is a
/// [`Usage`] with the names under `agents`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageByAgent {
    #[serde(flatten)]
    total: Usage,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    agents: BTreeMap<Name, Usage>,
}

impl UsageByAgent {
    /// Returns the usage of all agents together.
    pub fn total(&self) -> Usage {
        self.total
    }

    /// Returns the usage of each agent, by name.
    pub fn into_agents(self) -> BTreeMap<Name, Usage> {
        self.agents
    }

    /// Adds the usage of an agent.
    pub fn add(&mut self, agent: &Name, usage: Usage) {
        self.total += usage;
        match self.agents.get_mut(agent) {
            Some(sum) => *sum += usage,
            None => drop(self.agents.insert(agent.clone(), usage)),
        }
    }

    /// Gives the usage without a name to this agent.
    #[must_use]
    pub fn named(mut self, agent: &Name) -> Self {
        let mut named = Usage::default();
        self.agents.values().for_each(|usage| named += *usage);
        let unnamed = self.total - named;
        if !unnamed.is_nothing() {
            self.total = named;
            self.add(agent, unnamed);
        }
        self
    }

    /// Reports whether all counts and the cost are zero.
    pub fn is_nothing(&self) -> bool {
        self.total.is_nothing()
    }
}

/// Usage without a name.
impl From<Usage> for UsageByAgent {
    fn from(total: Usage) -> Self {
        let agents = BTreeMap::new();
        Self { total, agents }
    }
}

/// Adds usage without a name.
impl AddAssign<Usage> for UsageByAgent {
    fn add_assign(&mut self, usage: Usage) {
        self.total += usage;
    }
}

impl AddAssign<&Self> for UsageByAgent {
    fn add_assign(&mut self, other: &Self) {
        self.total += other.total;
        for (agent, usage) in &other.agents {
            *self.agents.entry(agent.clone()).or_default() += *usage;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_without_a_name_survives_json_and_gets_a_name() {
        let mut own = Usage::new(20, 10);
        (own.calls, own.thought_tokens) = (2, 3);
        own.cost = serde_json::from_str(r#"{"amount": "0.5", "currency": "USD"}"#).unwrap();
        let mut usage: UsageByAgent = serde_json::from_value(serde_json::to_value(own).unwrap())
            .expect("the JSON of a usage has no names");
        assert_eq!(usage, own.into());
        usage.add(&"inner".into(), Usage::new(100, 1));
        let read: UsageByAgent =
            serde_json::from_value(serde_json::to_value(&usage).unwrap()).unwrap();
        assert_eq!(read, usage);
        let named = read.named(&"outer".into());
        assert_eq!(named.total(), usage.total());
        let agents = [("inner".into(), Usage::new(100, 1)), ("outer".into(), own)];
        assert_eq!(named.clone().into_agents(), BTreeMap::from(agents));
        assert_eq!(named.clone().named(&"other".into()), named);
    }
}
