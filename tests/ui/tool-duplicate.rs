use adk::model::ToolDeclaration;
use adk::prelude::*;
use adk::{Tool, ToolArgs, ToolError, ToolMeta};

macro_rules! tool {
    ($ty:ident, $name:literal) => {
        #[derive(Default)]
        struct $ty;

        impl Tool for $ty {
            const META: ToolMeta<'static> = ToolMeta::new($name, "");
            fn declaration(&self) -> &ToolDeclaration {
                unimplemented!()
            }
            async fn call(&self, _: ToolArgs, _: &mut ToolContext) -> Result<serde_json::Value, ToolError> {
                unimplemented!()
            }
        }
    };
}
tool!(Search, "search");
tool!(SearchAgain, "search");
tool!(Transfer, "transfer_to_agent");
tool!(Good, "good");

workflow! {
    pub Writing() {
        agent critic { instruction: "Review.", tools: [Search, Good, SearchAgain, Good, Transfer] }
        agent writer { instruction: "Write.", tools: [Search] }
        critic;
        critic as second;
        writer
    }
}

adk::llm_agent! { pub lone { instruction: "Think.", tools: [Search, self::Search] } }

fn main() {}
