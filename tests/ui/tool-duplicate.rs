use adk::prelude::*;

/// Searches the web.
#[tool]
fn search(query: String) -> String {
    query
}

/// Searches the web again.
#[tool(name = "search")]
fn again(query: String) -> String {
    query
}

workflow! {
    pub Writing() {
        agent critic { instruction: "Review.", tools: [search, again] }
        agent writer { instruction: "Write.", tools: [search, search] }

        critic;
        writer
    }
}

/// A toolset.
struct Files;

impl adk::Toolset for Files {
    fn name(&self) -> &str {
        "files"
    }

    fn tools<'a>(
        &'a self,
        _: &'a adk::ReadonlyContext,
    ) -> adk::BoxFuture<'a, Result<Vec<std::sync::Arc<dyn adk::DynTool>>>> {
        unimplemented!()
    }
}

/// The file that `adk mcp pull` writes.
const FILE: &str = r#"{"names": ["read", "search"], "tools": []}"#;

workflow! {
    pub Reading() {
        toolset files: Files = FILE;
        agent critic { instruction: "Review.", tools: [search, files], max_turns: 2 }

        critic
    }
}

fn main() {}
