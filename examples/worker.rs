//! A worker that survives its own death. Each input line starts a run. You can kill and restart the
//! worker at any time.
//!
//! ```sh
//! cargo run --features sqlite --example worker -- work          # type topics; kill and restart it
//! cargo run --features sqlite --example worker -- list          # the runs that have not ended
//! cargo run --features sqlite --example worker -- cancel e-...  # from any process
//! ```

use adk::engine::RunFilter;
use adk::prelude::*;
use adk::sqlite::SqliteStore;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Checks the facts of a draft.
#[agent(writes = facts, timeout = "1m")]
async fn check_facts(draft: &str) -> String {
    // A real check takes time, too. A recorded result is not computed again.
    tokio::time::sleep(Duration::from_secs(2)).await;
    format!("{} facts are right", draft.len())
}

workflow! {
    /// Writes an article.
    pub Reporting(topic: String) -> article: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent editor -> article: String { instruction: "Correct {draft}. The facts: {facts}" }

        writer; check_facts; editor
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let file = std::env::var("DATABASE").unwrap_or_else(|_| "worker.db".to_owned());
    let store = SqliteStore::open(file).await?;
    let runner = Runner::builder().model(Rehearsal::new()).store(store);
    // The workflows that this process can resume.
    let runner = runner.workflow(Reporting::default()).build()?;
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["work"] => work(&runner).await,
        ["list"] => list(&runner).await,
        ["cancel", run] => runner.cancel(run.parse()?).await.map(drop),
        _ => Err(Error::other(
            "unknown command; help: use `work`, `list` or `cancel RUN`",
        )),
    }
}

async fn work(runner: &Runner) -> Result<()> {
    // Resumes the runs of an earlier process, and runs that were answered or released.
    let watch = runner.watch().inspect(|run| match run.result {
        Ok(_) => println!("{} was resumed and has ended", run.run_id),
        Err(error) => println!("{} has failed: {error}", run.run_id),
    });
    let watch = tokio::spawn(async move { watch.await });
    let (send, mut topics) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        std::io::stdin()
            .lines()
            .map_while(Result::ok)
            .try_for_each(|line| send.send(line))
    });
    let workflow = Arc::new(Reporting::default());
    let mut runs = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            Some(topic) = topics.recv() => {
                let run = runner.run(workflow.clone(), topic);
                drop(runs.spawn(run.into_future()));
            }
            Some(run) = runs.join_next() => match run {
                Ok(Ok(outcome)) => println!("{}: {}", outcome.run_id, outcome.output),
                Ok(Err(error)) => println!("{error}"),
                Err(error) => println!("{error}"),
            },
            else => break,
        }
    }
    watch.abort();
    Ok(())
}

async fn list(runner: &Runner) -> Result<()> {
    for run in runner.runs(&RunFilter::default()).await? {
        println!("{} {} {:?}", run.run_id, run.workflow, run.status);
    }
    Ok(())
}
