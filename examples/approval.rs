//! A run that waits for the decision of a person. One process writes the draft and stores the run;
//! another process reads the decision, even days later, and continues the run. You may kill either
//! process at any moment without losing data.
//!
//! ```sh
//! # Asks, and waits for the answer; Ctrl-C or kill it.
//! cargo run --features sqlite --example approval -- draft "a cat"
//! # The open waits, with their questions.
//! cargo run --features sqlite --example approval -- list
//! cargo run --features sqlite --example approval -- revise "shorter"  # or `publish`, or `drop`
//! ```
//!
//! The store is a SQLite file, or a Postgres database with `--store postgres://...` (feature
//! `postgres`). With `--restate URL` (feature `restate`) the program only begins and answers runs,
//! and programs with `worker ADDRESS` execute them: docs/restate.md.

use adk::prelude::*;
use adk::sqlite::SqliteStore;
use adk::{Error, ErrorKind, RunEnd, Store, Waiting};
use clap::{Parser, Subcommand};
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

/// The decision of an editor.
#[adk::data]
pub enum Decision {
    /// As it is.
    Publish,
    /// Once more, with this in mind.
    Revise {
        /// What to change.
        note: String,
    },
    /// Not at all.
    Drop,
}

/// Publishes the draft.
#[agent(writes = post, acts)]
fn publish(draft: &str) -> String {
    // A real agent would send the draft to a web site.
    draft.to_owned()
}

/// Leaves it at that.
#[agent(writes = post)]
fn forget() -> String {
    "(nothing was published)".to_owned()
}

workflow! {
    /// Drafts a post, and publishes it when an editor agrees.
    pub Approval(topic: String) -> post: String {
        /// Writes the draft.
        agent writer -> draft: String {
            instruction: "Write a post of two sentences about {topic}.",
        }

        /// Changes the draft as the editor wants it.
        agent reviser -> post: String {
            instruction: "Change this post as the editor says: {draft} The editor says: {decision}",
        }

        writer;
        /// May this be published? {draft}
        await(timeout = "72h", default = Decision::Drop) decision: Decision;
        match decision <
            Decision::Publish => publish,
            Decision::Revise { .. } => reviser,
            Decision::Drop => forget
        >
    }
}

#[derive(Parser)]
#[command(about = "Drafts a post, and publishes it when an editor agrees")]
struct Cli {
    /// Where runs are kept: a file, or the URL of a Postgres database
    #[arg(
        long,
        value_name = "FILE",
        default_value = "approval.db",
        global = true
    )]
    store: String,
    /// The Restate server that has the runs executed; without one this process does it
    #[cfg(feature = "restate")]
    #[arg(long, value_name = "URL", global = true)]
    restate: Option<String>,
    /// The model, such as gemini-2.5-flash; without one it rehearses
    #[arg(long, value_name = "NAME", global = true)]
    model: Option<String>,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Write a draft, ask, and wait for the decision
    Draft { topic: String },
    /// Show who waits
    List,
    /// Publish the oldest draft
    Publish,
    /// Have the oldest draft changed
    Revise { note: String },
    /// Drop the oldest draft
    Drop,
    /// Execute runs for a Restate server, which reaches this process at ADDRESS
    #[cfg(feature = "restate")]
    Worker { address: std::net::SocketAddr },
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run(Cli::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(cli: Cli) -> Result<()> {
    let workflow = Arc::new(Approval::default());
    let runner = runner(&cli, workflow.clone()).await?;
    match cli.what {
        What::Draft { topic } => draft(&runner, &workflow, topic).await,
        What::List => runner.waiting().await?.iter().try_for_each(show),
        What::Publish => decide(&runner, Decision::Publish).await,
        What::Revise { note } => decide(&runner, Decision::Revise { note }).await,
        What::Drop => decide(&runner, Decision::Drop).await,
        #[cfg(feature = "restate")]
        What::Worker { address } => {
            adk::restate::endpoint(&runner)
                .workflow(Approval::default())
                .serve(address)
                .await
        }
    }
}

/// Returns a runner with the store that `--store` names; with `--restate`, Restate executes its
/// runs.
async fn runner(cli: &Cli, workflow: Arc<Approval>) -> Result<Runner> {
    #[cfg(feature = "postgres")]
    if cli.store.starts_with("postgres://") {
        let store = adk::postgres::PostgresStore::connect(&cli.store).await?;
        return with_store(store, cli, workflow);
    }
    with_store(SqliteStore::open(&cli.store).await?, cli, workflow)
}

fn with_store(store: impl Store, cli: &Cli, workflow: Arc<Approval>) -> Result<Runner> {
    let builder = Runner::builder().workflow(workflow);
    let builder = match &cli.model {
        Some(model) => builder.model(model.as_str()),
        None => builder.model(Rehearsal::new()),
    };
    #[cfg(feature = "restate")]
    if let Some(url) = &cli.restate {
        return builder
            .store(adk::restate::Restate::new(url, store)?)
            .build();
    }
    builder.store(store).build()
}

/// Executes the run up to its question, then resumes each run of this store that has an answer.
async fn draft(runner: &Runner, workflow: &Approval, topic: String) -> Result<()> {
    let mut stream = runner.run(workflow, topic).stream();
    while let Some(event) = stream.next().await {
        event?;
    }
    if let RunEnd::Paused(waiting) = stream.end() {
        waiting.iter().try_for_each(show)?;
    }
    if runner.engine().driver().is_some() {
        // A worker continues the run, also without this process.
        return Ok(());
    }
    say("Waiting for a decision. It may come from another process, and this one may be killed.")?;
    let watch = runner.watch().inspect(|run| {
        let _ = match run.result {
            Ok(waiting) if waiting.is_empty() => say(&format!("run {} has ended", run.run_id)),
            Ok(waiting) => waiting.iter().try_for_each(show),
            Err(error) => say(&format!("run {} has failed: {error}", run.run_id)),
        };
    });
    Err(watch.await)
}

/// Answers the oldest question, and resumes its run.
async fn decide(runner: &Runner, decision: Decision) -> Result<()> {
    let waiting = runner.waiting().await?;
    let Some(oldest) = waiting.first() else {
        return Err(Error::other("no run waits for a decision"));
    };
    runner.answer(&oldest.id, decision).await?;
    // A process that watches may have resumed the run already.
    for run in runner.recover().await? {
        run.result?;
    }
    match runner.resume(&Approval::default(), oldest.run_id).await {
        Ok(outcome) => say(&outcome.output),
        Err(error) if error.kind() == ErrorKind::RunBusy => {
            say("The process that began it goes on.")
        }
        Err(error) => Err(error),
    }
}

fn show(waiting: &Waiting) -> Result<()> {
    say(&format!("{}\n  {}", waiting.question, waiting.id))
}

fn say(text: &str) -> Result<()> {
    writeln!(std::io::stdout(), "{text}").map_err(Error::other)
}
