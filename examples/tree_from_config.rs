//! A tree of agents from files, in the fields of ADK's agent configs, checked as a whole before it
//! runs.
//!
//! A registry holds the tool and the agent of this program that the files name. Change
//! `examples/configs/story.json`, or pass your own file: the program reports all its mistakes at
//! once, each with its place.
//!
//! ```text
//! cargo run --example tree_from_config -- a cat
//! cargo run --example tree_from_config -- --config examples/configs/story.json a cat
//! ```

mod cli;

use adk::tool::FunctionTool;
use adk::{Error, ErrorKind, Registry, Tree, Value, prelude::*};
use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The config that a run without `--config` reads.
const STORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/configs/story.json");

/// Writes a story as a config says.
#[derive(Debug, Parser)]
struct Args {
    /// The config of the tree, a JSON file; others that it names are looked for beside it
    #[arg(long, default_value = STORY)]
    config: PathBuf,
    /// What to write about
    topic: Vec<String>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    /// The text whose words are counted.
    text: String,
}

/// Says goodbye, as an agent that is a function.
#[agent(writes = farewell)]
fn closing(draft: &str) -> String {
    format!("The end, after {} words.", draft.split_whitespace().count())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(write(Args::parse()).await)
}

async fn write(args: Args) -> Result<()> {
    let count = FunctionTool::new(
        "count_words",
        "Counts the words of a text.",
        |args: Text, cx| {
            let words = args.text.split_whitespace().count();
            cx.state().set("words", format!("{words} words"))?;
            Ok::<_, Error>(words)
        },
    );
    let count = count.writes::<String>("words");
    let mut registry = Registry::new().tool(count).agent(closing::default());
    let folder = args.config.parent().unwrap_or(Path::new("."));
    for entry in std::fs::read_dir(folder).map_err(Error::other)? {
        let path = entry.map_err(Error::other)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
            && path != args.config
        {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            registry = registry.document(name, read(&path)?);
        }
    }
    let tree = Tree::from_config(&read(&args.config)?, &registry)?;
    println!("{}", tree.spec());

    let cli =
        cli::Cli::parse_from(std::iter::once("tree_from_config".to_owned()).chain(args.topic));
    let runner = cli.runner("tree_from_config", Rehearsal::new())?;
    let topic = cli.input()?;
    let outcome = cli.show(runner.run(&tree, topic.as_str()).stream()).await?;
    cli.result(&outcome.get::<String>("draft")?.unwrap_or_default())?;
    cli.note(outcome.get::<String>("farewell")?.unwrap_or_default())
}

fn read(path: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(path);
    let value = text
        .map_err(Error::other)
        .and_then(|text| serde_json::from_str(&text).map_err(Error::other));
    value.map_err(|error| {
        Error::new(
            ErrorKind::Config,
            format!("cannot read `{}`: {}", path.display(), error.message()),
        )
    })
}
