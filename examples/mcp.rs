//! Answers from the files of a folder, which an MCP server reads: `cargo run --features mcp
//! --example mcp -- "What is adk?"`.

use adk::mcp::{McpToolset, StdioServer};
use adk::prelude::*;

workflow! {
    /// Answers from files.
    #[guards(strict)]
    pub Answering(question: String) -> answer: String {
        toolset files: McpToolset as private;

        /// Reads files, and answers.
        agent reader -> answer: String {
            instruction: "Answer from the files in the folder, and say which ones you have read: \
                {question}",
            tools: [files],
            max_turns: 10,
        }

        reader
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let question = words.next().unwrap_or_else(|| "What is here?".to_owned());
    // Another program may follow the question: `-- "What is here?" npx -y
    // @modelcontextprotocol/server-filesystem docs`.
    let program = words.next().unwrap_or_else(|| "npx".to_owned());
    let mut args: Vec<String> = words.collect();
    if args.is_empty() {
        args = ["-y", "@modelcontextprotocol/server-filesystem", "."]
            .map(String::from)
            .into();
    }
    let files = McpToolset::new("files", StdioServer::new(program).args(args))
        .filter(|tool| tool.starts_with("read_text") || tool.starts_with("list_dir"))
        .prefix("files");
    let model = Rehearsal::new().with_tool_calls();
    let runner = Runner::builder().model(model).build()?;
    let answering = Answering::new(files);
    let mut stream = runner.run(&answering, question).stream();
    while let Some(event) = stream.next().await {
        let event = event?;
        for call in event.function_calls() {
            println!("{} {}", call.name, adk::json!(call.args));
        }
        for answer in event.function_responses() {
            println!(
                "{} gave {:.60}",
                answer.name,
                adk::json!(answer.response).to_string()
            );
        }
    }
    println!("{}", stream.finish().await?.output);
    Ok(())
}
