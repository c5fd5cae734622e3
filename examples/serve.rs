//! Serves a workflow to people and programs: `cargo run --features server,sqlite --example serve`,
//! then open the printed address. `--model NAME` selects a model; without it the replies are
//! rehearsed. You can stop and restart the program at any time: it resumes its runs.

use adk::RunConfig;
use adk::prelude::*;
use adk::sqlite::SqliteStore;
use clap::Parser;
use std::time::Duration;

/// The readers of a post.
#[adk::data]
pub enum Audience {
    /// Readers without prior knowledge.
    Beginners,
    /// Readers of one trade.
    Experts {
        /// The trade.
        trade: String,
    },
}

/// The decision of an editor.
#[adk::data]
pub enum Decision {
    /// Publish the draft unchanged.
    Publish,
    /// The writer tries once more.
    Revise {
        /// The requested change.
        note: String,
    },
    /// Do not publish the draft.
    Drop,
}

/// Counts the words of the draft.
#[agent(writes = size, timeout = "1m")]
async fn measure(draft: &str) -> usize {
    // A real agent would call a service, which takes time.
    tokio::time::sleep(Duration::from_secs(2)).await;
    draft.split_whitespace().count()
}

/// Publishes the draft.
#[agent(writes = post, acts)]
fn publish(draft: &str) -> String {
    // A real agent would send the draft to a web site.
    draft.to_owned()
}

/// Publishes nothing.
#[agent(writes = post)]
fn forget() -> String {
    "(nothing was published)".to_owned()
}

workflow! {
    /// Drafts a post and publishes it when an editor agrees.
    pub Posting(
        /// The topic of the post.
        topic: String,
        /// The readers.
        audience: Audience = Audience::Beginners,
        /// The maximum number of words.
        words: u32 = 80,
    ) -> post: String {
        /// Writes the draft.
        agent writer -> draft: String {
            instruction: "Write a post of at most {words} words about {topic}, for {audience}.",
        }
        /// Finds weaknesses.
        agent critic -> criticism: String { instruction: "Criticise this post in one sentence: \
            {draft}" }
        /// Applies the criticism.
        agent refiner -> draft: String { instruction: "Improve this post: {draft} The critic says: \
            {criticism}" }
        /// Applies the changes of the editor.
        agent reviser -> draft: String { instruction: "Change this post: {draft} The editor says: \
            {decision}" }

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
    /// The address of the server
    #[arg(long, default_value = "127.0.0.1:8000")]
    address: String,
    /// The file for the runs
    #[arg(long, value_name = "FILE", default_value = "serve.db")]
    store: std::path::PathBuf,
    /// The model, such as gemini-2.5-flash; without one the replies are rehearsed
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let cli = Cli::parse();
    let store = SqliteStore::open(cli.store).await?;
    let builder = Runner::builder()
        .app_name("editorial_desk")
        .config(RunConfig::new().streaming(true));
    let builder = builder.store(store);
    let runner = match &cli.model {
        Some(model) => builder.model(model.as_str()).build()?,
        None => builder.model(Rehearsal::new()).build()?,
    };
    let listener = tokio::net::TcpListener::bind(&cli.address).await?;
    println!("http://{}", listener.local_addr()?);
    adk::serve(&runner)
        .workflow(Posting::default())
        .serve(listener, adk::server::stopped())
        .await
}
