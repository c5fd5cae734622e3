//! Works on the elements of a list, is stopped, and continues: `cargo run --example elements`.

use adk::prelude::*;
use adk::{Error, Event, InMemoryStore, LifecyclePhase, RunId};

/// Counts the lines of a file. Some files cannot be read.
#[agent(writes = lines)]
async fn count(file: String) -> Result<usize> {
    if file.starts_with("lost") {
        return Err(Error::other(format!("`{file}` does not exist")));
    }
    Ok(file.len())
}

/// Adds the numbers. Inside of the `each` the key `lines` is a number, after it a list.
#[agent(writes = sum)]
fn add(lines: Vec<usize>) -> usize {
    lines.iter().sum()
}

workflow! {
    /// Counts the lines of files.
    pub Counting(files: Vec<String>) -> sum: usize {
        files: each(max_concurrency = 2, on_error = skip(max = "25 %")) file in files < count >
        add
    }
}

/// Formats the progress of the `each`, and the stored events of its elements with their keys.
fn line(event: &Event) -> Option<String> {
    match event.lifecycle() {
        Some(lifecycle) => matches!(lifecycle.phase, LifecyclePhase::Progress { .. })
            .then(|| format!("{}: {lifecycle}", event.path)),
        None => {
            let written = event.actions.state_delta.iter();
            let written = written.map(|(key, value)| format!(" {key}={value}"));
            Some(format!("{}:{}", event.path, written.collect::<String>()))
        }
    }
}

fn runner(store: &InMemoryStore) -> Result<Runner> {
    Runner::builder().store(store.clone()).build()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let (store, id, workflow) = (InMemoryStore::new(), RunId::new(), Counting::default());
    let files = ["a", "bb", "lost", "ccc", "dddd", "eeeee"].map(str::to_owned);

    let first = runner(&store)?;
    let request = first.run(&workflow, Vec::from(files)).run_id(id);
    let config = RunConfig::new().lifecycle_events(true);
    let mut stream = request.config(config).stream();
    while let Some(event) = stream.next().await {
        let line = line(&*event?);
        line.iter().for_each(|line| println!("{line}"));
        if line.is_some_and(|line| line.contains("3 of 6")) {
            break;
        }
    }
    // The process ends here, or is killed.
    drop(stream);

    println!("--- another process");
    let second = runner(&store)?;
    let mut stream = second.resume(&workflow, id).stream();
    while let Some(event) = stream.next().await {
        line(&*event?).iter().for_each(|line| println!("{line}"));
    }
    Ok(())
}
