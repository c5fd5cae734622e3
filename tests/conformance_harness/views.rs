//! The compared values: expected and measured values in one form, without values that vary from run
//! to run.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The expectation of a case; the same form holds the measured values.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    #[serde(default)]
    pub construct_error: Option<ErrorView>,
    /// Warnings of the reference. This project rejects such trees, so only the existence of
    /// warnings is compared.
    #[serde(default)]
    pub construct_warnings: Option<Vec<String>>,
    #[serde(default)]
    pub runs: Vec<RunView>,
    #[serde(default)]
    pub persisted: Option<Vec<EventView>>,
    #[serde(default)]
    pub trace: Vec<String>,
    #[serde(default)]
    pub model_requests: Vec<RequestView>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunView {
    pub events: Vec<EventView>,
    pub error: Option<ErrorView>,
    pub state_after: Map<String, Value>,
    pub persisted_count: usize,
    #[serde(default)]
    pub stopped_by_consumer: bool,
}

/// An error. Class and message belong to the reference's language, so only the kind is compared.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorView {
    pub kind: String,
    #[serde(default)]
    pub class: Option<String>,
    #[serde(default)]
    pub message: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventView {
    pub author: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<ContentView>,
    #[serde(default, skip_serializing_if = "ActionsView::is_empty")]
    pub actions: ActionsView,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub long_running_tool_ids: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    #[serde(rename = "final")]
    pub is_final: bool,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub custom_metadata: Map<String, Value>,
    /// Fields of ADK 2's graph engine, which are optional to reproduce.
    #[serde(default, rename = "adk2", skip_serializing)]
    pub adk2: Optional,
}

/// A value that is read and equals every other value.
#[derive(Clone, Debug, Default)]
pub struct Optional;

impl PartialEq for Optional {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<'de> Deserialize<'de> for Optional {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContentView {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    pub parts: Vec<PartView>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartView {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub thought: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function_call: Option<CallView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function_response: Option<ResponseView>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallView {
    pub id: Option<String>,
    pub name: String,
    #[serde(default)]
    pub args: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResponseView {
    pub id: Option<String>,
    pub name: String,
    #[serde(default)]
    pub response: Map<String, Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionsView {
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub state_delta: Map<String, Value>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub artifact_delta: BTreeMap<String, u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalate: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip_summarization: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer_to_agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_of_agent: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_state: Option<Map<String, Value>>,
}

impl ActionsView {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A model request. The wording of prompts and of rewritten history belongs to a version of the
/// reference, so the outline is compared; the rendered instruction is compared only in cases about
/// templates.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestView {
    pub agent: String,
    pub call: usize,
    #[serde(default)]
    pub system_instruction: String,
    #[serde(default, rename = "contents")]
    wording: Optional,
    pub outline: Vec<Line>,
    pub tools: Vec<String>,
    #[serde(default)]
    pub response_schema: bool,
}

/// A text, a call or a result, with its author.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Line {
    Text(Text),
    Call(Call),
    Response(Response),
    Said(Said),
    Called(Called),
    Returned(Returned),
}

macro_rules! line {
    ($name:ident { $($field:ident),* }) => {
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $(pub $field: String,)*
        }
    };
}
line!(Text { role, text });
line!(Call { role, call });
line!(Response { role, response });
line!(Said { from, said });
line!(Called { from, called });
line!(Returned {
    from,
    tool_returned
});

impl RequestView {
    pub fn new(agent: String, call: usize, system_instruction: String) -> Self {
        let (outline, tools) = (Vec::new(), Vec::new());
        Self {
            agent,
            call,
            system_instruction,
            wording: Optional,
            outline,
            tools,
            response_schema: false,
        }
    }

    /// Returns the agent's own instruction as rendered: the text before the first blank line. The
    /// framework's text about the agent follows it.
    pub fn rendered(&self) -> &str {
        let first = self
            .system_instruction
            .split("\n\n")
            .next()
            .unwrap_or_default();
        if first.starts_with("You are an agent.") {
            ""
        } else {
            first
        }
    }
}

impl Expect {
    /// Returns the expectations as written: first the newest reference, then the references with
    /// other behaviour.
    pub fn raw_expectations(case: &super::format::Case) -> Vec<(String, Map<String, Value>)> {
        let name = case.generated_with.as_deref().unwrap_or("the expectation");
        let newest = (name.to_owned(), case.expect.clone());
        let older = case.variants.iter();
        let older =
            older.map(|(name, variant)| (name.clone(), apply_variant(&case.expect, variant)));
        std::iter::once(newest).chain(older).collect()
    }

    /// Parses the expectations.
    ///
    /// # Errors
    /// An expectation has an unknown field.
    pub fn all(case: &super::format::Case) -> Result<Vec<(String, Self)>, String> {
        let read = |(name, fields): (String, Map<String, Value>)| {
            let expect = serde_json::from_value(Value::Object(fields));
            expect
                .map(|expect| (name.clone(), expect))
                .map_err(|error| format!("{name}: {error}"))
        };
        Self::raw_expectations(case).into_iter().map(read).collect()
    }
}

/// Applies a variant, which contains only the differences. A tree that cannot be built has no runs,
/// and an expectation with runs has a tree.
fn apply_variant(expect: &Map<String, Value>, variant: &Map<String, Value>) -> Map<String, Value> {
    if variant
        .get("construct_error")
        .is_some_and(|error| !error.is_null())
    {
        return variant.clone();
    }
    let mut all = expect.clone();
    if variant.contains_key("runs") {
        all.remove("construct_error");
    }
    all.extend(variant.clone());
    all
}
