//! ADK's JSON of an event, as its REST interface writes it: camelCase, without nulls and empty
//! fields. Snake case is read as well.

use super::*;
use serde::de::Deserializer;
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

fn is_none<T>(value: &Option<T>) -> bool {
    value.is_none()
}

fn micros(seconds: f64) -> u64 {
    (seconds * 1e6).round() as u64
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EventJson<'a> {
    #[serde(skip_serializing_if = "is_none")]
    content: Option<Cow<'a, Content>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    partial: bool,
    #[serde(alias = "finish_reason", skip_serializing_if = "is_none")]
    finish_reason: Option<FinishReason>,
    #[serde(alias = "error_code", skip_serializing_if = "is_none")]
    error_code: Option<Cow<'a, str>>,
    #[serde(alias = "error_message", skip_serializing_if = "is_none")]
    error_message: Option<Cow<'a, str>>,
    #[serde(
        default,
        alias = "custom_metadata",
        skip_serializing_if = "Map::is_empty"
    )]
    custom_metadata: Map<String, Value>,
    #[serde(alias = "usage_metadata", skip_serializing_if = "is_none")]
    usage_metadata: Option<Usage>,
    #[serde(alias = "model_version", skip_serializing_if = "is_none")]
    model_version: Option<Cow<'a, str>>,
    #[serde(alias = "grounding_metadata", skip_serializing_if = "is_none")]
    grounding_metadata: Option<Arc<Value>>,
    #[serde(alias = "invocation_id")]
    invocation_id: RunId,
    author: Name,
    #[serde(default)]
    actions: ActionsJson,
    #[serde(alias = "long_running_tool_ids", skip_serializing_if = "is_none")]
    long_running_tool_ids: Option<Cow<'a, [String]>>,
    #[serde(skip_serializing_if = "is_none")]
    branch: Option<Arc<str>>,
    #[serde(default, alias = "node_info")]
    node_info: NodeInfo,
    id: EventId,
    timestamp: f64,
}

#[derive(Default, Serialize, Deserialize)]
struct NodeInfo {
    #[serde(default)]
    path: String,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ActionsJson {
    #[serde(alias = "skip_summarization", skip_serializing_if = "is_none")]
    skip_summarization: Option<bool>,
    #[serde(alias = "state_delta")]
    state_delta: StateDelta,
    #[serde(alias = "artifact_delta")]
    artifact_delta: Map<String, Value>,
    #[serde(alias = "transfer_to_agent", skip_serializing_if = "is_none")]
    transfer_to_agent: Option<Name>,
    #[serde(skip_serializing_if = "is_none")]
    escalate: Option<bool>,
    #[serde(alias = "agent_state", skip_serializing_if = "is_none")]
    agent_state: Option<Arc<Value>>,
    #[serde(alias = "end_of_agent", skip_serializing_if = "is_none")]
    end_of_agent: Option<bool>,
    #[serde(skip_serializing_if = "is_none")]
    compaction: Option<CompactionJson>,
}

/// The JSON form of a compaction, with times in seconds.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CompactionJson {
    #[serde(alias = "start_timestamp")]
    start_timestamp: f64,
    #[serde(alias = "end_timestamp")]
    end_timestamp: f64,
    #[serde(alias = "compacted_content")]
    compacted_content: Content,
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let details = self.details.as_deref();
        let text = |value: Option<&'_ String>| value.map(|t| Cow::Owned(t.clone()));
        let ids = details
            .map(|d| &d.long_running_tool_ids[..])
            .filter(|ids| !ids.is_empty());
        EventJson {
            content: self.content.as_ref().map(Cow::Borrowed),
            partial: self.partial,
            finish_reason: details.and_then(|d| d.finish_reason.clone()),
            error_code: text(details.and_then(|d| d.error_code.as_ref())),
            error_message: text(details.and_then(|d| d.error_message.as_ref())),
            custom_metadata: self.custom_metadata(),
            usage_metadata: details.and_then(|d| d.usage),
            model_version: text(details.and_then(|d| d.model_version.as_ref())),
            grounding_metadata: details.and_then(|d| d.grounding_metadata.clone()),
            invocation_id: self.invocation_id,
            author: self.author.clone(),
            actions: (&self.actions).into(),
            long_running_tool_ids: ids.map(Cow::Borrowed),
            branch: self.branch.clone(),
            node_info: NodeInfo {
                path: self.path.to_string(),
            },
            id: self.id,
            timestamp: self.timestamp as f64 / 1e6,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = EventJson::deserialize(deserializer)?;
        // A path of another program may not parse; it becomes a single name.
        let path = wire.node_info.path;
        let mut path = path.parse().unwrap_or_else(|_| Path::root(path));
        let mut custom_metadata = wire.custom_metadata;
        // The serializer added the loop iteration that the path has, so it is removed again.
        let said = custom_metadata
            .get(LOOP_ITERATION_KEY)
            .and_then(Value::as_u64);
        if said.is_some() && said == path.iteration().map(u64::from) {
            custom_metadata.shift_remove(LOOP_ITERATION_KEY);
        }
        if let Some(branches) = custom_metadata.get(BRANCH_ORDER_KEY).and_then(branches) {
            path = path.with_branches(&branches);
            custom_metadata.shift_remove(BRANCH_ORDER_KEY);
        }
        let details = Details {
            custom_metadata,
            usage: wire.usage_metadata,
            finish_reason: wire.finish_reason,
            model_version: wire.model_version.map(Cow::into_owned),
            error_code: wire.error_code.map(Cow::into_owned),
            error_message: wire.error_message.map(Cow::into_owned),
            long_running_tool_ids: wire
                .long_running_tool_ids
                .map(Cow::into_owned)
                .unwrap_or_default(),
            grounding_metadata: wire.grounding_metadata,
            unknown: Value::Null,
        };
        Ok(Event {
            id: wire.id,
            timestamp: micros(wire.timestamp),
            invocation_id: wire.invocation_id,
            author: wire.author,
            path,
            branch: wire.branch,
            content: wire.content.map(Cow::into_owned),
            actions: wire.actions.into(),
            partial: wire.partial,
            details: (details != Details::default()).then(|| Box::new(details)),
        })
    }
}

/// Returns the branches of a path from the JSON of [`Event::custom_metadata`].
fn branches(written: &Value) -> Option<Vec<(u32, u32)>> {
    let number = |value: &Value| u32::try_from(value.as_u64()?).ok();
    let branches = written.as_object()?.iter();
    branches
        .map(|(depth, branch)| Some((depth.parse().ok()?, number(branch)?)))
        .collect()
}

impl From<&Actions> for ActionsJson {
    fn from(actions: &Actions) -> Self {
        let artifacts = actions.artifact_delta.iter();
        Self {
            skip_summarization: actions.skip_summarization,
            state_delta: actions.state_delta.clone(),
            artifact_delta: artifacts
                .map(|(name, version)| (name.to_string(), (*version).into()))
                .collect(),
            transfer_to_agent: actions.transfer_to_agent.clone(),
            agent_state: actions.agent_state.clone(),
            end_of_agent: actions.end_of_agent,
            escalate: actions.escalate,
            compaction: actions.compaction.as_ref().map(|summary| CompactionJson {
                start_timestamp: summary.start as f64 / 1e6,
                end_timestamp: summary.end as f64 / 1e6,
                compacted_content: summary.content.clone(),
            }),
        }
    }
}

impl From<ActionsJson> for Actions {
    fn from(wire: ActionsJson) -> Self {
        let artifacts = wire.artifact_delta.into_iter();
        let version = |value: Value| {
            value
                .as_u64()
                .and_then(|v| u32::try_from(v).ok())
                .unwrap_or(0)
        };
        let actions = Self::from(RareActions {
            artifact_delta: artifacts
                .map(|(name, v)| (Name::from(name), version(v)))
                .collect(),
            escalate: wire.escalate,
            skip_summarization: wire.skip_summarization,
            transfer_to_agent: wire.transfer_to_agent,
            agent_state: wire.agent_state,
            end_of_agent: wire.end_of_agent,
            compaction: wire.compaction.map(|summary| {
                Arc::new(EventCompaction {
                    start: micros(summary.start_timestamp),
                    end: micros(summary.end_timestamp),
                    content: summary.compacted_content,
                })
            }),
        });
        Self {
            state_delta: wire.state_delta,
            ..actions
        }
    }
}

impl Serialize for StateDelta {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (key, value) in self.iter() {
            map.serialize_entry(key, &**value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for StateDelta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The keys of a map are unique, so no key needs a lookup.
        let map = Map::<String, Value>::deserialize(deserializer)?;
        Ok(Self(
            map.into_iter()
                .map(|(key, value)| (Name::from(key), Arc::new(value)))
                .collect(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::At;
    use serde_json::json;

    #[test]
    fn an_event_has_the_json_shape_of_adk() {
        let place = Path::root("writing").child("refinement".into(), At::Round(2));
        let mut event = Event::new()
            .with_text("hi")
            .with_state("k", json!({"b": 1, "a": null}))
            .with_escalate();
        event.author = "critic".into();
        event.path = place.child("critic".into(), At::Once);
        event.timestamp = 1_700_000_000_123_456;
        event.actions.artifact_delta.push(("a.png".into(), 3));
        event.branch = Some("par.left".into());
        let wire = serde_json::to_value(&event).unwrap();
        assert_eq!(
            wire["content"],
            json!({"parts": [{"text": "hi"}], "role": "model"})
        );
        assert_eq!(
            wire["actions"],
            json!({
                "stateDelta": {"k": {"b": 1, "a": null}},
                "artifactDelta": {"a.png": 3},
                "escalate": true,
            })
        );
        assert_eq!(wire["nodeInfo"]["path"], "writing/refinement#2/critic");
        assert_eq!(wire["customMetadata"], json!({"loop_iteration": 1}));
        assert_eq!(wire["timestamp"], json!(1_700_000_000.123_456));
        assert!(wire.get("partial").is_none() && wire.get("errorCode").is_none());
        let back: Event = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(back.path, event.path);
        assert_eq!(serde_json::to_value(&back).unwrap(), wire);
    }
}
