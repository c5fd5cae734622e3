//! Draws bananas until a picture shows the requested number, with functions and without a model.
//!
//! The painter counts as badly as an image model: it draws a random number of bananas. The counter
//! examines the pixels. Each picture is a PNG, saved as a version of one artifact.
//!
//! ```text
//! cargo run --example banana_picture -- 5 --save bananas.png
//! ```

#[path = "../cli/mod.rs"]
mod cli;
mod picture;

use adk::prelude::*;
use adk::{Error, Part};
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

/// The largest number of bananas that fit.
const MOST: u32 = 9;

/// Draws a picture with some bananas on it.
#[agent(writes = picture)]
async fn painter(cx: &mut Context) -> Result<String> {
    // A step records the random number, so a resumed run draws the same picture.
    let seed = cx.step("chance", async { Ok(fastrand::u64(..)) }).await?;
    let png = picture::draw(fastrand::Rng::with_seed(seed).u32(1..=MOST), seed)?;
    let name = "bananas.png";
    cx.artifacts()
        .save(name, Part::inline_data("image/png", png))
        .await?;
    Ok(name.to_owned())
}

/// Counts the bananas in the pixels of a picture.
#[agent(writes = bananas)]
async fn counter(cx: &mut Context, picture: &str) -> Result<u32> {
    match cx.artifacts().load(picture).await? {
        Some(Part::InlineData(file)) => picture::count(&file.data),
        _ => Err(Error::other(format!("there is no picture `{picture}`"))),
    }
}

/// Ends the loop when the number is right.
#[agent]
fn checker(bananas: u32, wanted: u32) -> Flow {
    Flow::exit_if(bananas == wanted)
}

workflow! {
    /// Draws until the number of bananas is right.
    pub BananaPicture(wanted: u32 = 5) -> (picture: String, bananas: u32) {
        drawing: loop(max = 300) < painter; counter; checker >
    }
}

#[derive(Debug, Parser)]
struct Args {
    #[command(flatten)]
    cli: cli::Cli,
    /// Where to write the last picture
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(
        draw(&cli::read(
            &BananaPicture::SPEC,
            "NUMBER",
            "How many bananas, from 1 to 9; 5 for an empty input",
        ))
        .await,
    )
}

async fn draw(args: &Args) -> Result<()> {
    let wanted = wanted(&args.cli.input()?)?;
    if args.cli.model.is_some() {
        eprintln!("No agent of this workflow asks a model: --model changes nothing.");
    }
    let runner = Runner::builder().app_name("banana_picture").build()?;
    let session = runner.session("user", "pictures");
    let outcome = args
        .cli
        .show(session.run(&BananaPicture::default(), wanted).stream())
        .await?;
    let found = outcome.output.bananas;
    args.cli.result(&format!(
        "{found} of {wanted} bananas, after {} pictures",
        outcome.loops[0].rounds
    ))?;
    if let Some(path) = &args.save {
        let Some(Part::InlineData(file)) = session.load_artifact(&outcome.output.picture).await?
        else {
            return Err(Error::other("the picture is not there"));
        };
        std::fs::write(path, &file.data).map_err(|error| {
            let help = "choose another file with `--save FILE`";
            Error::other(format!("cannot write {}: {error}", path.display())).with_help(help)
        })?;
        args.cli.note(format!("saved as {}", path.display()))?;
    }
    if found != wanted {
        return Err(Error::other(format!("no picture showed {wanted} bananas")));
    }
    Ok(())
}

/// Returns the number in the input, by default 5.
fn wanted(input: &str) -> Result<u32> {
    let number = input.split_whitespace().find_map(|word| word.parse().ok());
    match number {
        None if input.is_empty() => Ok(5),
        Some(number @ 1..=MOST) => Ok(number),
        _ => {
            let error = Error::other(format!(
                "`{input}` is no number of bananas that can be drawn"
            ));
            Err(error.with_help(format!("write one from 1 to {MOST}")))
        }
    }
}
