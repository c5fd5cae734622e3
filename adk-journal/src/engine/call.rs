//! [`StepKey`]: the key of a recorded call. [`CallKind`] is the kind of the call, [`CallInputs`]
//! its inputs.

use crate::encode::to_json;
use crate::{Name, Path, RunId};
use hmac_sha256::Hash;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// The kind of a recorded call. Each kind has names of its own in the keys of records, so a call of
/// one kind never replays the record of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallKind {
    /// The model of an agent.
    Model,
    /// The model that summarises a conversation.
    Summary,
    /// A tool, by its name. A call of a tool that the agent does not have is recorded too.
    Tool,
    /// The part of a tool call before a person is asked: callbacks, and whether the tool asks at
    /// all.
    Confirmation,
    /// A function agent.
    Function,
    /// `Context::step` of an agent.
    Step,
    /// `CallbackContext::step` of a callback or plugin.
    Callback,
    /// A function that makes an instruction.
    Instruction,
    /// An artifact that a prompt shows.
    LoadArtifact,
    /// An artifact that an agent or a callback saves.
    SaveArtifact,
    /// The names of all artifacts.
    ListArtifacts,
    /// A search in the memory of the user.
    Memory,
    /// The tools that the toolsets of an agent offer.
    Toolsets,
    /// An event that is the result of a call.
    Event,
    /// The messages of people in a live run.
    Live,
    /// An update of state that has failed.
    Update,
    /// A value from outside.
    Wait,
    /// A decision of a block: the winner of a race, the end of an attempt, the start of a limit.
    Block,
    /// A pause or a limit.
    Timer,
}

impl CallKind {
    /// Returns the first part of the call's name in its key. Kinds without a prefix have fixed
    /// names.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Tool => "tool.",
            Self::Confirmation => "confirm.",
            Self::Step => "step.",
            Self::Callback => "callback.",
            Self::LoadArtifact => "artifact.",
            Self::SaveArtifact => "save.",
            Self::Update => "update/",
            Self::Model
            | Self::Summary
            | Self::Function
            | Self::Instruction
            | Self::ListArtifacts
            | Self::Memory
            | Self::Toolsets
            | Self::Event
            | Self::Live
            | Self::Wait
            | Self::Block
            | Self::Timer => "",
        }
    }
}

/// The key of a recorded call or a wait. Stores keep it as text:
/// `writing/refinement#2/critic:model@0`, `desk/clerk:tool.pay@1`.
///
/// The number counts the calls of this kind and name at this path, so a call that a later version
/// of the program adds or removes moves no other call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepKey {
    /// The run.
    pub run_id: RunId,
    /// The path of the agent that calls, with rounds.
    pub path: Path,
    /// The call of a tool that is an agent, if the call is made inside that tool:
    /// `tool.reviewer@1`.
    pub within: Option<Box<Name>>,
    /// The kind of the call.
    pub kind: CallKind,
    /// The name of the tool, step or artifact; a fixed name for other kinds.
    pub name: Name,
    /// The number of earlier calls of this kind and name at this path.
    pub index: u32,
}

impl StepKey {
    /// Creates the key of a call that is not made inside a tool call.
    pub fn new(
        run_id: RunId,
        path: Path,
        kind: CallKind,
        name: impl Into<Name>,
        index: u32,
    ) -> Self {
        Self {
            run_id,
            path,
            within: None,
            kind,
            name: name.into(),
            index,
        }
    }

    /// Returns the key with its run, unique over all runs: `e-0190.../writing/critic:model@0`. It
    /// is the id of a wait, and makes a side effect idempotent.
    pub fn id(&self) -> String {
        format!("{}/{self}", self.run_id)
    }

    /// Returns the key without run and path: `tool.pay@1`.
    pub fn call(&self) -> CallLabel<'_> {
        CallLabel {
            within: self.within.as_ref().map(|within| &***within),
            kind: self.kind,
            name: &self.name,
            index: self.index,
        }
    }
}

impl fmt::Display for StepKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path, self.call())
    }
}

/// The text of a call after its path.
#[derive(Debug)]
pub struct CallLabel<'a> {
    /// The key of the call around a nested run.
    pub within: Option<&'a str>,
    /// The kind.
    pub kind: CallKind,
    /// The name.
    pub name: &'a str,
    /// The number among the calls of this kind and name.
    pub index: u32,
}

impl fmt::Display for CallLabel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(within) = self.within {
            write!(f, "{within}/")?;
        }
        write!(f, "{}{}@{}", self.kind.prefix(), self.name, self.index)
    }
}

/// The inputs of a call, in the form that its record keeps. Boxed, because the futures of calls
/// hold it several times. It is empty if nothing is recorded, or if the runtime does not see the
/// inputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallInputs(Option<Box<KnownInputs>>);

#[derive(Clone, Debug, PartialEq)]
struct KnownInputs {
    digest: Digest,
    model: Option<Name>,
    /// Boxed, because few engines read it.
    value: Option<Box<Value>>,
    is_derived: bool,
}

impl CallInputs {
    /// Returns the inputs of a call with these arguments. `keeps` says whether they are kept beside
    /// their digest, for an engine that [reads inputs](super::Journal::reads_inputs).
    pub fn new(inputs: &impl Serialize, keeps: bool) -> Self {
        let value = to_json(inputs).unwrap_or_default();
        Self(Some(Box::new(KnownInputs {
            digest: Digest::of_json(&value),
            model: None,
            value: keeps.then(|| Box::new(value)),
            is_derived: false,
        })))
    }

    /// Sets the model that is called.
    #[must_use]
    pub fn for_model(mut self, model: &str) -> Self {
        if let Some(known) = &mut self.0 {
            known.model = Some(Name::shared(model));
        }
        self
    }

    /// Marks a call whose result follows from its inputs and from other recorded calls: a plain
    /// function, or an agent that is used as a tool. A replay may make such a call again.
    #[must_use]
    pub fn derived(mut self, yes: bool) -> Self {
        if let Some(known) = &mut self.0 {
            known.is_derived = yes;
        }
        self
    }

    /// Returns the digest of the inputs.
    pub fn digest(&self) -> Option<Digest> {
        self.0.as_ref().map(|known| known.digest)
    }

    /// Returns the name of the model.
    pub fn model(&self) -> Option<&Name> {
        self.0.as_ref()?.model.as_ref()
    }

    /// Returns the inputs as JSON, if the engine [reads inputs](super::Journal::reads_inputs).
    ///
    /// For a call of a model it is a list: system instruction, contents without call ids, tools,
    /// schema of the answer, settings, and names of the models.
    pub fn value(&self) -> Option<&Value> {
        self.0.as_ref()?.value.as_deref()
    }

    /// Returns whether the result follows from the inputs and from other recorded calls.
    pub fn is_derived(&self) -> bool {
        self.0.as_ref().is_some_and(|known| known.is_derived)
    }
}

/// 16 bytes of SHA-256 over the canonical JSON of inputs: objects with sorted keys, no spaces.
/// Models and strangers choose some inputs, so the hash must be collision-resistant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest([u8; 16]);

impl Digest {
    /// Returns the digest of a value; a value without a form in JSON counts as null.
    pub fn new(value: &impl Serialize) -> Self {
        Self::of_json(&to_json(value).unwrap_or_default())
    }

    fn of_json(value: &Value) -> Self {
        let mut hash = Hash::new();
        hash_value(&mut hash, value);
        let mut digest = [0; 16];
        digest.copy_from_slice(&hash.finalize()[..16]);
        Self(digest)
    }
}

/// Adds the canonical JSON of a value. The depth of all values that come here is limited.
fn hash_value(hash: &mut Hash, value: &Value) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            hash.update(b"{");
            for (at, (key, value)) in entries.into_iter().enumerate() {
                hash.update(if at == 0 { "" } else { "," });
                hash.update(Value::from(key.as_str()).to_string());
                hash.update(b":");
                hash_value(hash, value);
            }
            hash.update(b"}");
        }
        Value::Array(list) => {
            hash.update(b"[");
            for (at, value) in list.iter().enumerate() {
                hash.update(if at == 0 { "" } else { "," });
                hash_value(hash, value);
            }
            hash.update(b"]");
        }
        scalar => hash.update(scalar.to_string()),
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_digest_does_not_depend_on_the_order_of_keys() {
        let digest = |value: Value| Digest::new(&value).to_string();
        assert_eq!(
            digest(json!({"a": 1, "b": [true, null]})),
            digest(json!({"b": [true, null], "a": 1}))
        );
        let others = [
            json!({"a": 1}),
            json!({"a": "1"}),
            json!([1, 2]),
            json!([12]),
            json!([[1], 2]),
            json!("a"),
            json!(null),
        ];
        let digests: std::collections::HashSet<_> = others.into_iter().map(digest).collect();
        assert_eq!(digests.len(), 7);
        // `printf '{"a":1}' | sha256sum`
        assert_eq!(digest(json!({"a": 1})), "015abd7f5cc57a2dd94b7590f04ad808");
    }

    #[test]
    fn a_key_names_kind_and_call() {
        let key =
            |kind, name: &'static str| StepKey::new(RunId::new(), Path::root("w"), kind, name, 2);
        assert_eq!(key(CallKind::Model, "model").to_string(), "w:model@2");
        assert_eq!(key(CallKind::Tool, "model").to_string(), "w:tool.model@2");
        let within = StepKey {
            within: Some(Box::new("tool.clerk@1".into())),
            ..key(CallKind::Step, "look")
        };
        assert_eq!(within.to_string(), "w:tool.clerk@1/step.look@2");
    }
}
