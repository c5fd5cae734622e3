//! Streams a run to a web page: `cargo run --example streaming`, then open the address that it
//! prints.

use adk::prelude::*;
use axum::extract::{Query, State};
use axum::response::{Html, Sse, sse};
use axum::{Router, routing::get};
use futures_util::{Stream, StreamExt};
use serde::Deserialize;
use std::convert::Infallible;
use std::sync::Arc;

workflow! {
    /// Tells a story, and tells it better.
    pub Storytelling(topic: String) -> story: String {
        /// Writes.
        agent writer -> story: String { instruction: "Tell a story about {topic}. Mind this: \
            {criticism?}" }
        /// Criticises.
        agent critic -> criticism: String { instruction: "Criticise this story: {story}" }

        telling: loop(max = 2) < writer; critic >
    }
}

#[derive(Deserialize)]
struct Ask {
    topic: String,
}

/// Returns one run as server-sent events. When the page closes, the dropped stream cancels the run.
async fn tell(
    State(runner): State<Runner>,
    Query(ask): Query<Ask>,
) -> Sse<impl Stream<Item = Result<sse::Event, Infallible>>> {
    let run = runner.run(Arc::new(Storytelling::default()), ask.topic);
    let events = run
        .config(RunConfig::new().streaming(true))
        .stream()
        .map(|event| match event {
            Ok(event) => sse::Event::default()
                .event("step")
                .data(json!(*event).to_string()),
            Err(error) => sse::Event::default()
                .event("failed")
                .data(json!(error.to_string()).to_string()),
        });
    // Without an end event the browser would reconnect and start another run.
    let end = futures_util::stream::iter([sse::Event::default().event("end").data("")]);
    Sse::new(events.chain(end).map(Ok))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let runner = Runner::builder().model(Rehearsal::new()).build()?;
    let page = get(|| async { Html(include_str!("streaming.html")) });
    let router = Router::new()
        .route("/", page)
        .route("/tell", get(tell))
        .with_state(runner);
    let port = std::env::args().nth(1).unwrap_or_else(|| "8000".to_owned());
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    println!("http://{}", listener.local_addr()?);
    axum::serve(listener, router).await?;
    Ok(())
}
