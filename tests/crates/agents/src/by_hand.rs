//! Implementations of `Agent` and `Tool` that are written by hand.

use crate::data::Severity;
use adk::model::ToolDeclaration;
use adk::{
    Agent, AgentMeta, Context, Flow, Result, Tool, ToolArgs, ToolContext, ToolError, ToolMeta,
    Value, agent, json,
};

/// An agent whose name as a step is `user`. It reads and writes nothing.
#[derive(Debug, Default)]
pub struct User;

impl Agent for User {
    const META: AgentMeta<'static> = AgentMeta::custom("asker");

    async fn run(&self, _cx: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

/// Reads `severity: Severity` and, if it exists, `tone: String`; writes `severities:
/// Vec<Severity>`.
#[derive(Debug, Default)]
pub struct Escalator;

#[agent(reads(severity: Severity, tone: Option<String>), writes(severities: Vec<Severity>))]
impl Agent for Escalator {
    const META: AgentMeta<'static> =
        AgentMeta::custom("escalator").description("Looks at it once more.");

    async fn run(&self, cx: &mut Context) -> Result<Flow> {
        let severity: Option<Severity> = cx.state().get("severity")?;
        cx.state().set("severities", Vec::from_iter(severity))?;
        Ok(Flow::Continue)
    }
}

/// A tool with the name of a tool of the runtime.
#[derive(Debug)]
pub struct Handover(ToolDeclaration);

impl Default for Handover {
    fn default() -> Self {
        Self(ToolDeclaration::new(
            Self::META.name,
            Self::META.description,
            json!({"type": "object"}),
        ))
    }
}

impl Tool for Handover {
    const META: ToolMeta<'static> = ToolMeta::new("transfer_to_agent", "Hands over.");

    fn declaration(&self) -> &ToolDeclaration {
        &self.0
    }

    async fn call(&self, _: ToolArgs, _: &mut ToolContext) -> Result<Value, ToolError> {
        Ok(Value::Null)
    }
}
