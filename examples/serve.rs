//! Serves a workflow to people and programs: `cargo run --features server,sqlite --example serve`, then open the address that
//! it prints. `--model NAME` asks a model; without it the answers are rehearsed. Stop it at any moment and start it again: runs
//! go on where they were.

use adk::RunConfig;
use adk::prelude::*;
use adk::sqlite::SqliteStore;
use clap::Parser;
use std::time::Duration;

/// Who reads it.
#[adk::data]
pub enum Audience {
    /// Those who know nothing of it yet.
    Beginners,
    /// Those of one trade.
    Experts {
        /// Which trade.
        trade: String,
    },
}

/// What an editor says.
#[adk::data]
pub enum Decision {
    /// It goes out as it is.
    Publish,
    /// The writer tries once more.
    Revise {
        /// What to change.
        note: String,
    },
    /// It does not appear.
    Drop,
}

/// Counts the words of the draft.
#[agent(writes = size, timeout = "1m")]
async fn measure(draft: &str) -> usize {
    // Yours asks a service, and takes as long.
    tokio::time::sleep(Duration::from_secs(2)).await;
    draft.split_whitespace().count()
}

/// Publishes the draft.
#[agent(writes = post)]
fn publish(draft: &str) -> String {
    // Yours sends it somewhere.
    draft.to_owned()
}

/// Leaves it at that.
#[agent(writes = post)]
fn forget() -> String {
    "(nothing was published)".to_owned()
}

workflow! {
    /// Drafts a post, and publishes it when an editor agrees.
    pub Posting(
        /// What it is about.
        topic: String,
        /// Who reads it.
        audience: Audience = Audience::Beginners,
        /// The most words.
        words: u32 = 80,
    ) -> post: String {
        /// Writes the draft.
        agent writer -> draft: String {
            instruction: "Write a post of at most {words} words about {topic}, for {audience}.",
        }
        /// Finds what is weak.
        agent critic -> criticism: String { instruction: "Criticise this post in one sentence: {draft}" }
        /// Applies the criticism.
        agent refiner -> draft: String { instruction: "Improve this post: {draft} The critic says: {criticism}" }
        /// Changes the draft as the editor wants it.
        agent reviser -> draft: String { instruction: "Change this post: {draft} The editor says: {decision}" }

        writer;
        improving: loop(max = 2) < critic; refiner >;
        measure;
        editing: loop <
            /// May this be published? It has {size} words.
            ///
            /// {draft}
            await decision: Decision;
            match decision <
                Decision::Publish => < publish; break >,
                Decision::Revise { .. } => reviser,
                Decision::Drop => < forget; break >
            >
        >
    }
}

#[derive(Parser)]
struct Cli {
    /// Where it listens
    #[arg(long, default_value = "127.0.0.1:8000")]
    address: String,
    /// Where runs are kept
    #[arg(long, value_name = "FILE", default_value = "serve.db")]
    store: std::path::PathBuf,
    /// The model, such as gemini-2.5-flash; without one it rehearses
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let cli = Cli::parse();
    let store = SqliteStore::open(cli.store).await?;
    let builder = Runner::builder().app_name("editorial_desk").config(RunConfig::new().streaming(true));
    let builder = builder.store(store);
    let runner = match &cli.model {
        Some(model) => builder.model(model.as_str()).build()?,
        None => builder.model(Rehearsal::new()).build()?,
    };
    let listener = tokio::net::TcpListener::bind(&cli.address).await?;
    println!("http://{}", listener.local_addr()?);
    adk::serve(&runner).workflow(Posting::default()).serve(listener, adk::server::stopped()).await
}
