//! @iqai/adk's search and verify: a searcher finds information with a tool, a verifier decides
//! whether it is enough.
//!
//! ```text
//! cargo run --features mcp --example search_verify -- "Who built the first bicycle?"
//! ```
//!
//! With `--mcp "npx -y @modelcontextprotocol/server-filesystem docs"` the searcher also gets those
//! tools of that MCP server that only read.

mod cli;

use adk::mcp::{McpToolset, StdioServer};
use adk::prelude::*;
use adk::{BoxFuture, DynTool, ReadonlyContext, Toolset};
use clap::Parser;
use std::process::ExitCode;
use std::sync::Arc;

/// The searchable texts. A real tool would query a search engine, hence its labels.
const LIBRARY: [&str; 5] = [
    "Karl Drais showed his running machine, a bicycle without pedals, in Mannheim in 1817.",
    "Pierre Michaux built bicycles with pedals on the front wheel in Paris from 1861.",
    "The safety bicycle of John Kemp Starley (1885) has two wheels of one size and a chain.",
    "John Boyd Dunlop made the first practical pneumatic tyre in 1888.",
    "The derailleur was in use in France before it was allowed in the Tour de France in 1937.",
];

/// Searches for information.
#[tool(untrusted, sends)]
fn search(
    /// What to look for, in a few words.
    query: &str,
) -> Vec<&'static str> {
    let words: Vec<_> = query
        .split(|c: char| !c.is_alphanumeric())
        .map(str::to_lowercase)
        .collect();
    let about = |text: &&str| {
        let text = text.to_lowercase();
        words
            .iter()
            .filter(|word| word.len() > 3)
            .any(|word| text.contains(word.as_str()))
    };
    LIBRARY.into_iter().filter(about).collect()
}

/// The tools of an MCP server, or none.
#[derive(Debug)]
pub struct Pages(Option<McpToolset>);

impl Toolset for Pages {
    fn name(&self) -> &str {
        "pages"
    }

    fn tools<'a>(
        &'a self,
        cx: &'a ReadonlyContext,
    ) -> BoxFuture<'a, Result<Vec<Arc<dyn DynTool>>>> {
        match &self.0 {
            Some(server) => server.tools(cx),
            None => Box::pin(async { Ok(Vec::new()) }),
        }
    }
}

/// Whether a tool only reads, by its name. The label of the toolset relies on it.
fn only_reads(tool: &str) -> bool {
    ["read", "list", "search", "get"]
        .iter()
        .any(|verb| tool.starts_with(verb))
}

workflow! {
    /// Searches until what was found answers the question.
    #[guards(strict)]
    pub SearchVerify(question: String) -> search_results: String {
        toolset pages: Pages as untrusted;

        /// Searches for information.
        agent searcher -> search_results: String {
            include_contents: none,
            instruction: "Search for what answers this question, and write down what you found, \
                with nothing from your own memory: {question}\n\nWhat was missing the last time, \
                if anything: {gaps?}",
            tools: [search, pages],
        }

        /// Verifies information.
        agent verifier -> gaps: String {
            include_contents: none,
            instruction: "Do these results answer the question? If they are sufficient, call \
                `exit_loop`. If not, say what is missing.\n\nQuestion: {question}\n\nResults:\n\
                {search_results}",
            tools: [adk::tools::exit_loop],
        }

        searching: loop(max = 5) < searcher; verifier >
    }
}

#[derive(Debug, Parser)]
struct Args {
    #[command(flatten)]
    cli: cli::Cli,
    /// The command of an MCP server whose tools the searcher gets as well
    #[arg(long, value_name = "COMMAND")]
    mcp: Option<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(
        work(&cli::read(
            &SearchVerify::SPEC,
            "QUESTION",
            "What to find out",
        ))
        .await,
    )
}

async fn work(Args { cli, mcp }: &Args) -> Result<()> {
    let input = cli.input()?;
    let runner = cli.runner("search_verify", Rehearsal::new())?;
    let mut words = mcp.iter().flat_map(|command| command.split_whitespace());
    let server = words.next().map(|program| {
        let server = StdioServer::new(program).args(words);
        McpToolset::new("mcp", server).filter(only_reads)
    });
    let workflow = SearchVerify::new(Pages(server));
    let outcome = cli.show(runner.run(&workflow, input).stream()).await?;
    cli.result(&outcome.output)?;
    outcome.loops.iter().try_for_each(|end| cli.note(end))
}
