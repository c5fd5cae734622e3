//! The server for `benches/load.sh`: runs of two functions, and streams of many events.
//!
//! ```sh
//! cargo run --release -p adk-workflow-server --example load -- 8000 [FILE.db]
//! ```

use adk::prelude::*;
use adk::sqlite::SqliteStore;

/// Reads the topic.
#[agent(writes = draft)]
fn first(topic: &str) -> String {
    format!("About {topic}.")
}

/// Reads the draft.
#[agent(writes = post)]
fn second(draft: &str) -> String {
    draft.to_uppercase()
}

/// Emits a number of events.
#[agent]
async fn tick(cx: &mut Context, events: u32) -> Result<()> {
    for at in 0..events {
        cx.emit(Event::new().with_text(at.to_string())).await?;
    }
    Ok(())
}

/// Waits until it is cancelled.
#[agent]
async fn idle(topic: &str) {
    let _ = topic;
    std::future::pending::<()>().await;
}

workflow! {
    /// Runs two functions in sequence.
    pub Two(topic: String) -> post: String { first; second }
}

workflow! {
    /// Emits the requested number of events.
    pub Ticking(events: u32) { tick }
}

workflow! {
    /// Emits one event and then waits.
    pub Idling(topic: String) { idle }
}

#[tokio::main]
async fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let port = words.next().unwrap_or_else(|| "8000".to_owned());
    let mut runner = Runner::builder();
    if let Some(file) = words.next() {
        runner = runner.store(SqliteStore::open(file).await?);
    }
    let runner = runner.build()?;
    let mut limits = adk::server::Limits::default();
    limits.runs_per_user = 10_000;
    let server = adk::serve(&runner)
        .workflow(Two::default())
        .workflow(Ticking::default())
        .workflow(Idling::default());
    server
        .limits(limits)
        .bind(format!("127.0.0.1:{port}"))
        .await
}
