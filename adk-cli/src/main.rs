//! The program `adk`: creates and audits projects, and shows, answers and cancels the runs of a
//! store.
//!
//! Exit codes: 0 success, 1 failure, 2 wrong usage, 3 not found.

mod audit;
mod client;
mod events;
mod golden;
mod mcp;
mod new;
mod output;
mod project;
mod prune;
mod runs;
mod sessions;
mod store;
mod waits;

use adk_core::{Error, ErrorKind, StoreErrorKind};
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Create projects of agent workflows and manage their runs.
#[derive(Parser)]
#[command(
    name = "adk",
    version,
    after_help = "Exit codes: 0 success, 1 failure, 2 wrong usage, 3 not found."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Create a project that runs at once, without an API key
    New(new::New),
    /// Show how text of strangers and private data flow through the workflows of this project
    Audit(audit::Audit),
    /// List runs, newest first
    Runs(runs::Runs),
    /// Show the status, usage, waits, steps and session state of a run
    Show(runs::RunArgs),
    /// Print the events of a run
    Events(events::Events),
    /// List the waits that need an answer
    Waiting(waits::List),
    /// Answer a wait; the program that resumes the run continues it
    Answer(waits::Answer),
    /// Cancel a run, even if another process drives it
    Cancel(runs::RunArgs),
    /// Delete runs that have ended long ago, with their journals and waits; sessions stay
    Prune(prune::Prune),
    /// Write a session to standard output as lines of JSON
    Export(sessions::Export),
    /// Create a session from an export on standard input
    Import(sessions::Import),
    /// List, accept or reject new versions of golden files
    Golden(golden::Golden),
    /// Write clients for a server
    #[command(subcommand)]
    Client(client::Client),
    /// Work with MCP servers
    #[command(subcommand)]
    Mcp(mcp::Mcp),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::New(new) => new.run(),
        Command::Audit(audit) => match audit.run() {
            Ok(code) => return ExitCode::from(code),
            Err(error) => Err(error),
        },
        Command::Runs(runs) => runs.run().await,
        Command::Show(run) => run.show().await,
        Command::Events(events) => events.run().await,
        Command::Waiting(list) => list.run().await,
        Command::Answer(answer) => answer.run().await,
        Command::Cancel(run) => run.cancel().await,
        Command::Prune(prune) => prune.run().await,
        Command::Export(export) => export.run().await,
        Command::Import(import) => import.run().await,
        Command::Golden(golden) => golden.run(),
        Command::Client(client::Client::Ts(ts)) => ts.run(),
        Command::Mcp(mcp::Mcp::Pull(pull)) => pull.run().await,
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // A reader of the output, such as `head`, closes the pipe when it has enough lines.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let text = with_cli_help(&error);
            let lines: Vec<_> = text.lines().map(output::printable).collect();
            eprintln!("error: {}", lines.join("\n"));
            ExitCode::from(code(error.kind()))
        }
    }
}

fn is_broken_pipe(error: &Error) -> bool {
    let source =
        std::error::Error::source(error).and_then(|source| source.downcast_ref::<std::io::Error>());
    source.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Formats an error. The help of some errors names a Rust function; this text names a command
/// instead.
fn with_cli_help(error: &Error) -> String {
    let help = match error.kind() {
        ErrorKind::UnknownRun => "`adk runs` lists the runs of the app",
        ErrorKind::UnknownWait => "`adk waiting` lists the open waits",
        ErrorKind::WrongAnswerer => {
            "pass the user who answers with `--user` and `--role`; the wait is still open"
        }
        ErrorKind::AnswerInvalid => "`adk waiting --json` has its schema; the wait is still open",
        _ => return error.to_string(),
    };
    format!("{}; help: {help}", error.message())
}

fn code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Config | ErrorKind::IdInvalid => 2,
        ErrorKind::UnknownRun
        | ErrorKind::UnknownWait
        | ErrorKind::Store(StoreErrorKind::Missing) => 3,
        _ => 1,
    }
}
