//! Parts of the runtime that the builders of trees at run time (`adk-build`) use.

pub use super::wire::LiveIf;
pub use crate::agents::ask::form::AnswerForm;
pub use crate::agents::description::{AgentDescription, DescribedTools, DescriptionParts};
pub use crate::agents::llm::LlmAgent;
pub use crate::agents::llm::agent::LlmParts;
pub use crate::agents::llm::agent::declare::ANSWER_ATTEMPTS;
pub use crate::agents::llm::agent::output::AgentOutput;
pub use crate::encode::to_json;
pub use crate::id::IdSeed;
pub use crate::runtime::tool::schema::describe_value;
pub use crate::spec::guards::{OwnedGuards, TreeRules};
pub use crate::spec::key::Key;
pub use crate::spec::schema::value_schema;
pub use crate::store::engine::now_micros;
pub use crate::{
    __agent_root as agent_root, __callback_setters as setters, __delegate_agent as delegate_agent,
};
pub use adk_spec::__private::SEES_ALL;

use crate::llm::{Compaction, IncludeContents, OutputKey};
use crate::runtime::callback::AgentCallbacks;
use crate::runtime::tool::DeclaredToolset;
use crate::runtime::workflow::{Form, Keys};
use crate::spec::{AnsweredBy, Conversation, ValueSchema};
use crate::{Await, Content, DynAgent, Name};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Creates an LLM agent.
pub fn llm_agent(parts: LlmParts) -> LlmAgent {
    LlmAgent::from_parts(parts)
}

/// Returns the error of a choice of contents, or of its combination with a compaction.
pub fn contents_fault(
    contents: IncludeContents,
    compact: Option<Compaction>,
) -> Option<&'static str> {
    contents.fault(compact)
}

/// Returns the fault of the file of a toolset.
pub fn toolset_fault(toolset: &DeclaredToolset) -> Option<String> {
    toolset.fault()
}

/// Returns the part of the conversation that a choice of contents shows.
pub fn shown(contents: IncludeContents) -> Conversation {
    contents.shown()
}

/// Returns the schema of an answer for the description of an agent.
pub fn described(output: &OutputKey) -> Option<ValueSchema> {
    output.described
}

/// Creates a step that waits for an answer of a form.
pub fn await_form(
    name: String,
    key: Key,
    question: String,
    form: AnswerForm,
    by: Option<AnsweredBy>,
    (timeout, default): (Option<Duration>, Option<Value>),
) -> Await {
    let by = (by, default.is_some());
    Await::with_form(name, key, question, form, by).with_timeout(timeout, default)
}

/// Returns whether an agent may hand over to agents of its own.
pub fn has_members(agent: &dyn DynAgent) -> bool {
    !agent.handover_dyn().agents.is_empty()
}

/// Returns whether a callback may replace the agent.
pub fn may_skip(callbacks: &AgentCallbacks) -> bool {
    callbacks.may_skip()
}

/// Adds a key with its initial value.
pub fn set_key(keys: &mut Keys, key: Name, value: Arc<Value>) {
    keys.set_shared(key, value);
}

/// Describes or reads the input of a tree: the user's text, as `message`.
pub fn form_message(form: &mut Form) -> Option<Content> {
    form.message()
}
