//! Implementations of `Agent` and `Tool` by hand.

use adk::model::ToolDeclaration;
use adk::{
    Agent, AgentMeta, Context, Flow, Result, Tool, ToolArgs, ToolContext, ToolError, ToolMeta, Value, json,
};

/// An agent whose name as a step is `user`; reads and writes nothing.
#[derive(Debug, Default)]
pub struct User;

impl Agent for User {
    const META: AgentMeta<'static> = AgentMeta::custom("asker");

    async fn run(&self, _cx: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

/// A tool with a name that the runtime gives to a tool of its own.
#[derive(Debug)]
pub struct Handover(ToolDeclaration);

impl Default for Handover {
    fn default() -> Self {
        Self(ToolDeclaration::new(Self::META.name, Self::META.description, json!({"type": "object"})))
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
