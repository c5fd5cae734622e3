//! Code that the examples share: the command line, the choice of a model, and the output of events.
#![allow(dead_code, reason = "each example uses a part")]

mod progress;

use adk::prelude::*;
use adk::runner::RunnerBuilder;
use adk::{At, DefaultProvider, Error, ErrorKind, Path, RunConfig, RunEnd, RunStream, Spec};
use clap::Parser;
use progress::Progress;
use std::io::{self, IsTerminal, Read, Write};
use std::process::ExitCode;

/// The number of characters of a text that a terminal shows.
const SHOWN: usize = 1_000;

/// The default model, if its key is in the environment.
const DEFAULT_MODEL: &str = "gemini-2.5-flash";

#[derive(Debug, Parser)]
pub struct Cli {
    input: Vec<String>,
    /// The model, such as gemini-2.5-flash, gpt-5-mini, claude-sonnet-4-5 or ollama::llama3.2
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Write each event as a line of JSON to standard output, and nothing else
    #[arg(long)]
    json: bool,
    /// Write the workflow as a diagram in the language of Mermaid, and run nothing
    #[arg(long)]
    mermaid: bool,
    /// Rehearse, and show what each model would be asked: its prompt, its tools and their results
    #[arg(long, conflicts_with = "model")]
    prompts: bool,
}

/// The command line of a program that runs this workflow. Wrong use ends it with a message;
/// `--help` shows the tree, and what the input is; `--mermaid` shows the diagram.
pub fn read<A: Parser>(workflow: &Spec<'static>, name: &'static str, input: &str) -> A {
    let help = format!("{input}; from standard input when it is `-` or absent");
    let command = A::command()
        .about(workflow.description)
        .after_help(format!("The workflow:\n\n{workflow}\n"));
    let command = command.mut_arg("input", |arg| arg.value_name(name).help(help));
    let matches = command.get_matches();
    if matches.get_flag("mermaid") {
        let written = exit(write(&workflow.mermaid()));
        std::process::exit(i32::from(written != ExitCode::SUCCESS));
    }
    A::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

impl Cli {
    /// What to work on.
    pub fn input(&self) -> Result<String> {
        match &self.input[..] {
            [] => {}
            [one] if one == "-" => {}
            words => return Ok(words.join(" ")),
        }
        if io::stdin().is_terminal() {
            eprintln!("Type what to work on, then end it with Ctrl-D on a line of its own.");
        }
        let mut text = String::new();
        io::stdin()
            .read_to_string(&mut text)
            .map_err(Error::other)?;
        Ok(text.trim().to_owned())
    }

    /// Returns a runner with the selected model, or a runner that rehearses if no key exists.
    pub fn runner(&self, app: &str, rehearsal: Rehearsal) -> Result<Runner> {
        self.runner_with(app, rehearsal, |builder| builder)
    }

    /// Returns the runner of [`runner`](Self::runner) with further settings.
    pub fn runner_with(
        &self,
        app: &str,
        rehearsal: Rehearsal,
        more: impl Fn(RunnerBuilder<DefaultProvider>) -> RunnerBuilder<DefaultProvider>,
    ) -> Result<Runner> {
        let builder = || {
            more(
                Runner::builder()
                    .app_name(app)
                    .config(RunConfig::new().streaming(true).lifecycle_events(true)),
            )
        };
        if let Some(model) = &self.model {
            return builder().model(model.as_str()).build();
        }
        if self.prompts {
            return builder().model(rehearsal.prompts(true)).build();
        }
        match builder().model(DEFAULT_MODEL).build() {
            Err(error)
                if error.kind() == ErrorKind::Model(adk::model::ModelErrorKind::MissingKey) =>
            {
                let key = adk::genai::Genai::key_variable(DEFAULT_MODEL).unwrap_or("its key");
                eprintln!("Rehearsal: {key} is not set, so no model is asked and nothing is paid.");
                eprintln!("For real answers set it, or choose another model with --model NAME.\n");
                builder().model(rehearsal).build()
            }
            built => built,
        }
    }

    /// Shows each event when it arrives, and returns the outcome.
    pub async fn show<T: Send + 'static>(
        &self,
        mut stream: RunStream<'_, T>,
    ) -> Result<adk::Outcome<T>> {
        let mut progress = Progress::new();
        while let Some(event) = stream.next().await {
            let event = event?;
            if event.partial {
                progress.piece(&event);
            } else {
                progress.whole();
                progress.aside(|| self.print(&event))?;
            }
        }
        finished(stream)
    }

    /// Shows each event with a function of the caller, which also gets begins, ends and pieces of
    /// an answer.
    pub async fn show_as<T: Send + 'static>(
        &self,
        mut stream: RunStream<'_, T>,
        line: impl Fn(&Event) -> Option<String>,
    ) -> Result<adk::Outcome<T>> {
        while let Some(event) = stream.next().await {
            let event = event?;
            match self.json {
                true if event.partial && event.lifecycle().is_none() => {}
                true => self.print(&event)?,
                false => line(&event).map_or(Ok(()), |line| write(&(line + "\n")))?,
            }
        }
        finished(stream)
    }

    fn print(&self, event: &Event) -> Result<()> {
        let most = if io::stdout().is_terminal() {
            SHOWN
        } else {
            usize::MAX
        };
        let text = if self.json {
            serde_json::to_string(event).map_err(Error::other)? + "\n"
        } else {
            lines(event, self.prompts, most)
        };
        write(&text)
    }

    /// Prints the result; with `--json` standard output has only events.
    pub fn result(&self, text: &str) -> Result<()> {
        if self.json {
            Ok(())
        } else {
            write(&format!("\n--- result ---\n{}\n", text.trim()))
        }
    }

    /// Prints further lines at the end.
    pub fn note(&self, text: impl std::fmt::Display) -> Result<()> {
        if self.json {
            Ok(())
        } else {
            write(&format!("\n{text}\n"))
        }
    }
}

fn finished<T: Send + 'static>(mut stream: RunStream<'_, T>) -> Result<adk::Outcome<T>> {
    match stream.end() {
        RunEnd::Finished(outcome) => Ok(outcome),
        _ => Err(Error::other(
            "the run has not finished: it waits for an answer",
        )),
    }
}

/// Formats an event for people: `[critic, round 2] Well done.`
fn lines(event: &Event, state: bool, most: usize) -> String {
    let place = place(&event.path);
    let mut said: Vec<String> = Vec::new();
    match event.text().trim() {
        "" => {}
        text => said.push(text.to_owned()),
    }
    for call in event.function_calls() {
        said.push(format!(
            "calls {}({})",
            call.name,
            serde_json::Value::Object(call.args.clone())
        ));
    }
    for (file, version) in &event.actions.artifact_delta {
        said.push(format!("saves {file}, version {version}"));
    }
    // The text of an agent is its answer already; the value of a function is only in the state.
    if state || event.content.is_none() {
        said.extend(
            event
                .actions
                .state_delta
                .iter()
                .map(|(key, value)| format!("{key} = {value}")),
        );
    }
    if event.actions.escalates() {
        said.push("ends the loop".to_owned());
    }
    said.iter()
        .map(|said| format!("[{}{place}] {}\n", event.author, shortened(said, most)))
        .collect()
}

/// Shortens a text to at most `most` characters.
fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!(
            "{} ... and {} characters more",
            &text[..end],
            text[end..].chars().count()
        ),
        None => text.to_owned(),
    }
}

/// Returns the round of the innermost loop, or the element of the innermost `each`, around an
/// event.
fn place(path: &Path) -> String {
    let mut places = std::iter::successors(Some(path), |path| path.parent()).map(Path::at);
    match places.find(|at| matches!(at, At::Round(_) | At::Item(_))) {
        Some(At::Round(round)) => format!(", round {round}"),
        Some(At::Item(item)) => format!(", item {item}"),
        _ => String::new(),
    }
}

/// Writes to standard output. If the reader closes the pipe, as in `| head -1`, the program ends
/// without an error.
fn write(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        written => written.map_err(Error::other),
    }
}

/// Ends the program with an error on standard error and a non-zero exit code.
pub fn exit(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:?}");
            ExitCode::FAILURE
        }
    }
}
