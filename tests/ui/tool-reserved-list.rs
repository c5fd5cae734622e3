use adk::model::ToolDeclaration;
use adk::prelude::*;
use adk::{Tool, ToolArgs, ToolError, ToolMeta};

#[derive(Default)]
struct Handover;

impl Tool for Handover {
    const META: ToolMeta<'static> = ToolMeta::new("transfer_to_agent", "Hands over.");
    fn declaration(&self) -> &ToolDeclaration {
        unimplemented!()
    }
    async fn call(&self, _: ToolArgs, _: &mut ToolContext) -> Result<serde_json::Value, ToolError> {
        unimplemented!()
    }
}

workflow! {
    pub Writing() {
        agent critic { instruction: "Review.", tools: [adk::tools::exit_loop, Handover] }
        loop(max = 2) < critic >
    }
}

fn main() {}
