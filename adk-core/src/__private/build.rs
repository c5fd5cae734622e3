//! Parts of the runtime that the builders of trees at run time (`adk-build`) use.

pub use super::wire::LiveIf;
pub use crate::agents::ask::AnswerForm;
pub use crate::agents::description::{AgentDescription, DescriptionParts};
pub use crate::agents::llm::{ANSWER_ATTEMPTS, AgentOutput, LlmAgent, LlmParts};
pub use crate::encode::to_json;
pub use crate::id::IdSeed;
pub use crate::runtime::callback::setters;
pub use crate::runtime::tool::schema::describe_value;
pub use crate::runtime::workflow::agent_root::agent_root;
pub use crate::spec::{Key, schema};
pub use crate::store::engine::now_micros;
