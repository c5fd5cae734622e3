//! A desk that answers from a folder of notes: tools of an MCP server, traces over OTLP, a fallback
//! model, and a budget in money. Without `MODEL` it uses a script and calls no provider.

use adk::llm::FALLBACK_KEY;
use adk::mcp::{McpToolset, StdioServer};
use adk::model::{ModelErrorKind, ModelRef};
use adk::otel::Otel;
use adk::prelude::*;
use adk::spec::{Price, Prices};
use adk::testing::{Reply, ScriptedModel};
use std::env;

/// What the desk says.
#[data]
pub struct Advice {
    /// The answer, in a sentence or two.
    pub answer: String,
    /// The files that it comes from.
    pub sources: Vec<String>,
}

/// Opens a ticket for what the notes do not say.
#[tool(acts)]
fn open_ticket(question: &str) -> String {
    format!("ticket 1: {question}")
}

workflow! {
    /// Answers from notes, and checks the answer.
    #[bounds(model_calls = 16, tokens = 200_000)]
    #[guards(strict)]
    pub Desk(question: String, folder: String) -> (reply: Advice, verdict: String) {
        toolset files: McpToolset = include!("files.mcp.json");

        /// Reads notes.
        agent reader -> findings: String {
            instruction: "Find in the notes in {folder} what answers this: {question}",
            tools: [files, open_ticket],
            max_turns: 6,
            max_output_tokens: 600,
            timeout: "1m",
        }
        /// Writes the answer.
        agent clerk -> reply: Advice {
            instruction: "Answer {question} by these findings: {findings}. Mind this: {verdict?}",
            max_output_tokens: 300,
        }
        /// Checks it.
        agent checker -> verdict: String {
            instruction: "Say `good`, or what is wrong with {reply} as an answer to {question}.",
            max_output_tokens: 100,
        }

        reader;
        checking: loop(max = 2, budget = "0.10 USD") < clerk; checker; content >
    }
}

/// Ends the loop once the checker is content.
#[agent(local)]
fn content(verdict: &str) -> Flow {
    Flow::exit_if(verdict.contains("good"))
}

fn script(folder: &str) -> ScriptedModel {
    let list = Reply::new().call("files_list_directory", json!({"path": folder}));
    let path = json!({"path": format!("{folder}/kettle.md")});
    let read = Reply::new().call("files_read_text_file", path);
    let reply = json!({"answer": "On the first Monday.", "sources": ["kettle.md"]});
    let model = ScriptedModel::new().on("reader").reply(list.usage(900, 40));
    let model = model.reply(read.usage(1_000, 40)).text("The first Monday.");
    let model = model
        .on("clerk")
        .reply(Reply::new().json(reply).usage(200, 30));
    model.on("checker").text("good")
}

#[tokio::main]
async fn main() -> Result<()> {
    let var = |name: &str, default: &str| env::var(name).unwrap_or_else(|_| default.to_owned());
    let _otel = Otel::install("desk")?;
    let folder = var(
        "NOTES",
        concat!(env!("CARGO_MANIFEST_DIR"), "/examples/notes_desk/notes"),
    );
    let server = var(
        "MCP_SERVER",
        "npx -y @modelcontextprotocol/server-filesystem",
    );
    let mut server = server.split_whitespace();
    let program = StdioServer::new(server.next().unwrap_or_default());
    let files = McpToolset::new("files", program.args(server.chain([&*folder])))
        .filter(|tool| ["read_text_file", "list_directory"].contains(&tool))
        .prefix("files");

    let broken = ScriptedModel::new().error(ModelErrorKind::Unavailable, "overloaded");
    let scripted = script(&folder);
    let model = env::var("MODEL").map_or_else(|_| broken.repeat_last().into(), ModelRef::from);
    let fallback = env::var("FALLBACK").map_or_else(|_| scripted.into(), ModelRef::from);
    let price = Price::per_million("3", "15")?.longest(200_000, 64_000);
    let prices = Prices::published().model("scripted", price);
    println!("{}", Desk::SPEC.quote(&prices, &var("MODEL", "scripted")));

    let runner = Runner::builder().model(model).fallback([fallback]);
    let runner = runner.prices(prices).build()?;
    let config = RunConfig::new().budget(var("BUDGET", "0.50 USD").parse()?);
    let question = var("QUESTION", "When is the kettle descaled?");
    let (desk, input) = (Desk::new(files), DeskInput { question, folder });
    let mut run = runner.run(&desk, input).config(config).stream();
    while let Some(event) = run.next().await {
        let event = event?;
        if let Some(told) = event.metadata(FALLBACK_KEY) {
            println!("{}: {told}", event.path);
        }
        for call in event.function_calls() {
            println!("{}: {} {}", event.path, call.name, json!(call.args));
        }
        for told in event.function_responses() {
            println!("  {:.70}", json!(told.response).to_string());
        }
    }
    let Outcome { output, usage, .. } = run.finish().await?;
    println!("{} {:?}", output.reply.answer, output.reply.sources);
    println!(
        "{}: {} for {} calls",
        output.verdict, usage.cost, usage.calls
    );
    Ok(())
}
