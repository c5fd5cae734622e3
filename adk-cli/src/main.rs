//! The program `adk`: makes projects, and shows, answers and cancels runs of a store.
//!
//! Exit codes: 0 fine, 1 failed, 2 wrong usage, 3 not found.

mod client;
mod events;
mod mcp;
mod new;
mod output;
mod runs;
mod sessions;
mod store;
mod waits;

use adk_core::{Error, ErrorKind, StoreErrorKind};
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Make projects of agent workflows, and look after their runs.
#[derive(Parser)]
#[command(name = "adk", version, after_help = "Exit codes: 0 fine, 1 failed, 2 wrong usage, 3 not found.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a project that runs at once, without a key
    New(new::New),
    /// List runs, the newest first
    Runs(runs::Runs),
    /// Show a run: its status, what it used, what it waits for, its steps and the state of its session
    Show(runs::OneRun),
    /// Print the events of a run
    Events(events::Events),
    /// List what waits for an answer
    Waiting(waits::List),
    /// Answer a wait; its run goes on in the program that resumes it
    Answer(waits::Answer),
    /// Cancel a run, in whatever process it is driven
    Cancel(runs::OneRun),
    /// Write a session to the standard output, as lines of JSON
    Export(sessions::Export),
    /// Make a session from the lines of an export on the standard input
    Import(sessions::Import),
    /// Write clients of a server
    #[command(subcommand)]
    Client(client::Client),
    /// Work with MCP servers
    #[command(subcommand)]
    Mcp(mcp::Mcp),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::New(new) => new.run(),
        Command::Runs(runs) => runs.run().await,
        Command::Show(one) => one.show().await,
        Command::Events(events) => events.run().await,
        Command::Waiting(list) => list.run().await,
        Command::Answer(answer) => answer.run().await,
        Command::Cancel(one) => one.cancel().await,
        Command::Export(export) => export.run().await,
        Command::Import(import) => import.run().await,
        Command::Client(client::Client::Ts(ts)) => ts.run(),
        Command::Mcp(mcp::Mcp::Pull(pull)) => pull.run().await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has seen enough, as `head` does.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", remedied(&error));
            ExitCode::from(code(error.kind()))
        }
    }
}

fn is_broken_pipe(error: &Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<std::io::Error>());
    source.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// The error as a person reads it, with a remedy of this program where the library names one of its own.
fn remedied(error: &Error) -> String {
    let help = match error.kind() {
        ErrorKind::UnknownRun => "`adk runs` lists the runs of the app",
        ErrorKind::UnknownWait => "`adk waiting` lists who waits",
        ErrorKind::WrongAnswerer => {
            "name the user who answers with `--user` and `--role`; the wait is still open"
        }
        ErrorKind::AnswerInvalid => "`adk waiting --json` has its schema; the wait is still open",
        _ => return error.to_string(),
    };
    format!("{}; help: {help}", error.message())
}

fn code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Config | ErrorKind::IdInvalid => 2,
        ErrorKind::UnknownRun | ErrorKind::UnknownWait | ErrorKind::Store(StoreErrorKind::Missing) => 3,
        _ => 1,
    }
}
