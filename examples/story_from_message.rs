//! The iterative writer of ADK's pages for Go and Java: the topic is in the user's message, and the
//! exit tool only escalates. (The page for TypeScript has this tool too, but the topic in the
//! state.)
//!
//! This tool costs one model call more than the tool of `iterative_writing`, which also sets
//! `skip_summarization`: the model sees the result of the tool and is called once more. Its final
//! answer is written to its key.
//!
//! ```text
//! cargo run --example story_from_message -- "Write a document about a cat"
//! ```

mod cli;

use adk::prelude::*;
use std::process::ExitCode;

/// Call this function ONLY when the critique indicates that no further changes are needed.
#[tool]
fn exit_loop(cx: &mut ToolContext) {
    cx.actions.escalate = true;
}

workflow! {
    /// Writes an initial document and then iteratively refines it with critique.
    pub StoryFromMessage() -> current_document: String {
        let done: String = "No major issues found.";

        /// Writes the first draft, on the topic of the user's message, which it sees.
        agent initial_writer -> current_document: String {
            instruction: "Write the first draft of a short story (2 to 4 sentences). Base it only \
                on the topic in the user's message. Write the story alone, without a comment.",
        }

        /// Reviews the draft.
        agent critic -> criticism: String {
            include_contents: none,
            instruction: "Review this document:\n\n{current_document}\n\nIf there are 1 or 2 clear \
                ways to improve it, name them and nothing else. If it is coherent and treats its \
                topic, answer exactly: {done}",
        }

        /// Applies the criticism, or ends the loop.
        agent refiner -> current_document: String {
            include_contents: none,
            instruction: "The document:\n\n{current_document}\n\nThe critique:\n\n{criticism}\n\n\
                If the critique is exactly \"{done}\", call `exit_loop`; asked once more after \
                that, repeat the document as it is. Otherwise apply the critique and write the \
                refined document alone.",
            tools: [exit_loop],
        }

        initial_writer;
        refinement: loop(max = 5) < critic; refiner >
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(
        write(&cli::read(
            &StoryFromMessage::SPEC,
            "MESSAGE",
            "What to write about",
        ))
        .await,
    )
}

async fn write(cli: &cli::Cli) -> Result<()> {
    let input = cli.input()?;
    let runner = cli.runner("story_from_message", Rehearsal::new())?;
    let outcome = cli
        .show(
            runner
                .run(&StoryFromMessage::default(), ())
                .message(input)
                .stream(),
        )
        .await?;
    cli.result(&outcome.output)?;
    outcome.loops.iter().try_for_each(|end| cli.note(end))
}
