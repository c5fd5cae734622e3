//! What the examples share: the command line, the choice of a model, and showing events as they come.
#![allow(dead_code, reason = "each example uses a part")]

use adk::prelude::*;
use adk::{Error, ErrorKind, RunConfig, RunEnd, RunStream};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Read, Write};
use std::process::ExitCode;
use std::time::Duration;

/// The model when none is asked for, if its key is in the environment.
const DEFAULT_MODEL: &str = "gemini-2.5-flash";

/// Runs with a model of your choice, or rehearses without one.
#[derive(Debug, Parser)]
pub struct Cli {
    /// What to work on; standard input when it is `-` or absent
    input: Vec<String>,
    /// The model, such as gemini-2.5-flash, gpt-5-mini, claude-sonnet-4-5 or ollama::llama3.2
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Write each event as a line of JSON to standard output
    #[arg(long)]
    json: bool,
}

impl Cli {
    /// The command line; wrong use ends the program with a message.
    pub fn read() -> Self {
        Self::parse()
    }

    /// What to work on.
    pub fn input(&self) -> Result<String> {
        let text = self.input.join(" ");
        if !(text.is_empty() || text == "-") {
            return Ok(text);
        }
        if io::stdin().is_terminal() {
            eprintln!("Type what to work on, then end it with Ctrl-D.");
        }
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map_err(Error::other)?;
        Ok(text.trim().to_owned())
    }

    /// A runner with the model that was asked for, or one that rehearses when there is no key for any.
    pub fn runner(&self, app: &str, rehearsal: Rehearsal) -> Result<Runner> {
        let builder =
            Runner::builder().app_name(app).config(RunConfig::new().streaming(io::stderr().is_terminal()));
        if let Some(model) = &self.model {
            return builder.model(model.as_str()).build();
        }
        match builder.model(DEFAULT_MODEL).build() {
            Err(error) if error.kind() == ErrorKind::Model(adk::model::ModelErrorKind::MissingKey) => {
                eprintln!(
                    "Rehearsal: there is no key for {DEFAULT_MODEL}, so no model is asked and nothing is paid."
                );
                eprintln!("Set its key, or choose another with --model NAME, for real answers.");
                let config = RunConfig::new().streaming(io::stderr().is_terminal());
                Runner::builder().app_name(app).config(config).model(rehearsal).build()
            }
            built => built,
        }
    }

    /// Shows each event as it comes, and gives the outcome.
    pub async fn show<T: Send + 'static>(&self, mut stream: RunStream<'_, T>) -> Result<adk::Outcome<T>> {
        let progress = Progress::new();
        while let Some(event) = stream.next().await {
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    progress.end();
                    return Err(error);
                }
            };
            if event.partial {
                progress.piece(&event);
                continue;
            }
            progress.whole(&event);
            progress.aside(|| self.print(&event)).map_err(Error::other)?;
        }
        progress.end();
        match stream.end() {
            RunEnd::Finished(outcome) => Ok(outcome),
            end => Err(Error::other(format!(
                "the run has not finished: {}",
                match end {
                    RunEnd::Paused(_) => "it waits for an answer",
                    _ => "it failed",
                }
            ))),
        }
    }

    fn print(&self, event: &Event) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if self.json {
            serde_json::to_writer(&mut out, event)?;
            writeln!(out)?;
            return out.flush();
        }
        let round = event.loop_iteration().map_or(String::new(), |n| format!(" (round {})", n + 1));
        let text = event.text();
        if !text.trim().is_empty() {
            writeln!(out, "[{}]{round} {}", event.author, text.trim())?;
        }
        for call in event.function_calls() {
            let args = serde_json::Value::Object(call.args.clone());
            writeln!(out, "[{}]{round} calls {}({args})", event.author, call.name)?;
        }
        for (key, version) in &event.actions.artifact_delta {
            writeln!(out, "[{}]{round} saved {key}, version {version}", event.author)?;
        }
        if event.author != "user" && event.content.is_none() {
            for (key, value) in event.actions.state_delta.iter() {
                writeln!(out, "[{}]{round} {key} = {value}", event.author)?;
            }
        }
        out.flush()
    }

    /// Prints a line of the result; with `--json` standard output is for events alone.
    pub fn result(&self, text: &str) {
        if !self.json {
            println!("\n{text}");
        }
    }
}

/// Ends the program: an error on standard error and a code that is not zero.
pub fn exit(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:?}");
            ExitCode::FAILURE
        }
    }
}

/// A spinner on standard error while a model works; nothing where that is no terminal.
struct Progress(Option<ProgressBar>);

impl Progress {
    fn new() -> Self {
        if !io::stderr().is_terminal() {
            return Self(None);
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(Some(bar))
    }

    /// A piece of an answer: its agent and the text.
    fn piece(&self, event: &Event) {
        if let Some(bar) = &self.0 {
            bar.set_message(format!("{}: {}", event.author, event.text().replace('\n', " ")));
        }
    }

    fn whole(&self, event: &Event) {
        if let Some(bar) = &self.0 {
            bar.set_message(format!("after {} ...", event.path));
        }
    }

    /// Prints without tearing the spinner.
    fn aside<R>(&self, print: impl FnOnce() -> R) -> R {
        match &self.0 {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
