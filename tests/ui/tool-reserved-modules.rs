use adk::prelude::*;

mod tools {
    use adk::model::ToolDeclaration;
    use adk::{Result, Tool, ToolArgs, ToolContext, ToolError, ToolMeta, Value};

    #[derive(Default)]
    pub struct Handover;

    impl Tool for Handover {
        const META: ToolMeta<'static> = ToolMeta::new("transfer_to_agent", "Hands over.");

        fn declaration(&self) -> &ToolDeclaration {
            unimplemented!()
        }

        async fn call(&self, _: ToolArgs, _: &mut ToolContext) -> Result<Value, ToolError> {
            unimplemented!()
        }
    }
}

workflow! {
    pub Writing() {
        agent critic { instruction: "Review.", tools: [adk::tools::exit_loop, tools::Handover] }
        loop(max = 2) < critic >
    }
}

fn main() {}
