//! Whole workflows against a local server that speaks the wire formats of two providers, streamed
//! and not streamed.

mod broken;
mod errors;
mod format;
mod input;
mod parallel;
mod refused;
mod tools;
mod writing;

use crate::wire_server::{Reply, WireServer};
use adk::genai::Genai;
use adk::prelude::*;
use adk::session::Session;
use adk::{Error, RunEnd};
use format::{Format, everywhere};
use std::sync::Arc;

/// Counts the words of a text.
#[tool]
fn word_count(
    /// The text.
    text: &str,
) -> usize {
    text.split_whitespace().count()
}

workflow! {
    /// Drafts, then refines until the critic is content.
    pub Writing(topic: String) -> draft: String {
        let done: String = "Nothing to add.";

        /// Writes the first draft.
        agent writer -> draft: String {
            include_contents: none,
            instruction: "Write a sentence about {topic}.",
        }

        /// Reviews the draft.
        agent critic -> criticism: String {
            include_contents: none,
            instruction: "Criticise: {draft} If it is good, say exactly: {done}",
        }

        /// Applies the criticism, or ends the loop.
        agent refiner -> draft: String {
            include_contents: none,
            instruction: "If this says {done}, call exit_loop: {criticism} Otherwise improve: \
                {draft}",
            tools: [word_count, adk::tools::exit_loop],
        }

        writer;
        refinement: loop(max = 3) < critic; refiner >
    }
}

/// A finished run: the events of its reader, and the events of its session.
struct Ran<T> {
    end: Result<Outcome<T>>,
    /// All events of the reader, partial events included.
    events: Vec<Arc<Event>>,
    session: Arc<Session>,
}

impl<T> Ran<T> {
    /// Formats the path and the text of each committed event as a line.
    fn lines(&self) -> Vec<String> {
        self.session.events().map(|event| line(event)).collect()
    }

    fn partial(&self) -> impl Iterator<Item = &Arc<Event>> {
        self.events.iter().filter(|event| event.partial)
    }

    /// Returns the error. Asserts that the session holds exactly the complete events of the reader,
    /// in their order.
    fn error(&self) -> &Error {
        let handed: Vec<_> = self
            .events
            .iter()
            .filter(|event| !event.partial)
            .map(|event| event.id)
            .collect();
        let stored: Vec<_> = self.session.events().map(|event| event.id).collect();
        assert_eq!(handed, stored);
        match &self.end {
            Err(error) => error,
            Ok(_) => panic!("the run has not failed: {:#?}", self.lines()),
        }
    }
}

fn line(event: &Event) -> String {
    let mut line = format!(
        "{}: {}",
        if event.author == "user" {
            "user".into()
        } else {
            event.path.to_string()
        },
        event.text()
    );
    for call in event.function_calls() {
        line += &format!(
            "calls {}({})",
            call.name,
            serde_json::Value::Object(call.args.clone())
        );
    }
    for answer in event.function_responses() {
        line += &format!(
            "{} gave {}",
            answer.name,
            serde_json::Value::Object(answer.response.clone())
        );
    }
    if event.actions.escalates() {
        line += ", escalates";
    }
    line
}

/// Builds a runner whose models are all on the server.
fn runner(server: &WireServer, format: Format, streaming: bool) -> Runner {
    let genai = Genai::builder()
        .base_url(server.url())
        .api_key(format::KEY)
        .build()
        .expect("the settings are right");
    Runner::builder()
        .model_provider(genai)
        .model(format.model())
        .config(RunConfig::new().streaming(streaming))
        .build()
        .expect("the name is known")
}

/// Drives a run of the workflow to its end.
async fn run<W: Workflow + adk::Needs>(
    runner: &Runner,
    workflow: &W,
    input: impl Into<W::Input>,
) -> Ran<W::Output> {
    let handle = runner.session("anna", "desk");
    let mut stream = handle.run(workflow, input).stream();
    let mut events = Vec::new();
    let mut failed = None;
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => events.push(event),
            Err(error) => failed = Some(error),
        }
    }
    let end = match (stream.end(), failed) {
        (RunEnd::Finished(outcome), None) => Ok(outcome),
        (RunEnd::Failed, Some(error)) => Err(error),
        (end, error) => panic!(
            "it ended as {} with {error:?}",
            match end {
                RunEnd::Paused(_) => "paused",
                _ => "something else",
            }
        ),
    };
    drop(stream);
    let session = handle.open().await.expect("the session is there");
    Ran {
        end,
        events,
        session,
    }
}

/// The future of a run is `Send`, so workflows can run in spawned tasks.
#[tokio::test]
async fn a_run_over_the_wire_can_be_spawned() {
    let server = WireServer::start([Reply::text("hi").forever()]).await;
    let runner = runner(&server, Format::OpenAi, true);
    let workflow = Arc::new(Writing::default());
    let outcome = tokio::spawn(async move { runner.run(workflow, "a cat").await }).await;
    assert_eq!(
        outcome.expect("no panic").expect("the run succeeds").output,
        "hi"
    );
    assert_eq!(server.requests().len(), 1 + 2 * 3);
}
